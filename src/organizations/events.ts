import { event } from '../events/index.ts';
import type { Role } from './permissions.ts';

interface OrganizationCreated {
  name: string;
}

interface OrganizationUpdated {
  change: object;
  before: object;
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
export const memberRoleChanged = event<MemberRoleChanged>(
  'member.role_changed',
  'a member of an organization got another role',
);
export const memberRemoved = event<MemberRemoved>(
  'member.removed',
  'a member left an organization, or was removed from it',
);
