/**
 * Organizations own everything a customer buys; people act in them by a role. Who a request comes from and what
 * it may do is decided here, in one statement.
 */
export { authenticator } from './authenticate.ts';
export { foundOrganization, organizationExists, ownerAddress, ownerOf } from './organizations.ts';
export { permissions, permissionsOf, type Role, roles } from './permissions.ts';
export { organizationsPermitting } from './permitted.ts';
export { organizationReactions } from './reactions.ts';
export { organizationRoutes } from './routes.ts';
export { OrganizationName } from './schema.ts';
export { organizationStaffRoutes } from './staffRoutes.ts';
