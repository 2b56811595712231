import { record } from '../../events/index.ts';
import { type PeriodicJob, statement, type TxContext } from '../../platform/index.ts';
import { lockKnownPolicies, nextGeneration, wantApplied } from '../enforce/wanted.ts';
import { ruleExpired } from '../events.ts';
import type { RuleRow } from './rows.ts';

const batch = 100;

const over = statement<Pick<RuleRow, 'id' | 'organization_id' | 'destination'>, { now: Date; batch: number }>(
  'shield.rulesOver',
  `select id, organization_id, destination::text as destination from shield_rules
   where expires_at <= :now and not disabled order by expires_at, id limit :batch for update skip locked`,
);
const nextOver = statement<{ at: Date | null }>(
  'shield.nextRuleOver',
  'select min(expires_at) as at from shield_rules where expires_at is not null and not disabled',
);
const addressesOf = statement<{ address: string }, { ids: number[] }>(
  'shield.addressesOfRules',
  `select distinct host(t.address) as address from shield_rules r
   join shield_addresses t on t.organization_id = r.organization_id and t.address <<= r.destination
   where r.id = any(:ids::int[]) and not t.address = any(r.given_back)`,
);
const switchOff = statement<never, { ids: number[]; generation: number; now: Date }>(
  'shield.expireRules',
  `update shield_rules set disabled = true, generation = :generation, updated_at = :now where id = any(:ids::int[])`,
);

/** Switches rules off whose time is over. */
export const expireRules: PeriodicJob = {
  name: 'shield.expireRules',
  intervalMs: 1_000,
  due: nextOver,
  work: async (tx) => {
    const rules = await tx.db.many(over, { now: tx.clock.now(), batch });
    if (rules.length === 0) return undefined;
    for (const [organizationId, theirs] of Map.groupBy(rules, (rule) => rule.organization_id))
      await expire(tx, organizationId, theirs);
    return rules.length === batch ? 'more' : undefined;
  },
};

async function expire(
  tx: TxContext,
  organizationId: number,
  rules: readonly Pick<RuleRow, 'id' | 'destination'>[],
): Promise<void> {
  const ids = rules.map(({ id }) => id);
  const addresses = (await tx.db.many(addressesOf, { ids })).map(({ address }) => address);
  const generation = await nextGeneration(tx, await lockKnownPolicies(tx, addresses));
  await tx.db.run(switchOff, { ids, generation, now: tx.clock.now() });
  for (const { id, destination } of rules)
    await record(tx, ruleExpired, {
      subject: { type: 'shield_rule', id },
      organizationId,
      data: { rule_id: id, destination },
    });
  await wantApplied(tx, addresses);
}
