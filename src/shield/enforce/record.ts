import { type Context, statement } from '../../platform/index.ts';

/** Of a rule: which version of it a policy has, and whether it filters there. */
export interface RuleInForce {
  id: number;
  generation: number;
  active: boolean;
}

/** Of an address: which policy its edge has. */
export interface InForce {
  address: string;
  generation: number;
}

const setInForce = statement<
  never,
  { nodeId: number; addresses: string[]; generations: number[]; now: Date }
>(
  'shield.setInForce',
  `update shield_addresses t set in_force = w.generation, in_force_node = :nodeId, error = null, error_since = null,
     in_force_since = case when t.in_force = w.generation and t.in_force_node = :nodeId then t.in_force_since
       else :now::timestamptz end
   from (select address, generation from unnest(:addresses::inet[], :generations::bigint[]) as u(address, generation)
     order by address) w
   where t.address = w.address and (t.in_force is null or t.in_force <= w.generation or t.in_force_node <> :nodeId)`,
);
const setRulesInForce = statement<
  never,
  { ids: number[]; generations: number[]; actives: boolean[]; now: Date }
>(
  'shield.setRulesInForce',
  `update shield_rules r set enforced_generation = w.generation, enforced_active = w.active, enforced_since = :now
   from (select id, generation, active
     from unnest(:ids::int[], :generations::bigint[], :actives::boolean[]) as u(id, generation, active) order by id) w
   where r.id = w.id and coalesce(r.enforced_generation, 0) <= w.generation
     and (r.enforced_generation is distinct from w.generation or r.enforced_active <> w.active)`,
);
const setError = statement<never, { addresses: string[]; error: string; now: Date }>(
  'shield.setError',
  `update shield_addresses set error = :error, error_since = coalesce(error_since, :now::timestamptz)
   where address = any(:addresses::inet[]) and error is distinct from :error`,
);
const setLost = statement<never, { addresses: string[] }>(
  'shield.setLost',
  `update shield_addresses set in_force = null, in_force_node = null, in_force_since = null
   where address = any(:addresses::inet[])`,
);
const setRulesLost = statement<never, { ids: number[] }>(
  'shield.setRulesLost',
  `update shield_rules set enforced_generation = null, enforced_active = false, enforced_since = null
   where id = any(:ids::int[])`,
);

/**
 * Writes down that an edge has these policies, with these rules. One after the other and not as one: whoever changes rules holds theirs
 * until addresses are free, and each would wait for the other. What is written down in part, the comparison completes.
 */
export async function recordInForce(
  ctx: Context,
  nodeId: number,
  policies: readonly InForce[],
  rules: readonly RuleInForce[],
): Promise<void> {
  const now = ctx.clock.now();
  await ctx.db.run(setRulesInForce, {
    now,
    ids: rules.map(({ id }) => id),
    generations: rules.map(({ generation }) => generation),
    actives: rules.map(({ active }) => active),
  });
  await ctx.db.run(setInForce, {
    ...{ nodeId, now },
    addresses: policies.map(({ address }) => address),
    generations: policies.map(({ generation }) => generation),
  });
}

/** Writes down why what is wanted of these addresses is not in force. */
export async function recordError(ctx: Context, addresses: readonly string[], error: string): Promise<void> {
  if (addresses.length === 0) return;
  await ctx.db.run(setError, { addresses: [...addresses], error, now: ctx.clock.now() });
}

/** Writes down that an edge has lost what it had. */
export async function recordLost(
  ctx: Context,
  addresses: readonly string[],
  rules: readonly number[],
): Promise<void> {
  await ctx.db.run(setLost, { addresses: [...addresses] });
  await ctx.db.run(setRulesLost, { ids: [...rules] });
}
