import { permissions } from '../organizations/index.ts';

// What there is every key may see; what is done with it is of an area.
const readPermissions = permissions('any', { 'service.read': ['billing', 'technical', 'support', 'viewer'] });
// Ends what technical people look after and what others pay for: who holds this rules over both.
const endPermissions = permissions('all', { 'service.cancel': [] });
const managePermissions = permissions('vps', { 'service.manage': ['technical'] });

type ServicesPermissions = typeof readPermissions & typeof endPermissions & typeof managePermissions;

declare module '../platform/http/permission.ts' {
  interface PermissionCatalogue extends ServicesPermissions {}
}
