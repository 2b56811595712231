import { hashToken, lockUser } from '../../account/index.ts';
import { record } from '../../events/index.ts';
import { forgetPrincipals } from '../../platform/http/index.ts';
import { type AccountContext, fail, statement, transaction } from '../../platform/index.ts';
import { lockOrganization } from '../chosen.ts';
import { invitationAccepted, memberJoined } from '../events.ts';
import { roleOf } from '../members/ruler.ts';
import { readOwnOrganization } from '../organizations.ts';
import type { InvitedRole } from './list.ts';

interface Invited {
  id: number;
  organization_id: number;
  email: string;
  role: InvitedRole;
  invited_by: number;
}

const invitationOf = statement<Invited, { hash: Buffer; now: Date }>(
  'organizations.invitationOfLink',
  `select id, organization_id, email, role, invited_by from invitations where hash = :hash and expires_at > :now`,
);
// Whoever deletes the row has accepted; the next one finds none.
const useInvitation = statement<Invited, { hash: Buffer; now: Date }>(
  'organizations.useInvitation',
  `delete from invitations where hash = :hash and expires_at > :now
   returning id, organization_id, email, role, invited_by`,
);
const addressOf = statement<{ email: string; email_verified: boolean }, { userId: number }>(
  'organizations.addressOf',
  'select email, email_verified from users where id = :userId',
);
const join = statement<never, { organizationId: number; userId: number; role: InvitedRole; now: Date }>(
  'organizations.join',
  `insert into memberships (organization_id, user_id, role, joined_at)
   values (:organizationId, :userId, :role, :now) on conflict do nothing`,
);

/**
 * Makes the caller a member, if the invitation was sent to their address. `invalid_link`, `invitation_for_another`,
 * `email_unverified`, `already_member`; with any of them the invitation stays good.
 */
export function acceptInvitation(ctx: AccountContext, token: string) {
  return transaction(ctx, 'organizations.acceptInvitation', async (tx) => {
    const { userId } = tx.actor;
    // Whoever closes their account leaves all they are in: before the organization, as closing does.
    await lockUser(tx, userId);
    const link = { hash: hashToken(token), now: tx.clock.now() };
    const found = await tx.db.maybe(invitationOf, link);
    if (found === null) throw noInvitation();
    const organization = await lockOrganization(tx, found.organization_id);
    const invited = await tx.db.maybe(useInvitation, link);
    if (invited === null) throw noInvitation();
    const person = await tx.db.one(addressOf, { userId });
    if (person.email.toLowerCase() !== invited.email.toLowerCase()) throw fail('invitation_for_another');
    if (!person.email_verified) throw fail('email_unverified');
    const { organization_id: organizationId, role } = invited;
    if ((await tx.db.run(join, { organizationId, userId, role, now: link.now })) === 0)
      throw fail('already_member');
    await record(tx, memberJoined, {
      subject: { type: 'user', id: userId },
      organizationId,
      data: { user_id: userId, organization: organization.name, role, invited_by: invited.invited_by },
    });
    const inviter = await tx.db.maybe(roleOf, { organizationId, userId: invited.invited_by });
    await record(tx, invitationAccepted, {
      subject: { type: 'invitation', id: invited.id },
      organizationId,
      data: {
        user_id: inviter === null ? null : invited.invited_by,
        ...{ organization: organization.name, email: invited.email, role },
      },
    });
    tx.db.afterCommit(forgetPrincipals);
    return readOwnOrganization(tx, organizationId);
  });
}

function noInvitation() {
  const message =
    'This invitation was accepted already, was withdrawn or sent again, or has expired; ask who invited you for another';
  return fail('invalid_link', { message });
}
