import { record } from '../events/index.ts';
import {
  fail,
  requireRow,
  type StaffContext,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import { accountBlocked, accountUnblocked } from './events.ts';
import { endSessionsOf } from './sessions/end.ts';
import { lockedPerson } from './signIn/person.ts';
import { readUser } from './userStaff.ts';

type Status = 'active' | 'blocked' | 'closed';

const writeStatus = statement<never, { id: number; status: Status; now: Date }>(
  'account.writeStatus',
  'update users set status = :status, updated_at = :now where id = :id',
);
const homeOf = statement<{ organization_id: number }, { id: number }>(
  'account.homeOf',
  'select organization_id from memberships where user_id = :id order by joined_at, organization_id limit 1',
);

/**
 * Lets a customer in no more: their sessions end, and their keys are good for nothing. What runs goes on. `not_found`,
 * `staff_account`, `conflict` for who is blocked already.
 */
export function blockUser(ctx: StaffContext, id: number, reason: string) {
  return ofCustomer(ctx, 'account.block', id, async (tx, person) => {
    await setStatus(tx, person, 'blocked');
    await tellBlocked(tx, id, await organizationOf(tx, id), reason);
  });
}

/** Lets a customer in again. `not_found`, `staff_account`, `conflict`. */
export function unblockUser(ctx: StaffContext, id: number) {
  return ofCustomer(ctx, 'account.unblock', id, async (tx, person) => {
    await setStatus(tx, person, 'active');
    await tellUnblocked(tx, id, await organizationOf(tx, id));
  });
}

/** Changes whether somebody is let in; whoever is not has no session any more. `conflict` when it is so already. */
export async function setStatus(
  tx: TxContext,
  { id, status: was }: { id: number; status: Status },
  status: 'active' | 'blocked',
): Promise<void> {
  if (was === status) throw fail('conflict', { message: `This account is ${status} already` });
  if (was === 'closed') throw fail('conflict', { message: 'This account was closed by its person' });
  await tx.db.run(writeStatus, { id, status, now: tx.clock.now() });
  if (status === 'blocked') await endSessionsOf(tx, id, null);
}

export function tellBlocked(tx: TxContext, id: number, organizationId: number | null, reason: string) {
  const subject = { type: 'user', id };
  return record(tx, accountBlocked, { subject, organizationId, data: { user_id: id, reason } });
}

export function tellUnblocked(tx: TxContext, id: number, organizationId: number | null) {
  const subject = { type: 'user', id };
  return record(tx, accountUnblocked, { subject, organizationId, data: { user_id: id } });
}

/** Where a customer finds what staff did to their account: in the first organization they are in. */
export async function organizationOf(tx: TxContext, id: number): Promise<number | null> {
  return (await tx.db.maybe(homeOf, { id }))?.organization_id ?? null;
}

/** An account that is no one's of staff, which stays as it is until the transaction ends. */
export async function lockCustomer(tx: TxContext, id: number) {
  const person = await requireRow(tx, lockedPerson, { id });
  if (person.staff_role !== null) throw fail('staff_account');
  return person;
}

function ofCustomer(
  ctx: StaffContext,
  name: string,
  id: number,
  work: (tx: StaffContext & TxContext, person: { id: number; status: Status }) => Promise<void>,
) {
  return transaction(ctx, name, async (tx) => {
    await work(tx, await lockCustomer(tx, id));
    return readUser(tx, id);
  });
}
