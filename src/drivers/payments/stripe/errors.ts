import Stripe from 'stripe';
import { PaymentError } from '../contract.ts';

const {
  StripeError,
  StripeCardError,
  StripeConnectionError,
  StripeInvalidRequestError,
  StripeRateLimitError,
} = Stripe.errors;

/** Amounts that Stripe cannot take, which staff and customer can do something about. */
const aboutAmounts = ['amount_too_small', 'amount_too_large', 'charge_exceeds_source_limit'];

/** There is no such thing in our account. */
export function isMissing(error: unknown): boolean {
  return error instanceof StripeError && (error.statusCode === 404 || error.code === 'resource_missing');
}

/** Stripe says so of what our account has in its other mode; of what another account has it says nothing. */
export function isOfOtherMode(error: unknown): boolean {
  return (
    isMissing(error) &&
    error instanceof StripeError &&
    /similar object exists in (test|live) mode/.test(error.message)
  );
}

/** The payment itself says what came of it: it was declined, or somebody else asked a moment before. */
export function isTold(error: unknown): boolean {
  if (!(error instanceof StripeError)) return false;
  return error instanceof StripeCardError || error.code === 'payment_intent_unexpected_state';
}

/** What Stripe says of us and not of whose money is asked for: of another method or customer it would say the same. */
const aboutUs =
  /^(account_|api_key_|idempotency_|livemode_|parameter_|platform_|rate_limit|secret_key_|testmode_|tls_)/;

/** A request was refused for what it is about, as far as Stripe says. */
function isAboutThem(error: InstanceType<typeof StripeError>): boolean {
  return error instanceof StripeInvalidRequestError && !aboutUs.test(error.code ?? '');
}

const isCustomerGone = ({ code, param }: InstanceType<typeof StripeError>) =>
  code === 'resource_missing' && param === 'customer';

/**
 * What the library threw, in the words of the contract; `about` is what was to be used, `account` when that is in none of ours,
 * which ends with another key. The key is never repeated.
 */
export function failureOf(
  error: unknown,
  what: string,
  secretKey: string,
  about: 'method' | 'customer' | 'made' | 'account' | undefined = undefined,
): unknown {
  if (!(error instanceof StripeError)) return error;
  const message = `${what}: Stripe says ${error.message}`.replaceAll(secretKey, 'the key').slice(0, 500);
  const { statusCode = 0, code = '' } = error;
  if (aboutAmounts.includes(code))
    return new PaymentError('payment_invalid', message, { permanent: true, cause: error });
  const isAway =
    error instanceof StripeConnectionError || statusCode === 0 || statusCode >= 500 || statusCode < 400;
  if (isAway) return new PaymentError('provider_unreachable', message, { cause: error });
  if (about === 'account')
    return new PaymentError('provider_refused', `${message} (is the key of another account or mode?)`, {
      cause: error,
    });
  // 409: another request about the same thing is under way.
  const passes = error instanceof StripeRateLimitError || statusCode === 429 || statusCode === 409;
  const permanent = { permanent: true, cause: error };
  if (!passes && about === 'method' && isAboutThem(error))
    return new PaymentError('method_refused', message, permanent);
  if (!passes && about === 'customer' && isCustomerGone(error))
    return new PaymentError('customer_unknown', message, permanent);
  return new PaymentError('provider_refused', message, { permanent: !passes, cause: error });
}
