import { serially } from '../serially.ts';
import { BmcError } from './failure.ts';

/** One at a time for each BMC, whichever handle asks. */
const inTurn = serially();

/** Until when a call has to have ended. */
export interface Until {
  atMs: number;
}

export function until(timeoutMs: number): Until {
  return { atMs: performance.now() + timeoutMs };
}

export function leftOf({ atMs }: Until): number {
  return Math.max(0, Math.round(atMs - performance.now()));
}

/**
 * Asks a BMC something once its turn has come, and gives up at the deadline, wherever that finds it: what had no turn by then is
 * never asked.
 */
export async function ask<T>(bmc: string, deadline: Until, work: (leftMs: number) => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let wasAsked = false;
  const over = () =>
    wasAsked
      ? new BmcError('bmc_silent', 'the BMC did not answer in time')
      : new BmcError('bmc_silent', 'others were asking the BMC for as long as there was time', { wasAsked });
  const late = new Promise<never>((_, reject) => {
    const fail = () => reject(over());
    // A little later than the work itself, which knows better what it waited for.
    timer = setTimeout(fail, leftOf(deadline) + 100);
  });
  const turn = inTurn(bmc, () => {
    const leftMs = leftOf(deadline);
    if (leftMs === 0) throw over();
    wasAsked = true;
    return work(leftMs);
  });
  turn.catch(() => undefined); // where the deadline came first
  try {
    return await Promise.race([turn, late]);
  } finally {
    clearTimeout(timer);
  }
}
