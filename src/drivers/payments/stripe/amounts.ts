import { currencyDigits } from '../../../platform/index.ts';
import { PaymentError } from '../contract.ts';

/**
 * Stripe counts most currencies as ISO 4217 does. These it counts otherwise.
 * Source: https://docs.stripe.com/currencies#zero-decimal and #special-cases
 */
const otherDigits: Readonly<Record<string, number>> = { ISK: 2, UGX: 2, MGA: 0 };
/** Of their three digits the last one is always 0. */
const inTens: readonly string[] = ['BHD', 'JOD', 'KWD', 'OMR', 'TND'];

function shift(currency: string): number {
  const digits = otherDigits[currency];
  return digits === undefined ? 0 : digits - currencyDigits(currency);
}

/** What Stripe is to be told. `payment_invalid` for an amount that it cannot take. */
export function toStripe(minor: number, currency: string): number {
  const factor = 10 ** Math.abs(shift(currency));
  const amount = shift(currency) < 0 ? minor / factor : minor * factor;
  const isWhole = Number.isSafeInteger(amount) && (!inTens.includes(currency) || amount % 10 === 0);
  if (isWhole) return amount;
  throw new PaymentError('payment_invalid', `Stripe takes no amount of ${minor} minor units of ${currency}`, {
    permanent: true,
  });
}

/** What Stripe said, in our minor unit. Its amounts of ISK and UGX are whole units too. */
export function fromStripe(amount: number, currency: string): number {
  const factor = 10 ** Math.abs(shift(currency));
  return shift(currency) < 0 ? amount * factor : Math.round(amount / factor);
}

/** `eur` as we write it. */
export function currencyOf(name: string): string {
  return name.toUpperCase();
}
