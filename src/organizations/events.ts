import { event } from '../events/index.ts';

interface OrganizationCreated {
  name: string;
}

export const organizationCreated = event<OrganizationCreated>(
  'organization.created',
  'an organization was founded',
);
