import { type OrganizationContext, statement, type TxContext } from '../../platform/index.ts';

/** Of those of an organization that are over, the newest. */
const keptAtMost = 100;

type Whose = { organizationId: number; now: Date };
const over = `organization_id = :organizationId and (state <> 'trying' or confirm_until <= :now)`;
const dropOldest = statement<never, Whose & { keptAtMost: number }>(
  'shield.dropOldestApplies',
  `delete from shield_applies where id in (
     select id from shield_applies where ${over} order by created_at desc, id desc offset :keptAtMost for update skip locked)`,
);
// A thousand rules are some 600 kB, and nobody reads again what they said.
const shorten = statement<never, Whose>(
  'shield.shortenApplies',
  `update shield_applies set rules = (
     select jsonb_agg(jsonb_build_object('id', r -> 'id', 'stays', r -> 'stays') order by nth)
     from jsonb_array_elements(rules) with ordinality as each (r, nth))
   where id in (select id from shield_applies where ${over} and rules -> 0 ? 'action' for update skip locked)`,
);

/**
 * Of replacements that are over only what they are asked for is kept, which rules they had, and only of the newest: somebody who
 * replaces their rules all day takes no more room than others.
 */
export async function forgetApplies(tx: OrganizationContext & TxContext): Promise<void> {
  const { organizationId, clock } = tx;
  const whose = { organizationId, now: clock.now() };
  await tx.db.run(dropOldest, { ...whose, keptAtMost });
  await tx.db.run(shorten, whose);
}
