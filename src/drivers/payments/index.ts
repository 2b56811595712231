/**
 * Money by a payment provider. One contract (`contract.ts`), the engine for Stripe (`stripe/`), the one for a provider
 * without any (`none.ts`), and the suite that every engine passes (`conformance.ts`).
 */
import type { Payments } from './contract.ts';
import type { StripeOptions } from './stripe/engine.ts';

export * from './contract.ts';
export { leastMinorOf } from './least.ts';
export { noPayments } from './none.ts';
export type { StripeOptions };

/** Loaded when it is wanted: Stripe's library alone is two hundred modules, which a start without it need not read. */
export async function stripePayments(options: StripeOptions): Promise<Payments> {
  const engine = await import('./stripe/engine.ts');
  return engine.stripePayments(options);
}
