import { limits } from '../platform/http/index.ts';

const webhookLimits = limits({
  /** Each sends something to somebody else's host. */
  'webhook-test': { quota: 60, windowS: 60, per: 'person' },
});

type WebhookLimits = typeof webhookLimits;

declare module '../platform/http/limits.ts' {
  interface LimitCatalogue extends WebhookLimits {}
}
