import { Type } from 'typebox';
import { EmailAddress } from '../../account/index.ts';
import {
  Choice,
  Id,
  ListQuery,
  listOf,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';

const InvitedRole = Choice(['admin', 'billing', 'technical', 'support', 'viewer']);

const Invitation = named(
  'Invitation',
  Type.Object({
    id: Id,
    email: Type.String(),
    role: InvitedRole,
    invited_by: Type.Object({ id: Id, first_name: Type.String(), last_name: Type.String() }),
    expired: Type.Boolean({ description: 'Whether its link is good no more; send it again then' }),
    sent_at: Timestamp,
    expires_at: Timestamp,
    created_at: Timestamp,
  }),
  'That somebody was asked to act for an organization, and has not accepted yet',
);

export const InvitationParams = Strict({ id: Id, invitation_id: Id });
export const InvitationQuery = ListQuery({ sort: SortBy(['created_at'], '-created_at') });
export const InvitationList = named('InvitationList', listOf('invitations', Invitation));
export const InvitationData = named('InvitationAnswer', Type.Object({ invitation: Invitation }));
export const NewInvitation = named('NewInvitation', Strict({ email: EmailAddress, role: InvitedRole }));
export const InvitationWithdrawn = named('InvitationWithdrawn', Type.Object({ withdrawn: Type.Boolean() }));
export const InvitationAcceptance = named(
  'InvitationAcceptance',
  Strict({
    token: Type.String({
      minLength: 1,
      maxLength: 200,
      description: '`token` of the link in the mail; good once',
    }),
  }),
);
