import type { SensorReading } from '../contract.ts';
import { type Ipmi, withCommas } from './program.ts';

const units: Record<string, [SensorReading['kind'], string]> = {
  'degrees C': ['temperature', 'celsius'],
  RPM: ['fan', 'rpm'],
  Watts: ['power', 'watts'],
  Volts: ['voltage', 'volts'],
  Amps: ['current', 'amperes'],
};
const states: Record<string, SensorReading['state']> = {
  ok: 'ok',
  nc: 'warning',
  cr: 'critical',
  nr: 'critical',
};

/** Those that measure something; one that only tells states, such as whether a lid is open, is left out. */
export async function readSensors(ipmi: Ipmi, leftMs: number): Promise<SensorReading[]> {
  const table = await ipmi.run([withCommas, 'sensor', 'list'], leftMs);
  return table.split('\n').flatMap((line) => {
    const fields = line.split(',');
    // A name may have commas in it.
    const [value, unit, state, , lowCritical, lowWarning, highWarning, highCritical] = fields.slice(-9);
    const name = fields.slice(0, -9).join(',').trim();
    if (name === '' || unit === undefined || unit === 'discrete') return [];
    const [kind, named] = units[unit] ?? kindOf(name, unit);
    return {
      ...{ name, kind, unit: named, value: numberOf(value), state: states[state ?? ''] ?? 'unknown' },
      limits: {
        lowCritical: numberOf(lowCritical),
        lowWarning: numberOf(lowWarning),
        highWarning: numberOf(highWarning),
        highCritical: numberOf(highCritical),
      },
    };
  });
}

function kindOf(name: string, unit: string): [SensorReading['kind'], string] {
  if (unit !== 'percent') return ['other', unit];
  return [/fan/i.test(name) ? 'fan' : 'other', 'percent'];
}

function numberOf(text: string | undefined): number | null {
  return text !== undefined && /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : null;
}
