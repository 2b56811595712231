import { type ListRequest, listData, type Principal, pagedList } from '../../platform/http/index.ts';
import {
  type AccountContext,
  fail,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { lockUser } from '../users.ts';
import { changeKey, makeKey, revokeKey, rotateKey } from './change.ts';
import { type ApiKey, copied, findKey, termsOfKey } from './key.ts';
import type { KeyChange, KeyWish } from './terms.ts';

/** A person's own keys, as they see them. */
interface OwnKeyRow extends ApiKey {
  last_used_at: Date | null;
  last_used_ip: string | null;
}

const selectKey = `
  select t.id, t.user_id, t.name, t.prefix, ${termsOfKey}, t.expires_at, t.last_used_at,
    host(t.last_used_ip) as last_used_ip, t.created_at
  from api_keys t`;

const keys = pagedList<OwnKeyRow>({
  name: 'account.ownKeys',
  from: 'api_keys t',
  select: selectKey,
  within: 't.user_id = :userId and t.revoked_at is null',
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
    name: { by: 't.name collate "C"', type: 'text', of: (row) => row.name },
  },
  order: '-created_at',
});
const ownKey = statement<OwnKeyRow, { id: number }>(
  'account.ownKey',
  `${selectKey} where t.id = :id and t.revoked_at is null`,
);
const ownKeys = statement<OwnKeyRow, { userId: number }>(
  'account.allOwnKeys',
  `${selectKey} where t.user_id = :userId and t.revoked_at is null order by t.created_at desc, t.id desc`,
);

export async function listKeys(ctx: AccountContext, query: ListRequest) {
  const { rows, at } = await keys(ctx, query, { userId: ctx.actor.userId });
  return listData(
    'api_keys',
    rows.map((row) => viewKey(ctx, row)),
    at,
  );
}

/** All keys of the caller; there are a hundred at most. */
export async function allKeys(ctx: AccountContext) {
  const rows = await ctx.db.many(ownKeys, { userId: ctx.actor.userId });
  return rows.map((row) => viewKey(ctx, row));
}

/** One key of the caller; `not_found`, `forbidden` when it is another person's. */
export async function readKey(ctx: AccountContext, id: number) {
  const row = await requireRow(ctx, ownKey, { id });
  if (row.user_id !== ctx.actor.userId) throw fail('forbidden');
  return { api_key: viewKey(ctx, row) };
}

export function createKey(ctx: AccountContext, wish: KeyWish, { principal }: { principal: Principal }) {
  requireStrong(principal);
  return transaction(ctx, 'account.createKey', async (tx) => {
    const made = await makeKey(tx, ctx.actor.userId, wish);
    return { ...(await readKey(tx, made.id)), token: made.key };
  });
}

export function updateKey(ctx: AccountContext, id: number, change: KeyChange) {
  return transaction(ctx, 'account.updateKey', async (tx) => {
    await changeKey(tx, await requireOwnKey(tx, id), change);
    return readKey(tx, id);
  });
}

export function renewKey(
  ctx: AccountContext,
  id: number,
  overlapHours: number,
  { principal }: { principal: Principal },
) {
  requireStrong(principal);
  return transaction(ctx, 'account.renewKey', async (tx) => {
    const key = await requireOwnKey(tx, id);
    const made = await rotateKey(tx, key, overlapHours);
    const replaced = { id, expires_at: made.replacedEndsAt };
    return { ...(await readKey(tx, made.id)), token: made.key, replaced };
  });
}

/** Ends a key; whoever signed in can do without any. */
export function endKey(ctx: AccountContext, id: number) {
  return transaction(ctx, 'account.endKey', async (tx) => {
    await revokeKey(tx, await requireOwnKey(tx, id), true);
    return { revoked: true };
  });
}

/** Comes after the lock: nobody changes this person's keys meanwhile. */
async function requireOwnKey(tx: AccountContext & TxContext, id: number): Promise<ApiKey> {
  await lockUser(tx, tx.actor.userId);
  const key = await findKey(tx, id);
  if (key === null) throw fail('not_found');
  if (key.user_id !== tx.actor.userId) throw fail('forbidden');
  return key;
}

/** A key of staff's reaches staff's routes without a second factor, so it takes one to make it. */
function requireStrong({ staffRole, signIn }: Principal): void {
  if (staffRole !== null && signIn?.strong === false) throw fail('second_factor_required');
}

function viewKey(ctx: AccountContext, row: OwnKeyRow) {
  const { id, name, billing, shield, vps, scopes, organization_ids, ip_allowlist, test } = row;
  return {
    ...{ id, name, key: `${row.prefix}…`, billing, shield, vps, test },
    ...{
      scopes: copied(scopes),
      organization_ids: copied(organization_ids),
      ip_allowlist: copied(ip_allowlist),
    },
    expires_at: row.expires_at,
    created_at: row.created_at,
    lastUsed: row.last_used_at,
    last_used_ip: row.last_used_ip,
    current: id === ctx.actor.apiKeyId,
  };
}
