import { permissions } from '../organizations/index.ts';

const servicesPermissions = permissions({
  'service.read': ['billing', 'technical', 'support', 'viewer'],
  'service.manage': ['technical'],
});

type ServicesPermissions = typeof servicesPermissions;

declare module '../platform/http/permission.ts' {
  interface PermissionCatalogue extends ServicesPermissions {}
}
