import { permissions } from '../organizations/index.ts';

const vpsPermissions = permissions('vps', {
  'vps.read': ['billing', 'technical', 'support', 'viewer'],
  'vps.power': ['technical', 'support'],
  'vps.manage': ['technical'],
});

type VpsPermissions = typeof vpsPermissions;

declare module '../platform/http/permission.ts' {
  interface PermissionCatalogue extends VpsPermissions {}
}
