import { record } from '../../events/index.ts';
import { lockOrganization } from '../../organizations/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import {
  fail,
  isDuplicate,
  type OrganizationContext,
  requireOwn,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import type { LimiterRow } from '../enforce/toEdge.ts';
import { lockKnownPolicies, nextGeneration, wantApplied } from '../enforce/wanted.ts';
import { limiterChanged, limiterCreated, limiterDeleted } from '../events.ts';
import { newSmallId } from '../ids.ts';

interface Row extends LimiterRow {
  organization_id: number;
  name: string;
  created_at: Date;
  updated_at: Date;
}

export interface NewLimiter {
  name: string;
  packets_per_second?: number | null | undefined;
  bits_per_second?: number | null | undefined;
  per: LimiterRow['per'];
  burst: number;
  action?: 'drop' | undefined;
}

const most = 100;

const columns = `t.id, t.organization_id, t.name, t.packets_per_second, t.bits_per_second, t.per, t.burst, t.created_at,
  t.updated_at`;
const limiters = pagedList<Row>({
  name: 'shield.limiters',
  from: 'shield_limiters t',
  select: `select ${columns} from shield_limiters t`,
  within: 't.organization_id = :organizationId',
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: { name: { by: 'lower(t.name)', type: 'text', of: (row) => row.name.toLowerCase() } },
  order: 'name',
});
const limiterById = statement<Row, { id: number }>(
  'shield.limiter',
  `select ${columns} from shield_limiters t where t.id = :id`,
);
const lockById = statement<{ id: number }, { id: number; organizationId: number }>(
  'shield.lockLimiter',
  // Rules that name it may be written meanwhile; who makes a rule name it waits.
  'select id from shield_limiters where id = :id and organization_id = :organizationId for no key update',
);
const holdById = statement<Row, { id: number }>(
  'shield.holdLimiter',
  `select ${columns} from shield_limiters t where t.id = :id for share`,
);
const holdThem = statement<{ id: number }, { ids: number[]; organizationId: number }>(
  'shield.holdLimiters',
  `select id from shield_limiters where id = any(:ids::int[]) and organization_id = :organizationId order by id for share`,
);
const countThem = statement<{ count: number }, { organizationId: number }>(
  'shield.countLimiters',
  'select count(*)::int as count from shield_limiters where organization_id = :organizationId',
);
type Values = {
  id: number;
  name: string;
  packets: number | null;
  bits: number | null;
  per: string;
  burst: number;
  now: Date;
};
const insert = statement<{ id: number }, Values & { organizationId: number }>(
  'shield.insertLimiter',
  `insert into shield_limiters (id, organization_id, name, packets_per_second, bits_per_second, per, burst, created_at,
     updated_at)
   values (:id, :organizationId, :name, :packets, :bits, :per, :burst, :now, :now) on conflict (id) do nothing returning id`,
);
const update = statement<never, Values>(
  'shield.updateLimiter',
  `update shield_limiters set name = :name, packets_per_second = :packets, bits_per_second = :bits, per = :per, burst = :burst,
     updated_at = :now where id = :id`,
);
const remove = statement<never, { id: number }>(
  'shield.deleteLimiter',
  'delete from shield_limiters where id = :id',
);
/** In SQL: addresses at which rules are tried out that name the limiter. */
const triedAt = `select t.address from shield_addresses t
  join shield_applies a on a.id = t.trial_id and a.state = 'trying' and a.confirm_until > :now
  where t.organization_id = :organizationId
    and a.rules @> jsonb_build_array(jsonb_build_object('rate_limiter_id', :id::int))`;
type Used = { id: number; organizationId: number; now: Date };
const usedAt = statement<{ address: string }, Used>(
  'shield.addressesOfLimiter',
  `select host(t.address) as address from shield_rules r
   join shield_addresses t on t.organization_id = r.organization_id and t.address <<= r.destination
   where r.limiter_id = :id and not t.address = any(r.given_back)
   union select host(tried.address) from (${triedAt}) tried`,
);
const isUsed = statement<{ used: boolean }, Used>(
  'shield.isLimiterUsed',
  `select exists (select 1 from shield_rules where limiter_id = :id) or exists (${triedAt}) as used`,
);
const lockRulesOf = statement<{ id: number }, { id: number; organizationId: number }>(
  'shield.lockRulesOfLimiter',
  `select id from shield_rules where limiter_id = :id and organization_id = :organizationId order by id for update`,
);
const touchRules = statement<never, { id: number; generation: number }>(
  'shield.touchRulesOfLimiter',
  'update shield_rules set generation = :generation where limiter_id = :id',
);

export async function listLimiters(ctx: OrganizationContext, query: ListRequest) {
  const { rows, at } = await limiters(ctx, query, { organizationId: ctx.organizationId });
  return listData('rate_limiters', rows.map(view), at);
}

/** `not_found`, `forbidden`. */
export async function readLimiter(ctx: OrganizationContext, id: number) {
  return { rate_limiter: view(await requireOwn(ctx, limiterById, { id })) };
}

export async function lockLimiter(ctx: OrganizationContext & TxContext, id: number): Promise<void> {
  await ctx.db.maybe(lockById, { id, organizationId: ctx.organizationId });
}

/** A rate limiter that a rule is to use, which stays until the transaction ends. `not_found`, `forbidden`. */
export async function requireOwnLimiter(
  ctx: OrganizationContext & TxContext,
  id: number,
): Promise<LimiterRow> {
  return requireOwn(ctx, holdById, { id });
}

/**
 * Holds those that a rule names and is to name, as far as they are the caller's: before the rule itself, as whoever changes a limiter holds
 * it before its rules.
 */
export async function holdLimiters(
  tx: OrganizationContext & TxContext,
  ids: readonly (number | null | undefined)[],
): Promise<void> {
  const named = [...new Set(ids.flatMap((id) => id || []))];
  if (named.length > 0) await tx.db.many(holdThem, { ids: named, organizationId: tx.organizationId });
}

/** `too_many`, `conflict` when another one has the name, `invalid_request` without a rate. */
export function createLimiter(ctx: OrganizationContext, body: NewLimiter) {
  return transaction(ctx, 'shield.createLimiter', async (tx) => {
    const { organizationId } = tx;
    await lockOrganization(tx, organizationId);
    const { count } = await tx.db.one(countThem, { organizationId });
    if (count >= most) throw fail('too_many', { message: `There are ${most} rate limiters already` });
    const values = checked(body, tx.clock.now());
    const id = await named(async () => {
      for (;;) {
        const row = await tx.db.maybe(insert, { ...values, organizationId, id: newSmallId() });
        if (row !== null) return row.id;
      }
    });
    await record(tx, limiterCreated, {
      subject: { type: 'shield_limiter', id },
      data: { rate_limiter_id: id, name: values.name },
    });
    return readLimiter(tx, id);
  });
}

/**
 * Changes a limiter, and with it what every rule does that uses it. What is tried out with another rate is taken back: it could
 * not stay as it was tried out.
 */
export function changeLimiter(ctx: OrganizationContext, id: number, change: Partial<NewLimiter>) {
  return transaction(ctx, 'shield.changeLimiter', async (tx) => {
    await lockLimiter(tx, id);
    await tx.db.many(lockRulesOf, { id, organizationId: tx.organizationId });
    const before = await requireOwn(tx, limiterById, { id });
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    const values = checked({ ...before, ...given } as NewLimiter, tx.clock.now());
    await named(() => tx.db.run(update, { ...values, id }));
    const used = { id, organizationId: tx.organizationId, now: values.now };
    const addresses = isSameRate(before, values)
      ? []
      : (await tx.db.many(usedAt, used)).map(({ address }) => address);
    if (addresses.length > 0) {
      const generation = await nextGeneration(tx, await lockKnownPolicies(tx, addresses));
      await tx.db.run(touchRules, { id, generation });
      await wantApplied(tx, addresses);
    }
    await record(tx, limiterChanged, {
      subject: { type: 'shield_limiter', id },
      data: { rate_limiter_id: id, name: values.name },
    });
    return readLimiter(tx, id);
  });
}

/** `limiter_in_use` while a rule uses it, also one that is tried out. */
export async function deleteLimiter(ctx: OrganizationContext, id: number): Promise<void> {
  await transaction(ctx, 'shield.deleteLimiter', async (tx) => {
    await lockLimiter(tx, id);
    const { name } = await requireOwn(tx, limiterById, { id });
    const { organizationId } = tx;
    if ((await tx.db.one(isUsed, { id, organizationId, now: tx.clock.now() })).used)
      throw fail('limiter_in_use');
    await tx.db.run(remove, { id });
    await record(tx, limiterDeleted, {
      subject: { type: 'shield_limiter', id },
      data: { rate_limiter_id: id, name },
    });
  });
}

function checked({ name, packets_per_second, bits_per_second, per, burst }: NewLimiter, now: Date) {
  const [packets, bits] = [packets_per_second ?? null, bits_per_second ?? null];
  if (packets === null && bits === null) {
    const message = 'is needed, or bits_per_second, or both';
    throw fail('invalid_request', { details: [{ field: 'packets_per_second', message }] });
  }
  return { name: name.trim(), packets, bits, per, burst, now };
}

function isSameRate(before: Row, { packets, bits, per, burst }: ReturnType<typeof checked>): boolean {
  const { packets_per_second, bits_per_second } = before;
  return (
    packets === packets_per_second && bits === bits_per_second && per === before.per && burst === before.burst
  );
}

async function named<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isDuplicate(error, 'shield_limiters_name')) throw error;
    throw fail('conflict', { message: 'Another rate limiter has this name' });
  }
}

function view({ organization_id: _, ...row }: Row) {
  return { ...row, action: 'drop' as const };
}
