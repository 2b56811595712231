import { type PeriodicJob, statement, type TxContext } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import { shield } from '../settings.ts';
import { type Resolution, spentParts } from './parts.ts';

const filledOf = (resolution: Resolution) =>
  `select p.nth from unnest(:parts::smallint[]) p(nth)
   where exists (select 1 from shield_traffic_${resolution} t where t.part = p.nth) order by p.nth`;
const filled = {
  minutes: statement<{ nth: number }, { parts: number[] }>('shield.filledMinutes', filledOf('minutes')),
  hours: statement<{ nth: number }, { parts: number[] }>('shield.filledHours', filledOf('hours')),
};
const empty = statement<{ done: string }, { part: string }>(
  'shield.emptyTraffic',
  'select empty_shield_traffic(:part)::text as done',
);

/** Empties the parts in which nothing is left that settings have kept. */
async function forgetTraffic(tx: TxContext): Promise<void> {
  const settings = await readSettings(tx, shield);
  const days = { minutes: settings.traffic_minutes_days, hours: settings.traffic_hours_days };
  for (const resolution of ['minutes', 'hours'] as const) {
    const parts = spentParts(resolution, tx.clock.now(), days[resolution]);
    for (const { nth } of await tx.db.many(filled[resolution], { parts }))
      await tx.db.many(empty, { part: `shield_traffic_${resolution}_${nth}` });
  }
}

export const forgettingTraffic: PeriodicJob = {
  name: 'shield.forgetTraffic',
  intervalMs: 10 * 60_000,
  work: forgetTraffic,
};
