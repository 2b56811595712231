import { IdParams, routes } from '../../platform/http/index.ts';
import { fail } from '../../platform/index.ts';
import { lockOrganization } from '../chosen.ts';
import { examples } from '../examples.ts';
import { OrganizationData } from '../schema.ts';
import { acceptInvitation } from './accept.ts';
import { invite, sendInvitationAgain, withdrawInvitation } from './invite.ts';
import { listInvitations, readInvitation } from './list.ts';
import * as S from './schema.ts';

const group = { tag: 'Members', about: 'Who acts for an organization, and as what.', examples };

const manages = { auth: 'organization', permission: 'members.manage' } as const;

export const invitationRoutes = routes('/dashboard', group, (route) => {
  route.get(
    '/organizations/:id/invitations',
    {
      ...manages,
      operation: 'listInvitations',
      summary: 'List invitations',
      description: 'Those that nobody accepted yet, newest first.',
      params: IdParams,
      query: S.InvitationQuery,
      data: S.InvitationList,
      errors: ['not_found'],
    },
    (ctx, req) => listInvitations(ctx, req.params.id, req.query),
  );
  route.post(
    '/organizations/:id/invitations',
    {
      ...manages,
      personal: true,
      operation: 'createInvitation',
      summary: 'Invite somebody',
      description:
        'Sends a mail with a link that is good once, for a week, and for whoever has this address. The answer does not tell ' +
        'whether they have an account. An owner is made of a member.',
      params: IdParams,
      body: S.NewInvitation,
      data: S.InvitationData,
      limit: 'invitation',
      errors: ['not_found', 'already_member', 'already_invited', 'too_many'],
    },
    (ctx, req) => invite(ctx, req.params.id, req.body),
  );
  route.get(
    '/organizations/:id/invitations/:invitation_id',
    {
      ...manages,
      operation: 'getInvitation',
      summary: 'Get invitation',
      description: 'One invitation of the organization.',
      params: S.InvitationParams,
      data: S.InvitationData,
      errors: ['not_found'],
      etag: { without: ['expired'] },
    },
    (ctx, req) => readInvitation(ctx, req.params.id, req.params.invitation_id),
  );
  route.delete(
    '/organizations/:id/invitations/:invitation_id',
    {
      ...manages,
      limit: 'revoke',
      operation: 'withdrawInvitation',
      summary: 'Withdraw invitation',
      description: 'Its link is good no more.',
      params: S.InvitationParams,
      data: S.InvitationWithdrawn,
      errors: ['not_found'],
      lock: (tx, req) => lockOrganization(tx, req.params.id),
    },
    (ctx, req) => withdrawInvitation(ctx, req.params.id, req.params.invitation_id),
  );
  route.post(
    '/organizations/:id/invitations/:invitation_id/resend',
    {
      ...manages,
      personal: true,
      operation: 'resendInvitation',
      summary: 'Send invitation again',
      description: 'For another week. The link of the mail before is good no more.',
      params: S.InvitationParams,
      data: S.InvitationData,
      limit: 'invitation',
      errors: ['not_found'],
    },
    (ctx, req) => sendInvitationAgain(ctx, req.params.id, req.params.invitation_id),
  );
  route.post(
    '/invitations/accept',
    {
      auth: 'organization',
      organization: 'of-members',
      personal: true,
      operation: 'acceptInvitation',
      summary: 'Accept invitation',
      description:
        'By the token of its link, signed in with the address that it was sent to. A key that is kept to areas cannot.',
      body: S.InvitationAcceptance,
      data: OrganizationData,
      limit: 'sign-in',
      errors: [
        ...(['invalid_link', 'invitation_for_another', 'email_unverified', 'already_member'] as const),
        ...(['permission_denied', 'organization_blocked'] as const),
      ],
    },
    (ctx, req) => {
      if (req.principal.keptTo !== null)
        throw fail('permission_denied', { message: 'Your key is kept to areas; sign in instead' });
      return acceptInvitation(ctx, req.body.token);
    },
  );
});
