import { permissions } from '../organizations/index.ts';

const billingPermissions = permissions('billing', {
  'billing.read': ['billing'],
  'billing.pay': ['billing'],
  'billing.manage': ['billing'],
});

type BillingPermissions = typeof billingPermissions;

declare module '../platform/http/permission.ts' {
  interface PermissionCatalogue extends BillingPermissions {}
}
