import type { PaymentProvider } from '../../config.ts';
import { PaymentError } from '../../drivers/payments/index.ts';
import { type Context, fail } from '../../platform/index.ts';

/**
 * Failures of the payment provider that end by themselves, or once staff has given us another key. What jobs were to do
 * there is done then, however long that takes.
 */
export const providerOutages = ['provider_unreachable', 'provider_refused'] as const;

/**
 * `payment_provider_missing` where customers pay by transfer and from credit alone, and where the provider that is wanted by
 * its name is another. Gives which one there is.
 */
export function requireProvider({ config: { payments } }: Context, wanted = 'card'): PaymentProvider {
  const isOther = wanted !== 'card' && wanted !== payments;
  if (payments === 'none' || isOther) throw fail('payment_provider_missing');
  return payments;
}

/** Asks the provider while a person waits; what it fails with is said in words for them. */
export async function asking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    if (error.code === 'provider_missing') throw fail('payment_provider_missing', { cause: error });
    if (error.code === 'payment_invalid') throw fail('payment_not_possible', { cause: error });
    throw fail('payment_provider_unavailable', { cause: error, retryAfterS: 30 });
  }
}
