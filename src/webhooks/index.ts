/**
 * Webhooks: an organization names addresses that are told of what happens. One process of the product reads the journal
 * from where the last one stopped, makes one delivery of each entry for each endpoint, and sends what is due, again and
 * again for three days. No request reaches an address that is not of the internet, unless the provider says so.
 */
import './limits.ts';
import './permissions.ts';

export { webhookMails } from './mails.ts';
export { webhooksPersonal } from './personal.ts';
export { webhookRoutes, webhookStaffRoutes } from './routes.ts';
export { sealedWebhooks } from './sign.ts';
export { purgeDeliveries, startWebhooks } from './start.ts';
