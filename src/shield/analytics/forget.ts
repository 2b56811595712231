import { type PeriodicJob, statement, type TxContext } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import { forgetAttacks } from '../attacks/forget.ts';
import { forgetTraces } from '../explain/elsewhere.ts';
import { shield } from '../settings.ts';
import { type Resolution, spentParts } from './parts.ts';

const tables = {
  minutes: 'shield_traffic_minutes',
  hours: 'shield_traffic_hours',
  flows: 'shield_flows',
} as const satisfies Record<Resolution, string>;
const filledOf = (resolution: Resolution) =>
  `select p.nth from unnest(:parts::smallint[]) p(nth)
   where exists (select 1 from ${tables[resolution]} t where t.part = p.nth) order by p.nth`;
const filled = {
  minutes: statement<{ nth: number }, { parts: number[] }>('shield.filledMinutes', filledOf('minutes')),
  hours: statement<{ nth: number }, { parts: number[] }>('shield.filledHours', filledOf('hours')),
  flows: statement<{ nth: number }, { parts: number[] }>('shield.filledFlows', filledOf('flows')),
};
const empty = statement<{ done: string }, { part: string }>(
  'shield.emptyTraffic',
  'select empty_shield_traffic(:part)::text as done',
);

/** Empties the parts in which nothing is left that settings have kept, lets go of attacks that were over before, and of packets that nobody waits for. */
async function forgetTraffic(tx: TxContext): Promise<'more' | undefined> {
  await forgetTraces(tx);
  const settings = await readSettings(tx, shield);
  const keep: Record<Resolution, number> = {
    minutes: settings.traffic_minutes_days,
    hours: settings.traffic_hours_days,
    flows: settings.flows_minutes,
  };
  for (const resolution of ['minutes', 'hours', 'flows'] as const) {
    const parts = spentParts(resolution, tx.clock.now(), keep[resolution]);
    for (const { nth } of await tx.db.many(filled[resolution], { parts }))
      await tx.db.many(empty, { part: `${tables[resolution]}_${nth}` });
  }
  return forgetAttacks(tx, settings.attacks_days);
}

export const forgettingTraffic: PeriodicJob = {
  name: 'shield.forgetTraffic',
  intervalMs: 10 * 60_000,
  work: forgetTraffic,
};
