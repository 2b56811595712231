import { limits } from '../platform/http/index.ts';

const billingLimits = limits({
  documents: { quota: 120, windowS: 60, per: 'person' },
  checkout: { quota: 60, windowS: 60, per: 'person' },
});

type BillingLimits = typeof billingLimits;

declare module '../platform/http/limits.ts' {
  interface LimitCatalogue extends BillingLimits {}
}
