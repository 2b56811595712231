import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import {
  type Context,
  fail,
  requireRow,
  type StaffContext,
  statement,
  transaction,
} from '../../platform/index.ts';
import { makeKey, revokeKey, rotateKey } from './change.ts';
import { type ApiKey, findKey, termsOfKey } from './key.ts';
import type { KeyWish } from './terms.ts';

/** Each looks after their own keys; administrators see, make and revoke those of the others too. */

interface StaffKeyRow extends ApiKey {
  email: string;
  last_used_at: Date | null;
}

const from = 'api_keys t join users u on u.id = t.user_id';
const ofStaff = 'u.staff_role is not null and t.revoked_at is null';
const selectKey = `
  select t.id, t.user_id, u.email, t.name, t.prefix, ${termsOfKey}, t.expires_at, t.last_used_at,
    t.created_at
  from ${from}`;

const keys = pagedList<StaffKeyRow>({
  name: 'account.staffKeys',
  from,
  select: selectKey,
  within: ofStaff,
  filters: { userId: 't.user_id = :userId' },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
    name: { by: 't.name collate "C"', type: 'text', of: (row) => row.name },
  },
  order: '-created_at',
});
const staffKey = statement<StaffKeyRow, { id: number }>(
  'account.staffKey',
  `${selectKey} where ${ofStaff} and t.id = :id`,
);
const activeStaff = statement<{ id: number }, { id: number }>(
  'account.activeStaff',
  `select id from users where id = :id and staff_role is not null and status = 'active'`,
);

/** The caller's own keys; of an administrator, those of all of staff, or of one person. `permission_denied`. */
export async function listStaffKeys(
  ctx: StaffContext,
  query: ListRequest & { user_id?: number | undefined },
) {
  const userId = rulesOthers(ctx) ? query.user_id : (query.user_id ?? ctx.actor.userId);
  if (userId !== undefined) requireOwnOrRuler(ctx, userId);
  const { rows, at } = await keys(ctx, query, { userId });
  return listData(
    'api_keys',
    rows.map((row) => view(ctx, row)),
    at,
  );
}

export async function readStaffKey(ctx: StaffContext, id: number) {
  const row = await requireRow(ctx, staffKey, { id });
  requireOwnOrRuler(ctx, row.user_id);
  return { api_key: view(ctx, row) };
}

export async function makeStaffKey(ctx: StaffContext, { user_id, ...wish }: KeyWish & { user_id?: number }) {
  return transaction(ctx, 'account.makeStaffKey', async (tx) => {
    const userId = user_id ?? ctx.actor.userId;
    requireOwnOrRuler(ctx, userId);
    if ((await tx.db.maybe(activeStaff, { id: userId })) === null)
      throw fail('not_found', { message: `Nobody of the provider's people has the id ${userId}` });
    const made = await makeKey(tx, userId, wish);
    return { ...(await readStaffKey(tx, made.id)), token: made.key };
  });
}

/** A key that somebody else holds is for them to rotate: whoever does it learns it. */
export async function rotateStaffKey(ctx: StaffContext, id: number, overlapHours: number) {
  return transaction(ctx, 'account.rotateStaffKey', async (tx) => {
    const key = await requireStaffKey(tx, id);
    if (key.user_id !== ctx.actor.userId)
      throw fail('permission_denied', { message: 'Only its owner rotates a key; revoke it instead' });
    const made = await rotateKey(tx, key, overlapHours);
    const replaced = { id: key.id, expires_at: made.replacedEndsAt };
    return { ...(await readStaffKey(tx, made.id)), token: made.key, replaced };
  });
}

export async function revokeStaffKey(ctx: StaffContext, id: number, mayLeaveNone: boolean) {
  return transaction(ctx, 'account.revokeStaffKey', async (tx) => {
    const key = await requireStaffKey(tx, id);
    requireOwnOrRuler(ctx, key.user_id);
    await revokeKey(tx, key, mayLeaveNone);
    return { revoked: true };
  });
}

async function requireStaffKey(ctx: Context, id: number): Promise<ApiKey> {
  const { user_id } = await requireRow(ctx, staffKey, { id });
  const key = await findKey(ctx, id);
  if (key?.user_id !== user_id) throw fail('not_found');
  return key;
}

function rulesOthers(ctx: StaffContext): boolean {
  return ctx.staffRole === 'administrator';
}

function requireOwnOrRuler(ctx: StaffContext, userId: number): void {
  if (userId === ctx.actor.userId || rulesOthers(ctx)) return;
  throw fail('permission_denied', { message: "Only administrators see to other people's keys" });
}

function view(ctx: StaffContext, row: StaffKeyRow) {
  return {
    id: row.id,
    user: { id: row.user_id, email: row.email },
    name: row.name,
    key: `${row.prefix}…`,
    billing: row.billing,
    shield: row.shield,
    vps: row.vps,
    expires_at: row.expires_at,
    last_used_at: row.last_used_at,
    created_at: row.created_at,
    current: row.id === ctx.actor.apiKeyId,
  };
}
