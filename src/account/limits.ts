import { limits } from '../platform/http/index.ts';

const accountLimits = limits({
  'sign-in': { quota: 20, windowS: 60, per: 'ip' },
});

type AccountLimits = typeof accountLimits;

declare module '../platform/http/limits.ts' {
  interface LimitCatalogue extends AccountLimits {}
}
