import { permissions } from '../organizations/index.ts';

const dedicatedPermissions = permissions('vps', {
  'dedicated.read': ['billing', 'technical', 'support', 'viewer'],
  'dedicated.power': ['technical', 'support'],
  'dedicated.manage': ['technical'],
});

type DedicatedPermissions = typeof dedicatedPermissions;

declare module '../platform/http/permission.ts' {
  interface PermissionCatalogue extends DedicatedPermissions {}
}
