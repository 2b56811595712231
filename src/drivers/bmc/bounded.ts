import type { BmcEvent, SensorReading } from './contract.ts';

/** More than the largest server measures. */
const mostSensors = 500;
const mostEvents = 200;
const mostServices = 100;
const longestName = 100;
const longestMessage = 500;

/** Of what a BMC says, no more than is kept: whoever owns the server owns it as well, and may have it say anything. */
export function boundedSensors(sensors: readonly SensorReading[]): SensorReading[] {
  return sensors.slice(0, mostSensors).map((sensor) => ({
    ...sensor,
    name: text(sensor.name, longestName),
    unit: text(sensor.unit, longestName),
  }));
}

/** The newest ones. */
export function boundedEvents(events: readonly BmcEvent[]): BmcEvent[] {
  return events.slice(-mostEvents).map(({ id, at, subject, message }) => ({
    ...{ id: text(id, longestName), at },
    ...{ subject: text(subject, longestName), message: text(message, longestMessage) },
  }));
}

/** In one order, whatever the BMC's is. */
export function boundedServices(services: readonly string[]): string[] {
  return services
    .slice(0, mostServices)
    .map((service) => text(service, longestName))
    .toSorted();
}

function text(said: string, longest: number): string {
  // Cut first: what is looked through is short then.
  return said
    .slice(0, longest)
    .replace(/\p{Cc}+/gu, ' ')
    .toWellFormed();
}
