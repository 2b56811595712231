import { record } from '../../events/index.ts';
import { type OrganizationContext, statement, type TxContext } from '../../platform/index.ts';
import { invitationWithdrawn } from '../events.ts';
import type { InvitedRole } from './list.ts';

const deleteOfInviter = statement<
  { id: number; email: string; role: InvitedRole },
  { organizationId: number; userId: number }
>(
  'organizations.withdrawInvitationsOf',
  'delete from invitations where organization_id = :organizationId and invited_by = :userId returning id, email, role',
);

/**
 * Takes back what a member invited to who invites no more: else they come back by an address of their own. Wants the
 * organization locked.
 */
export async function withdrawInvitationsOf(
  tx: OrganizationContext & TxContext,
  userId: number,
): Promise<void> {
  const { organizationId } = tx;
  for (const { id, email, role } of await tx.db.many(deleteOfInviter, { organizationId, userId }))
    await record(tx, invitationWithdrawn, { subject: { type: 'invitation', id }, data: { email, role } });
}
