import type { BmcEvent, SensorReading } from '../contract.ts';
import type { Redfish } from './client.ts';
import type { Places } from './places.ts';
import { linkAt, listAt, numberAt, type Resource, textAt } from './resource.ts';

const most = 200;
const mostPages = 10;

/** Of the chassis: `Thermal` and `Power`, or `Sensors` where it has gone over to that. */
export async function readSensors(
  redfish: Redfish,
  { chassis }: Places,
  leftMs: number,
): Promise<SensorReading[]> {
  const endsMs = performance.now() + leftMs;
  const get = (path: string) => redfish.get(path, endsMs - performance.now());
  if (chassis === null) return [];
  const resource = await get(chassis);
  const [thermal, power, sensors] = ['Thermal', 'Power', 'Sensors'].map((name) => linkAt(resource, name));
  const readings: SensorReading[] = [];
  if (thermal) {
    const found = await get(thermal);
    readings.push(
      ...listAt(found, 'Temperatures').map((each) =>
        reading(each, 'temperature', 'ReadingCelsius', 'celsius'),
      ),
    );
    readings.push(...listAt(found, 'Fans').map(fan));
  }
  if (power) {
    const found = await get(power);
    readings.push(
      ...listAt(found, 'PowerControl').map((each) => reading(each, 'power', 'PowerConsumedWatts', 'watts')),
    );
    readings.push(
      ...listAt(found, 'Voltages').map((each) => reading(each, 'voltage', 'ReadingVolts', 'volts')),
    );
  }
  if (readings.length > 0 || !sensors) return readings;
  for (const member of listAt(await get(sensors), 'Members').slice(0, 100)) {
    const path = linkAt({ member }, 'member');
    if (path !== null) readings.push(sensor(await get(path)));
  }
  return readings;
}

function fan(resource: Resource): SensorReading {
  const isPercent = textAt(resource, 'ReadingUnits') === 'Percent';
  return reading(resource, 'fan', 'Reading', isPercent ? 'percent' : 'rpm');
}

const kinds: Record<string, [SensorReading['kind'], string]> = {
  Temperature: ['temperature', 'celsius'],
  Rotational: ['fan', 'rpm'],
  Power: ['power', 'watts'],
  Voltage: ['voltage', 'volts'],
  Current: ['current', 'amperes'],
};

function sensor(resource: Resource): SensorReading {
  const [kind, unit] = kinds[textAt(resource, 'ReadingType') ?? ''] ?? [
    'other',
    textAt(resource, 'ReadingUnits') ?? '',
  ];
  const limit = (name: string) => numberAt(resource, 'Thresholds', name, 'Reading');
  return {
    ...reading(resource, kind, 'Reading', unit),
    limits: {
      ...{ lowCritical: limit('LowerCritical'), lowWarning: limit('LowerCaution') },
      ...{ highWarning: limit('UpperCaution'), highCritical: limit('UpperCritical') },
    },
  };
}

function reading(
  resource: Resource,
  kind: SensorReading['kind'],
  field: string,
  unit: string,
): SensorReading {
  const value = numberAt(resource, field);
  const name = textAt(resource, 'Name') ?? textAt(resource, 'FanName') ?? kind;
  return {
    ...{ name, kind, unit, value, state: value === null ? 'unknown' : stateOf(resource) },
    limits: {
      lowCritical: numberAt(resource, 'LowerThresholdCritical'),
      lowWarning: numberAt(resource, 'LowerThresholdNonCritical'),
      highWarning: numberAt(resource, 'UpperThresholdNonCritical'),
      highCritical: numberAt(resource, 'UpperThresholdCritical'),
    },
  };
}

function stateOf(resource: Resource): SensorReading['state'] {
  const health = textAt(resource, 'Status', 'Health');
  if (health === 'OK') return 'ok';
  if (health === 'Warning') return 'warning';
  return health === 'Critical' ? 'critical' : 'unknown';
}

/** Of the log that has the system's own events, or the BMC's where there is none. */
export async function readEvents(redfish: Redfish, places: Places, leftMs: number): Promise<BmcEvent[]> {
  const endsMs = performance.now() + leftMs;
  const get = (path: string) => redfish.get(path, endsMs - performance.now());
  for (const owner of [places.system, places.manager]) {
    const services = linkAt(await get(owner), 'LogServices');
    if (services === null) continue;
    for (const member of listAt(await get(services), 'Members')) {
      const path = linkAt({ member }, 'member');
      const entries = path === null ? null : linkAt(await get(path), 'Entries');
      if (entries !== null) return newest(await pagesOf(get, entries));
    }
  }
  return [];
}

async function pagesOf(get: (path: string) => Promise<Resource>, first: string): Promise<Resource[]> {
  const entries: Resource[] = [];
  let next: string | null = first;
  for (let page = 0; next !== null && page < mostPages; page += 1) {
    const found: Resource = await get(next);
    entries.push(...listAt(found, 'Members'));
    const link = found['Members@odata.nextLink'];
    next = link === undefined ? null : linkAt({ next: { '@odata.id': link } }, 'next');
  }
  return entries;
}

function newest(entries: readonly Resource[]): BmcEvent[] {
  const events = entries.map((entry): BmcEvent => {
    const at = new Date(textAt(entry, 'Created') ?? Number.NaN);
    return {
      id: textAt(entry, 'Id') ?? '',
      at: Number.isNaN(at.getTime()) ? null : at,
      subject: textAt(entry, 'SensorType') ?? '',
      message: textAt(entry, 'Message') ?? 'an event that it does not describe',
    };
  });
  // Makers begin with either end.
  return events.sort((a, b) => (a.at?.getTime() ?? 0) - (b.at?.getTime() ?? 0)).slice(-most);
}
