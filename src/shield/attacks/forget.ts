import { statement, type TxContext } from '../../platform/index.ts';

/** Whoever sends for a moment every minute makes some two thousand attacks a day on one address. */
const batch = 1_000;

// What still stands of it meets later ones.
const spent = statement<{ id: number }, { before: Date; batch: number }>(
  'shield.spentAttacks',
  `select id from shield_attacks t where closed_at < :before
     and not exists (select 1 from shield_mitigations m where m.attack_id = t.id and m.released_at is null)
   order by closed_at limit :batch for update skip locked`,
);
const dropMeasures = statement<never, { ids: number[] }>(
  'shield.dropMitigationsOfAttacks',
  'delete from shield_mitigations where attack_id = any(:ids::bigint[])',
);
const drop = statement<never, { ids: number[] }>(
  'shield.dropAttacks',
  'delete from shield_attacks where id = any(:ids::bigint[])',
);

const dayMs = 24 * 3_600_000;

/** Forgets attacks that have been over for so many days, with what was done against them. `more`: there may be others. */
export async function forgetAttacks(tx: TxContext, days: number): Promise<'more' | undefined> {
  const before = new Date(tx.clock.now().getTime() - days * dayMs);
  const ids = (await tx.db.many(spent, { before, batch })).map(({ id }) => id);
  if (ids.length === 0) return undefined;
  await tx.db.run(dropMeasures, { ids });
  await tx.db.run(drop, { ids });
  return ids.length === batch ? 'more' : undefined;
}
