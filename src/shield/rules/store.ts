import { type Context, statement, type TxContext } from '../../platform/index.ts';
import { newSmallId } from '../ids.ts';
import type { RuleWords } from './match.ts';
import { networksOf, type RuleRow, ruleColumns } from './rows.ts';

interface Written {
  id: number;
  destination: string;
  source: string | null;
  action: string;
  protocol: number;
  rank: number;
  note: string | null;
  sourcePort: string | null;
  destinationPort: string | null;
  matches: string;
  limiterId: number | null;
  rate: string | null;
  expiresAt: Date | null;
  generation: number;
  now: Date;
}

const insert = statement<
  { id: number },
  Written & { organizationId: number; groupId: number | null; disabled: boolean }
>(
  'shield.insertRule',
  `insert into shield_rules (id, organization_id, destination, source, action, protocol, rank, note, source_port,
     destination_port, matches, limiter_id, rate, group_id, disabled, expires_at, generation, created_at, updated_at)
   values (:id, :organizationId, :destination, :source, :action, :protocol, :rank, :note, :sourcePort::jsonb,
     :destinationPort::jsonb, :matches::jsonb, :limiterId, :rate::jsonb, :groupId, :disabled, :expiresAt, :generation, :now, :now)
   on conflict (id) do nothing returning id`,
);
const update = statement<never, Written>(
  'shield.updateRule',
  `update shield_rules set destination = :destination, source = :source, action = :action, protocol = :protocol, rank = :rank,
     note = :note, source_port = :sourcePort::jsonb, destination_port = :destinationPort::jsonb, matches = :matches::jsonb,
     limiter_id = :limiterId, rate = :rate::jsonb, expires_at = :expiresAt, generation = :generation, updated_at = :now,
     given_back = case when destination = :destination::cidr then given_back else '{}' end
   where id = :id`,
);
const setDisabled = statement<never, { id: number; disabled: boolean; generation: number; now: Date }>(
  'shield.setDisabled',
  `update shield_rules set disabled = :disabled, generation = :generation, updated_at = :now,
     expires_at = case when :disabled or expires_at > :now then expires_at end
   where id = :id`,
);
const remove = statement<never, { ids: number[] }>(
  'shield.deleteRules',
  'delete from shield_rules where id = any(:ids::int[])',
);
export const ruleById = statement<RuleRow, { id: number }>(
  'shield.rule',
  `select ${ruleColumns} from shield_rules r where r.id = :id`,
);
const lockById = statement<{ id: number }, { id: number; organizationId: number }>(
  'shield.lockRule',
  'select id from shield_rules where id = :id and organization_id = :organizationId for update',
);
const lockThem = statement<{ id: number }, { ids: number[] }>(
  'shield.lockRules',
  'select id from shield_rules where id = any(:ids::int[]) order by id for update',
);
const lockOfNetworks = statement<{ id: number }, { organizationId: number; networks: string[] }>(
  'shield.lockRulesFor',
  `select id from shield_rules where organization_id = :organizationId and destination = any(:networks::cidr[])
   order by id for update`,
);

/** Makes changes to a rule of an organization wait; those of another one are not there. */
export async function lockRule(ctx: Context & { organizationId: number }, id: number): Promise<void> {
  await ctx.db.maybe(lockById, { id, organizationId: ctx.organizationId });
}

/**
 * The same of all rules that have to do with these addresses. Whoever changes rules holds them before their addresses: in the other
 * order each would wait for the other.
 */
export async function lockRulesFor(
  tx: TxContext & { organizationId: number },
  addresses: readonly string[],
): Promise<void> {
  const { organizationId } = tx;
  await tx.db.many(lockOfNetworks, { organizationId, networks: networksOf(addresses) });
}

/** The same of rules that are named. */
export async function lockRules(tx: TxContext, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await tx.db.many(lockThem, { ids: [...ids] });
}

/** Writes a new rule, and answers with its id. */
export async function insertRule(
  tx: TxContext,
  organizationId: number,
  words: RuleWords,
  more: { groupId?: number; disabled?: boolean; generation: number },
): Promise<number> {
  const { groupId = null, disabled = false, generation } = more;
  for (;;) {
    const row = await tx.db.maybe(insert, {
      ...written(words, generation, tx.clock.now()),
      ...{ id: newSmallId(), organizationId, groupId, disabled },
    });
    if (row !== null) return row.id;
  }
}

/** The same with an id that was chosen before; should somebody have it by now, with another one. */
export async function insertRuleAs(
  tx: TxContext,
  id: number,
  organizationId: number,
  words: RuleWords,
  more: { disabled: boolean; generation: number },
): Promise<void> {
  const row = await tx.db.maybe(insert, {
    ...written(words, more.generation, tx.clock.now()),
    ...{ id, organizationId, groupId: null, disabled: more.disabled },
  });
  if (row === null) await insertRule(tx, organizationId, words, more);
}

export async function updateRule(
  tx: TxContext,
  id: number,
  words: RuleWords,
  generation: number,
): Promise<void> {
  await tx.db.run(update, { ...written(words, generation, tx.clock.now()), id });
}

export async function switchRule(
  tx: TxContext,
  id: number,
  disabled: boolean,
  generation: number,
): Promise<void> {
  await tx.db.run(setDisabled, { id, disabled, generation, now: tx.clock.now() });
}

export async function removeRules(tx: TxContext, ids: readonly number[]): Promise<void> {
  await tx.db.run(remove, { ids: [...ids] });
}

function written(words: RuleWords, generation: number, now: Date): Omit<Written, 'id'> {
  const { destination, source, action, protocol, order, note } = words;
  return {
    ...{ destination, source, action, protocol, rank: order, note, generation, now },
    sourcePort: words.source_port === null ? null : JSON.stringify(words.source_port),
    destinationPort: words.destination_port === null ? null : JSON.stringify(words.destination_port),
    matches: JSON.stringify(words.matches),
    limiterId: words.rate_limiter_id,
    rate: words.rate == null ? null : JSON.stringify(words.rate),
    expiresAt: words.expires_at,
  };
}
