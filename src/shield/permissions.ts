import { permissions } from '../organizations/index.ts';

const shieldPermissions = permissions('shield', {
  'shield.read': ['technical', 'support', 'viewer'],
  'shield.manage': ['technical'],
});

type ShieldPermissions = typeof shieldPermissions;

declare module '../platform/http/permission.ts' {
  interface PermissionCatalogue extends ShieldPermissions {}
}
