/**
 * Money by a payment provider. One contract (`contract.ts`), the engine for Stripe (`stripe/`), the one for a provider
 * without any (`none.ts`), and the suite that every engine passes (`conformance.ts`).
 */
export * from './contract.ts';
export { leastMinorOf } from './least.ts';
export { noPayments } from './none.ts';
export { type StripeOptions, stripePayments } from './stripe/engine.ts';
