import { limits } from '../platform/http/index.ts';

const billingLimits = limits({
  documents: { quota: 120, windowS: 60, per: 'person' },
  /** Each may have the register of VAT ids asked about another one, which asks the member states. */
  'billing-profile': { quota: 120, windowS: 3_600, per: 'person' },
  checkout: { quota: 60, windowS: 60, per: 'person' },
});

type BillingLimits = typeof billingLimits;

declare module '../platform/http/limits.ts' {
  interface LimitCatalogue extends BillingLimits {}
}
