import { forgetDefaultOrganization } from '../../account/index.ts';
import { record } from '../../events/index.ts';
import { forgetPrincipals } from '../../platform/http/index.ts';
import {
  fail,
  type OrganizationContext,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { lockOrganization, requireChosen } from '../chosen.ts';
import { memberRemoved, memberRoleChanged } from '../events.ts';
import { withdrawInvitationsOf } from '../invitations/withdraw.ts';
import { permissionsOf, type Role } from '../permissions.ts';
import { readMember } from './list.ts';
import { requireOwner, requireRuler, roleOf } from './ruler.ts';

const setRole = statement<never, { organizationId: number; userId: number; role: Role }>(
  'organizations.setRole',
  'update memberships set role = :role where organization_id = :organizationId and user_id = :userId',
);
const deleteMembership = statement<never, { organizationId: number; userId: number }>(
  'organizations.deleteMembership',
  'delete from memberships where organization_id = :organizationId and user_id = :userId',
);
const hasOtherOwner = statement<{ has: boolean }, { organizationId: number; userId: number }>(
  'organizations.hasOtherOwner',
  `select exists (select 1 from memberships m join users u on u.id = m.user_id
     where m.organization_id = :organizationId and m.user_id <> :userId and m.role = 'owner'
       and u.status = 'active') as has`,
);

/** Throws unless the caller proved lately who they are. */
type RequireFresh = () => void;

interface Member {
  userId: number;
  role: Role;
  isSelf: boolean;
  organization: string;
}

/**
 * Gives a member another role. Owners alone make, lower and remove owners. `not_found`, `forbidden`, `permission_denied`,
 * `last_owner`, `session_required`, `reauthentication_required`.
 */
export function changeRole(
  ctx: OrganizationContext,
  id: number,
  userId: number,
  role: Role,
  requireFresh: RequireFresh,
) {
  return ofMember(ctx, 'organizations.changeRole', id, userId, async (tx, member) => {
    if (role === member.role) return readMember(tx, id, userId);
    // Of themselves too: who was lowered meanwhile must not raise themselves again.
    await requireRuler(tx);
    if (member.role === 'owner') await requireOwnerLeft(tx, id, userId);
    if (role === 'owner' || (member.role === 'owner' && !member.isSelf))
      await requireRulerOfOwners(tx, requireFresh);
    await giveRole(tx, member, role);
    if (!permissionsOf(role).has('members.manage')) await withdrawInvitationsOf(tx, userId);
    return readMember(tx, id, userId);
  });
}

/** Takes a member out, or lets the caller leave. Errors as {@link changeRole}. */
export function removeMember(
  ctx: OrganizationContext,
  id: number,
  userId: number,
  requireFresh: RequireFresh,
) {
  return ofMember(ctx, 'organizations.removeMember', id, userId, async (tx, member) => {
    if (member.role === 'owner') {
      await requireOwnerLeft(tx, id, userId);
      if (!member.isSelf) await requireRulerOfOwners(tx, requireFresh);
    }
    await tx.db.run(deleteMembership, { organizationId: id, userId });
    await forgetDefaultOrganization(tx, userId, id);
    await withdrawInvitationsOf(tx, userId);
    const { role, organization, isSelf } = member;
    await record(tx, memberRemoved, {
      subject: { type: 'user', id: userId },
      data: { user_id: userId, organization, role, left: isSelf },
    });
    return { removed: true };
  });
}

/**
 * Makes a member the owner in the caller's place, who is an administrator afterwards. `not_found`, `forbidden`,
 * `permission_denied`, `conflict`.
 */
export function handOver(ctx: OrganizationContext, id: number, userId: number) {
  return ofMember(ctx, 'organizations.handOver', id, userId, async (tx, member) => {
    await requireOwner(tx, ofOwners);
    if (member.isSelf) throw fail('conflict', { message: 'You are its owner; name the member who is to be' });
    if (member.role !== 'owner') await giveRole(tx, member, 'owner');
    if (!(await tx.db.one(hasOtherOwner, { organizationId: id, userId: tx.actor.userId })).has)
      throw fail('conflict', { message: 'This member is blocked; name another one' });
    const self: Member = { ...member, userId: tx.actor.userId, role: 'owner', isSelf: true };
    await giveRole(tx, self, 'admin');
    return readMember(tx, id, userId);
  });
}

/** One change of an organization's members at a time, by somebody who may still make it when it is their turn. */
function ofMember<T>(
  ctx: OrganizationContext,
  name: string,
  id: number,
  userId: number,
  work: (tx: OrganizationContext & TxContext, member: Member) => Promise<T>,
): Promise<T> {
  return transaction(ctx, name, async (tx) => {
    await requireChosen(tx, id);
    const organization = await lockOrganization(tx, id);
    const isSelf = userId === tx.actor.userId;
    if (!isSelf) await requireRuler(tx);
    const { role } = await requireRow(tx, roleOf, { organizationId: id, userId });
    tx.db.afterCommit(forgetPrincipals);
    return work(tx, { userId, role, isSelf, organization: organization.name });
  });
}

async function giveRole(tx: OrganizationContext & TxContext, member: Member, role: Role): Promise<void> {
  const { userId, organization, role: before } = member;
  await tx.db.run(setRole, { organizationId: tx.organizationId, userId, role });
  await record(tx, memberRoleChanged, {
    subject: { type: 'user', id: userId },
    data: { user_id: userId, organization, role, before },
  });
}

/** Counted after the lock is ours, so that of two owners who leave at once one stays. */
async function requireOwnerLeft(tx: TxContext, organizationId: number, userId: number): Promise<void> {
  if (!(await tx.db.one(hasOtherOwner, { organizationId, userId })).has) throw fail('last_owner');
}

async function requireRulerOfOwners(
  tx: OrganizationContext & TxContext,
  requireFresh: RequireFresh,
): Promise<void> {
  await requireOwner(tx, ofOwners);
  requireFresh();
}

const ofOwners = 'Only an owner makes, lowers and removes owners';
