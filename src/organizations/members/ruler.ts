import { fail, type OrganizationContext, statement, type TxContext } from '../../platform/index.ts';
import { permissionsOf, type Role } from '../permissions.ts';

export const roleOf = statement<{ role: Role }, { organizationId: number; userId: number }>(
  'organizations.roleOfMember',
  'select role from memberships where organization_id = :organizationId and user_id = :userId',
);

/** Under the organization's lock: what the caller was let in with may have been taken from them since. */
export async function requireRuler(tx: OrganizationContext & TxContext): Promise<void> {
  const { organizationId, actor } = tx;
  const mine = await tx.db.maybe(roleOf, { organizationId, userId: actor.userId });
  if (mine === null) throw fail('forbidden');
  const may = permissionsOf(mine.role).has('members.manage') && tx.permissions.has('members.manage');
  if (!may) throw fail('permission_denied');
}

/** The same of what no role but the owner's may do; `message` says what that is. `permission_denied`. */
export async function requireOwner(tx: OrganizationContext & TxContext, message: string): Promise<void> {
  const { organizationId, actor } = tx;
  const mine = await tx.db.maybe(roleOf, { organizationId, userId: actor.userId });
  if (mine?.role !== 'owner') throw fail('permission_denied', { message });
}
