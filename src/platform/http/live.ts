import type { DriverName, Drivers } from '../drivers.ts';
import { type AppError, fail } from '../errors.ts';
import type { Route } from './route.ts';

/** What a route gets of the outside world, as it is at a request: a process may come by a driver, as by the first cluster that it drives. */
export interface Outside {
  readonly drivers: Partial<Drivers>;
  /** Why this process cannot serve the route; null when it can. */
  readonly refusal: (() => AppError) | null;
}

/** The drivers that a route asks for, of those that this process has. */
export function outsideOf(route: Route, drivers: Partial<Drivers>): Outside {
  const wanted: readonly DriverName[] = route.drivers ?? [];
  const lacking = () => wanted.filter((name) => drivers[name] === undefined);
  const refuse = (): AppError => {
    const message = `The process that answers here has no ${lacking().join(' and no ')}; send this request to one that has`;
    return fail('driver_absent', { message });
  };
  return {
    get drivers() {
      return Object.fromEntries(wanted.map((name) => [name, drivers[name]]));
    },
    get refusal() {
      return wanted.length > 0 && lacking().length > 0 ? refuse : null;
    },
  };
}
