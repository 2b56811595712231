import { randomBytes } from 'node:crypto';
import { record } from '../../events/index.ts';
import { forgetPrincipals } from '../../platform/http/index.ts';
import {
  attempt,
  fail,
  isDuplicate,
  type StaffContext,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { setStatus, tellBlocked, tellUnblocked } from '../block.ts';
import { heldAddress } from '../emailChange/rows.ts';
import { staffAdded, staffChanged, staffRemoved } from '../events.ts';
import { endSessionsOf } from '../sessions/end.ts';
import { makeLink } from '../signIn/links.ts';
import { createUser, type StaffRole } from '../users.ts';
import { lockMember, requireAnother } from './administrators.ts';
import { readMember } from './list.ts';

const writeMember = statement<
  never,
  { id: number; role: StaffRole | null; firstName: string; lastName: string; now: Date }
>(
  'account.writeStaffMember',
  `update users set staff_role = :role, first_name = :firstName, last_name = :lastName, updated_at = :now where id = :id`,
);

export interface NewMember {
  email: string;
  first_name: string;
  last_name: string;
  role: StaffRole;
}

/** Makes an account of staff; a mail brings the link that sets its password. `email_taken`. */
export function addMember(ctx: StaffContext, { email, first_name, last_name, role }: NewMember) {
  return transaction(ctx, 'account.addStaff', async (tx) => {
    // Whoever gave it up can have it back for a week, and would then share it with this account.
    if ((await heldAddress(tx, email)) !== null)
      throw fail('email_taken', {
        message: 'An account gave this address up less than a week ago and can still have it back',
      });
    // Nobody knows it: the link sets another.
    const password = randomBytes(24).toString('base64url');
    const user = { email, firstName: first_name, lastName: last_name, password, staffRole: role };
    const id = await attempt(tx, (inner) => createUser(inner, user)).catch((error: unknown) => {
      throw isDuplicate(error, 'users_email') ? fail('email_taken') : error;
    });
    const link_id = await makeLink(tx, 'reset', id);
    await record(tx, staffAdded, { ...about(id), data: { user_id: id, role, link_id } });
    return readMember(tx, id);
  });
}

export interface MemberChange {
  first_name?: string | undefined;
  last_name?: string | undefined;
  role?: StaffRole | undefined;
}

/** Changes somebody of staff; with another role their sessions end. `not_found`, `last_administrator`. */
export function changeMember(ctx: StaffContext, id: number, change: MemberChange) {
  return transaction(ctx, 'account.changeStaff', async (tx) => {
    const member = await lockMember(tx, id);
    const role = change.role ?? member.staff_role;
    if (isRuling(member) && role !== 'administrator') await requireAnother(tx, id);
    await tx.db.run(writeMember, {
      ...{ id, role, firstName: change.first_name ?? member.first_name },
      ...{ lastName: change.last_name ?? member.last_name, now: tx.clock.now() },
    });
    if (role !== member.staff_role) await endSessionsOf(tx, id, null);
    await record(tx, staffChanged, { ...about(id), data: { user_id: id, role, was: member.staff_role } });
    return readMember(tx, id);
  });
}

/** Takes the role from somebody: the account stays, as one of a customer. `not_found`, `last_administrator`. */
export function removeMember(ctx: StaffContext, id: number) {
  return transaction(ctx, 'account.removeStaff', async (tx) => {
    const member = await lockMember(tx, id);
    if (isRuling(member)) await requireAnother(tx, id);
    const { first_name: firstName, last_name: lastName } = member;
    await tx.db.run(writeMember, { id, role: null, firstName, lastName, now: tx.clock.now() });
    await endSessionsOf(tx, id, null);
    await record(tx, staffRemoved, { ...about(id), data: { user_id: id, was: member.staff_role } });
    return { removed: true };
  });
}

/** Lets somebody of staff in no more, with sessions and keys. `not_found`, `last_administrator`, `conflict`. */
export function blockMember(ctx: StaffContext, id: number, reason: string) {
  return transaction(ctx, 'account.blockStaff', async (tx) => {
    const member = await lockMember(tx, id);
    if (isRuling(member)) await requireAnother(tx, id);
    await setStatus(tx, member, 'blocked');
    await tellBlocked(tx, id, null, reason);
    return readMember(tx, id);
  });
}

/** Lets somebody of staff in again. `not_found`, `conflict`. */
export function unblockMember(ctx: StaffContext, id: number) {
  return transaction(ctx, 'account.unblockStaff', async (tx) => {
    await setStatus(tx, await lockMember(tx, id), 'active');
    await tellUnblocked(tx, id, null);
    return readMember(tx, id);
  });
}

/** Nobody changes this person of staff, nor the administrators, until the transaction ends. */
export async function lockForChange(tx: StaffContext & TxContext, id: number): Promise<void> {
  await lockMember(tx, id);
  tx.db.afterCommit(forgetPrincipals);
}

function isRuling({ staff_role, status }: { staff_role: StaffRole; status: string }): boolean {
  return staff_role === 'administrator' && status === 'active';
}

function about(id: number) {
  return { subject: { type: 'user', id }, organizationId: null };
}
