import { Type } from 'typebox';
import { event } from '../events/index.ts';
import { Choice, Id } from '../platform/http/index.ts';
import { type Role, roles } from './permissions.ts';

interface OrganizationCreated {
  name: string;
}

interface OrganizationBlocked {
  user_id: number | null;
  organization: string;
  reason: string;
}

interface OrganizationUnblocked {
  user_id: number | null;
  organization: string;
}

interface OrganizationCorrected {
  user_id: number | null;
  organization: string;
  fields: string[];
}

interface OrganizationUpdated {
  change: object;
  before: object;
}

export interface InvitationSent {
  organization: string;
  email: string;
  role: Role;
  invited_by: string;
  sending: number;
}

interface InvitationWithdrawn {
  email: string;
  role: Role;
}

interface MemberJoined {
  user_id: number;
  organization: string;
  role: Role;
  invited_by: number;
}

interface InvitationAccepted {
  /** Who sent it; null when they are no member any more. */
  user_id: number | null;
  organization: string;
  email: string;
  role: Role;
}

interface MemberRoleChanged {
  user_id: number;
  organization: string;
  role: Role;
  before: Role;
}

interface MemberRemoved {
  user_id: number;
  organization: string;
  role: Role;
  left: boolean;
}

export const organizationCreated = event<OrganizationCreated>(
  'organization.created',
  'an organization was founded',
);
export const organizationUpdated = event<OrganizationUpdated>(
  'organization.updated',
  'an organization was changed',
);
export const organizationCorrected = event<OrganizationCorrected>(
  'organization.corrected',
  'staff corrected what an organization says of itself',
);
export const organizationBlocked = event<OrganizationBlocked>(
  'organization.blocked',
  'staff lets an organization order and change nothing; what runs goes on',
);
export const organizationUnblocked = event<OrganizationUnblocked>(
  'organization.unblocked',
  'staff lets an organization go on that was blocked',
);
export const organizationClosed = event(
  'organization.closed',
  'an organization was closed, since nobody is in it any more',
);
export const memberInvited = event<InvitationSent>(
  'member.invited',
  'somebody was invited by mail to act for an organization',
  { permission: 'members.manage', data: { email: Type.String(), role: Choice(roles) } },
);
export const invitationSentAgain = event<InvitationSent>(
  'invitation.sent_again',
  'an invitation was sent again; the link of the mail before is good no more',
);
export const invitationWithdrawn = event<InvitationWithdrawn>(
  'invitation.withdrawn',
  'an invitation was withdrawn before anybody accepted it',
);
export const invitationAccepted = event<InvitationAccepted>(
  'invitation.accepted',
  'an invitation was accepted, which whoever sent it is told',
);
export const memberJoined = event<MemberJoined>(
  'member.joined',
  'somebody accepted an invitation and acts for the organization from now on',
  { permission: 'members.read', data: { user_id: Id, role: Choice(roles) } },
);
export const memberRoleChanged = event<MemberRoleChanged>(
  'member.role_changed',
  'a member of an organization got another role',
);
export const memberRemoved = event<MemberRemoved>(
  'member.removed',
  'a member left an organization, or was removed from it',
  { permission: 'members.read', data: { user_id: Id, role: Choice(roles), left: Type.Boolean() } },
);
