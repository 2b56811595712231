import { type PeriodicJob, statement } from '../../platform/index.ts';
import { resolutionNames, resolutions, spentTrafficParts, trafficTable } from './resolutions.ts';

const filledParts = statement<{ nth: number }, { intervalS: number; parts: number[] }>(
  'fleet.filledTrafficParts',
  `select p.nth from unnest(:parts::smallint[]) p(nth)
   where exists (select 1 from server_traffic t where t.interval_s = :intervalS and t.part = p.nth) order by p.nth`,
);
const emptyPart = statement<{ done: string }, { part: string }>(
  'fleet.emptyTrafficPart',
  'select empty_server_traffic(:part)::text as done',
);

/** Empties the parts in which nothing is left that is kept. It has to wait for a backup, as the one of the charts of machines. */
export const emptyTrafficPeriodicJob: PeriodicJob = {
  name: 'fleet.emptyTraffic',
  intervalMs: 3_600_000,
  work: async (tx) => {
    for (const name of resolutionNames) {
      const parts = spentTrafficParts(name, tx.clock.now());
      const { intervalS } = resolutions[name];
      for (const { nth } of await tx.db.many(filledParts, { intervalS, parts }))
        await tx.db.many(emptyPart, { part: trafficTable(name, nth) });
    }
  },
};
