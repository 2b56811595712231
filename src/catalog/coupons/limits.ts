import { limits, type Principal } from '../../platform/http/index.ts';
import type { Context } from '../../platform/index.ts';

const couponLimits = limits({
  /** Coupon codes that were wrong: more are guesses. Of strangers by address; whoever is known by person and organization. */
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
  // Whoever guesses at the same address takes nothing from customers.
  keys: async ({ organizationId }: Context, { principal }: { principal: Principal | null }) => ({
    keys: [
      ...(principal === null ? [] : [`u${principal.actor.userId}`]),
      ...(principal === null || organizationId === null ? [] : [`o${organizationId}`]),
    ],
    byAddress: principal === null,
  }),
  wrong: 'invalid_coupon',
  message: 'Too many coupon codes were wrong; go on without one, or try again later',
} as const;
