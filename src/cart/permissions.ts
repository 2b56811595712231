import { permissions } from '../organizations/index.ts';

const cartPermissions = permissions('billing', {
  order: ['billing'],
});

type CartPermissions = typeof cartPermissions;

declare module '../platform/http/permission.ts' {
  interface PermissionCatalogue extends CartPermissions {}
}
