import { limits } from '../platform/http/index.ts';

const shieldLimits = limits({
  // Each judges the last hour's packets, which takes a core a tenth of a second.
  shieldSimulate: { quota: 60, windowS: 60, per: 'organization' },
});

type ShieldLimits = typeof shieldLimits;

declare module '../platform/http/limits.ts' {
  interface LimitCatalogue extends ShieldLimits {}
}
