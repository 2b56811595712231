import { permissions } from '../organizations/index.ts';

// What endpoints get is all that an organization is told of, money and people included: for who rules over all of it.
const webhookPermissions = permissions('all', { 'webhook.manage': [] });

type WebhookPermissions = typeof webhookPermissions;

declare module '../platform/http/permission.ts' {
  interface PermissionCatalogue extends WebhookPermissions {}
}
