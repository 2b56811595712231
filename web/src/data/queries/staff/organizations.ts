import { staffList, staffThing } from './read.ts';

export const staffOrganizations = staffList('/staff/organizations', 'organizations');
export const staffOrganization = staffThing('/staff/organizations/{id}');
