import { limits } from '../../platform/http/index.ts';

const couponLimits = limits({
  /** Coupon codes that were wrong, by address and by organization: more are guesses. */
  coupon: { quota: 20, windowS: 3_600, per: 'ip' },
});

type CouponLimits = typeof couponLimits;

declare module '../../platform/http/limits.ts' {
  interface LimitCatalogue extends CouponLimits {}
}

/** Whoever may ask for a price may try codes: without a limit of their own, six hundred a minute. */
export const codeGuess = {
  limit: 'coupon',
  isMade: ({ body }: { body: { couponcode?: string } }) => body.couponcode !== undefined,
  wrong: 'invalid_coupon',
  message: 'Too many coupon codes were wrong; go on without one, or try again later',
} as const;
