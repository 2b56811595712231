import type { OpenBmc } from '../../src/drivers/bmc/index.ts';

/** Where a call takes how long it may last. */
const places: Readonly<Record<string, number>> = {
  ...{ readPower: 0, powerOn: 0, powerOff: 0, shutDown: 0, listAccounts: 0 },
  ...{ setNextBoot: 1, shutOut: 1, setPassword: 2, signsIn: 2 },
};

/** The same BMCs, waited for so many milliseconds at most: a test has no minutes for one that is silent or does not follow. */
export function hasty(open: OpenBmc, timeoutMs: number): OpenBmc {
  return (connection) =>
    new Proxy(open(connection), {
      get(bmc, name) {
        const call = Reflect.get(bmc, name);
        const place = typeof name === 'string' ? places[name] : undefined;
        if (place === undefined || typeof call !== 'function') return call;
        return (...given: unknown[]) => call(...given.slice(0, place), { timeoutMs });
      },
    });
}
