import type { DriverName, Drivers } from '../drivers.ts';
import { type AppError, fail } from '../errors.ts';
import type { Route } from './route.ts';

/** What a route gets of the outside world, settled once for all its requests. */
export interface Outside {
  drivers: Partial<Drivers>;
  /** Why this process cannot serve the route; null when it can. */
  refusal: (() => AppError) | null;
}

/** The drivers that a route asks for, of those that this process has. */
export function outsideOf(route: Route, drivers: Partial<Drivers>): Outside {
  const wanted: readonly DriverName[] = route.drivers ?? [];
  const lacking = wanted.filter((name) => drivers[name] === undefined);
  const given = Object.fromEntries(wanted.map((name) => [name, drivers[name]]));
  if (lacking.length === 0) return { drivers: given, refusal: null };
  const message = `The process that answers here has no ${lacking.join(' and no ')}; send this request to one that has`;
  return { drivers: given, refusal: () => fail('driver_absent', { message }) };
}
