import { type Context, statement, type TxContext } from '../../platform/index.ts';
import { type Baseline, differencesOf } from './compare.ts';

const ofServer = statement<{ profile: string | null; baseline: Baseline | null }, { id: number }>(
  'fleet.baselineOfServer',
  `select f.name as profile, f.baseline from servers s left join server_profiles f on f.id = s.profile_id where s.id = :id`,
);
const writeObserved = statement<never, { id: number; observed: string; now: Date }>(
  'fleet.writeObserved',
  'update servers set observed = :observed::jsonb, observed_at = :now where id = :id',
);
const writeBaselineRow = statement<
  never,
  { id: number; baseline: string | null; from: string | null; at: Date | null }
>(
  'fleet.writeBaseline',
  `update server_profiles set baseline = :baseline::jsonb, baseline_from = :from::text, baseline_at = :at::timestamptz where id = :id`,
);

/** How a server differs from the baseline of its profile, and in one sentence why it is kept out of stock for that. */
export interface Differing {
  differences: string[];
  reason: string;
}

/** Null: it does not differ, or there is nothing to hold it against. `found`: how it is. */
export async function findDifferences(
  ctx: Context,
  serverId: number,
  found: Baseline,
): Promise<Differing | null> {
  const row = await ctx.db.maybe(ofServer, { id: serverId });
  if (row === null || row.baseline === null) return null;
  const differences = differencesOf(row.baseline, found);
  if (differences.length === 0) return null;
  return {
    differences,
    reason: `it differs from the baseline of ${row.profile}: ${differences.join('; ')}`,
  };
}

/** Writes down how a server is, which may be taken as a baseline. */
export async function keepObserved(tx: TxContext, serverId: number, observed: Baseline): Promise<void> {
  await tx.db.run(writeObserved, {
    id: serverId,
    observed: JSON.stringify(observed),
    now: tx.clock.now(),
  });
}

/** What servers of a profile are held against from now on; null: nothing. `from`: the server that it was taken from. */
export async function writeBaseline(
  tx: TxContext,
  profileId: number,
  baseline: Baseline | null,
  from: string | null = null,
): Promise<void> {
  const at = baseline === null ? null : tx.clock.now();
  await tx.db.run(writeBaselineRow, {
    id: profileId,
    baseline: baseline === null ? null : JSON.stringify(baseline),
    ...{ from, at },
  });
}
