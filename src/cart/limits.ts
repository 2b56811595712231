import { limits } from '../platform/http/index.ts';

const cartLimits = limits({
  /** Coupon codes that were wrong, by address and by organization: more are guesses. */
  coupon: { quota: 20, windowS: 3_600, per: 'ip' },
});

type CartLimits = typeof cartLimits;

declare module '../platform/http/limits.ts' {
  interface LimitCatalogue extends CartLimits {}
}
