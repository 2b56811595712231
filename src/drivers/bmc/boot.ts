import type { Bmc } from './contract.ts';
import { proved, type Talk } from './talk.ts';
import { type Until, until } from './turns.ts';

const bootMs = 30_000;

/** What the server starts from the next time, read back. */
export function bootCalls(talk: Talk): Pick<Bmc, 'readNextBoot' | 'setNextBoot'> {
  const read = (deadline: Until) => talk.read(deadline, (at, leftMs) => at.readNextBoot(leftMs));
  return {
    readNextBoot: ({ timeoutMs = bootMs } = {}) => read(until(timeoutMs)),
    async setNextBoot(boot, { timeoutMs = bootMs } = {}) {
      const deadline = until(timeoutMs);
      const wanted = boot?.from ?? null;
      await proved(deadline, {
        act: () => talk.change(deadline, (at, leftMs) => at.setNextBoot(boot, leftMs)),
        isSo: async () => (await read(deadline)) === wanted,
        otherwise: `the BMC says that the server starts from ${wanted ?? 'wherever its own order says'} the next time, and it does not`,
      });
    },
  };
}
