/**
 * Organizations own everything a customer buys; people act in them by a role. Who a request comes from and what
 * it may do is decided here, in one statement.
 */

import './errors.ts';
import './limits.ts';

export { activityRoutes } from './activity/routes.ts';
export { authenticator, permissionsNow, staffNow } from './authenticate.ts';
export { lockOrganization, organizationExists, requireOpen, statusOfOrganization } from './chosen.ts';
export { memberFinds, organizationStaffFinds } from './finds.ts';
export { ownerAddress, ownerOf, type PersonTold, peopleTold, readHolders, readOwners } from './inCharge.ts';
export { expireInvitations, purgeInvitations } from './invitations/forget.ts';
export { isInvited } from './invitations/invited.ts';
export { invitationRoutes } from './invitations/routes.ts';
export { organizationMails } from './mails.ts';
export { memberRoutes } from './members/routes.ts';
export { requireOwner } from './members/ruler.ts';
export { foundOrganization } from './organizations.ts';
export { permissionNames, permissions, permissionsOf, type Role, roles } from './permissions.ts';
export { organizationsPermitting } from './permitted.ts';
export { endingOrganizations, organizationsPersonal, ownedOrganizations } from './personal.ts';
export { organizationReactions } from './reactions.ts';
export { organizationRoutes } from './routes.ts';
export { OrganizationName } from './schema.ts';
export { organizationStaffRoutes } from './staffRoutes.ts';
