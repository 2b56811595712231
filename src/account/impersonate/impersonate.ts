import { record } from '../../events/index.ts';
import {
  forgetPrincipals,
  type ListRequest,
  listData,
  type Principal,
  pagedList,
} from '../../platform/http/index.ts';
import {
  type Context,
  fail,
  newId,
  requireRow,
  type StaffContext,
  statement,
  transaction,
} from '../../platform/index.ts';
import { lockCustomer, organizationOf } from '../block.ts';
import { impersonationEnded, impersonationStarted } from '../events.ts';
import { hashToken } from '../sessions/token.ts';
import { isWhole, randomToken } from '../tokens.ts';

/** Staff looks at a customer's things as the customer does. It ends by itself, and everybody is told. */

const lifeMs = 30 * 60_000;
const scheme = 'ini_';

interface Row {
  id: number;
  staff_id: number;
  staff_email: string;
  user_id: number;
  user_email: string;
  organization_id: number | null;
  reason: string;
  read_only: boolean;
  expires_at: Date;
  ended_at: Date | null;
  created_at: Date;
}

const select = `
  select t.id, t.staff_id, s.email as staff_email, t.user_id, u.email as user_email, t.organization_id, t.reason,
    t.read_only, t.expires_at, t.ended_at, t.created_at
  from impersonations t join users s on s.id = t.staff_id join users u on u.id = t.user_id`;

const impersonations = pagedList<Row>({
  name: 'account.impersonations',
  from: 'impersonations t',
  select,
  filters: { userId: 't.user_id = :userId', staffId: 't.staff_id = :staffId' },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
  order: '-created_at',
});
const oneById = statement<Row, { id: number }>('account.impersonation', `${select} where t.id = :id`);
const membership = statement<{ role: string }, { userId: number; organizationId: number }>(
  'account.membershipToImpersonate',
  'select role from memberships where user_id = :userId and organization_id = :organizationId',
);
const insertOne = statement<
  never,
  {
    id: number;
    staffId: number;
    sessionId: number;
    userId: number;
    organizationId: number | null;
    reason: string;
    hash: Buffer;
    readOnly: boolean;
    expiresAt: Date;
    now: Date;
  }
>(
  'account.insertImpersonation',
  `insert into impersonations (id, staff_id, session_id, user_id, organization_id, reason, hash, read_only, expires_at,
     created_at)
   values (:id, :staffId, :sessionId, :userId, :organizationId, :reason, :hash, :readOnly, :expiresAt, :now)`,
);
const endOne = statement<never, { id: number; now: Date }>(
  'account.endImpersonation',
  'update impersonations set ended_at = :now where id = :id and ended_at is null and expires_at > :now',
);

/** Whether this can be the token of one. */
export function looksLikeImpersonation(text: string): boolean {
  return isWhole(scheme, text);
}

export interface Wish {
  reason: string;
  organization_id?: number | undefined;
  read_only?: boolean | undefined;
}

/**
 * Begins to act as a customer, at most for as long as the session lasts that asks. The answer is the one time that the token
 * can be read. `not_found`, `staff_account`, `conflict` for who is blocked, `invalid_request` for an organization that the
 * person is not in, `session_required`.
 */
export function startImpersonation(
  ctx: StaffContext,
  userId: number,
  wish: Wish,
  { sessionId }: Pick<Principal, 'sessionId'>,
) {
  if (typeof sessionId !== 'number') throw fail('session_required');
  return transaction(ctx, 'account.impersonate', async (tx) => {
    const person = await lockCustomer(tx, userId);
    if (person.status !== 'active') throw fail('conflict', { message: 'This account is let in nowhere' });
    const organizationId = wish.organization_id ?? (await organizationOf(tx, userId));
    if (organizationId !== null && (await tx.db.maybe(membership, { userId, organizationId })) === null)
      throw fail('invalid_request', {
        details: [{ field: 'organization_id', message: 'names an organization that this person is not in' }],
      });
    const now = tx.clock.now();
    const [id, token] = [newId(), randomToken(scheme)];
    const { reason, read_only: readOnly = true } = wish;
    const expiresAt = new Date(now.getTime() + lifeMs);
    await tx.db.run(insertOne, {
      ...{ id, staffId: ctx.actor.userId, sessionId, userId, organizationId, reason },
      ...{ hash: hashToken(token), readOnly, expiresAt, now },
    });
    await record(tx, impersonationStarted, {
      subject: { type: 'user', id: userId },
      organizationId,
      data: { user_id: userId, reason, read_only: readOnly, ends_at: expiresAt.toISOString() },
    });
    return { ...(await readImpersonation(tx, id)), token };
  });
}

/** Ends one's own at once; an administrator, anybody's. `not_found`, `permission_denied`, `conflict` when it has ended. */
export function endImpersonation(ctx: StaffContext, id: number) {
  return transaction(ctx, 'account.endImpersonation', async (tx) => {
    const row = await requireRow(tx, oneById, { id });
    if (row.staff_id !== ctx.actor.userId && ctx.staffRole !== 'administrator')
      throw fail('permission_denied', { message: 'Only administrators end what others began' });
    if ((await tx.db.run(endOne, { id, now: tx.clock.now() })) === 0)
      throw fail('conflict', { message: 'This has ended already' });
    await record(tx, impersonationEnded, {
      subject: { type: 'user', id: row.user_id },
      organizationId: row.organization_id,
      data: { user_id: row.user_id },
    });
    tx.db.afterCommit(forgetPrincipals);
    return readImpersonation(tx, id);
  });
}

interface Filters {
  user_id?: number | undefined;
  staff_id?: number | undefined;
}

/** Who of staff acted as whom. */
export async function listImpersonations(ctx: Context, query: ListRequest & Filters) {
  const { rows, at } = await impersonations(ctx, query, { userId: query.user_id, staffId: query.staff_id });
  return listData('impersonations', rows.map(view), at);
}

async function readImpersonation(ctx: Context, id: number) {
  return { impersonation: view(await requireRow(ctx, oneById, { id })) };
}

function view({ staff_id, staff_email, user_id, user_email, ...row }: Row) {
  return { ...row, staff: { id: staff_id, email: staff_email }, user: { id: user_id, email: user_email } };
}
