import Stripe from 'stripe';
import { PaymentError } from '../contract.ts';

const { StripeError, StripeCardError, StripeConnectionError, StripeRateLimitError } = Stripe.errors;

/** Amounts that Stripe cannot take, which staff and customer can do something about. */
const aboutAmounts = ['amount_too_small', 'amount_too_large', 'charge_exceeds_source_limit'];

/** There is no such thing in our account. */
export function isMissing(error: unknown): boolean {
  return error instanceof StripeError && (error.statusCode === 404 || error.code === 'resource_missing');
}

/** The payment itself says what came of it: it was declined, or somebody else asked a moment before. */
export function isTold(error: unknown): boolean {
  if (!(error instanceof StripeError)) return false;
  return error instanceof StripeCardError || error.code === 'payment_intent_unexpected_state';
}

/** What the library threw, in the words of the contract. The key is never repeated. */
export function failureOf(error: unknown, what: string, secretKey: string): unknown {
  if (!(error instanceof StripeError)) return error;
  const message = `${what}: Stripe says ${error.message}`.replaceAll(secretKey, 'the key').slice(0, 500);
  const { statusCode = 0, code = '' } = error;
  if (aboutAmounts.includes(code))
    return new PaymentError('payment_invalid', message, { permanent: true, cause: error });
  const isAway =
    error instanceof StripeConnectionError || statusCode === 0 || statusCode >= 500 || statusCode < 400;
  if (isAway) return new PaymentError('provider_unreachable', message, { cause: error });
  // 409: another request about the same thing is under way.
  const passes = error instanceof StripeRateLimitError || statusCode === 429 || statusCode === 409;
  return new PaymentError('provider_refused', message, { permanent: !passes, cause: error });
}
