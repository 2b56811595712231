import type { TxContext } from '../context.ts';
import { wakeWorkers } from './enqueue.ts';
import type { PeriodicJob } from './periodic.ts';
import { goOnOnceMore, nextOnceMore, tryOnceMore } from './queries.ts';
import type { AnySaga } from './saga.ts';

const minute = 60_000;
/** Since it failed last. */
const pauseMs = 60 * minute;
/** So many a minute: what comes back is not run over by all that waited for it. */
const batch = 200;

/**
 * Tries failed and stuck jobs again whose saga says that such a failure ends by itself (`outages`): once every hour, until they are
 * done or staff dismisses them. Meanwhile they stand in staff's list like any other.
 */
export function healing(sagas: readonly AnySaga[]): PeriodicJob {
  const pairs = sagas.flatMap(({ name, outages = [] }) => outages.map((code) => ({ name, code })));
  const names = pairs.map(({ name }) => name);
  const codes = pairs.map(({ code }) => code);
  return {
    name: 'jobs.heal',
    intervalMs: minute,
    due: nextOnceMore,
    anyTime: true,
    work: async (tx: TxContext) => {
      const now = tx.clock.now();
      const before = new Date(now.getTime() - pauseMs);
      // What failed by a clock that was ahead would wait for as long.
      const ahead = new Date(now.getTime() + pauseMs);
      const which = { names, codes, now, before, ahead, limit: batch };
      const again = [...(await tx.db.many(tryOnceMore, which)), ...(await tx.db.many(goOnOnceMore, which))];
      for (const name of new Set(again.map((job) => job.name)))
        tx.db.afterCommit(() => wakeWorkers({ name, nodeId: null }));
    },
  };
}
