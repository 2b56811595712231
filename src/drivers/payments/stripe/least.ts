import { parseMoney } from '../../../platform/index.ts';

/**
 * The least that Stripe takes in one payment, in the currencies for which it names one. It counts by the currency of the
 * account's bank: a payment in another has to be worth as much as the least of that one, which only Stripe can say.
 * Source: https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts, as of 2026-11-23
 */
const least: Readonly<Record<string, string>> = {
  ...{
    USD: '0.50',
    AED: '2.00',
    AUD: '0.50',
    BGN: '1.00',
    BRL: '0.50',
    CAD: '0.50',
    CHF: '0.50',
    CZK: '15.00',
  },
  ...{
    DKK: '2.50',
    EUR: '0.50',
    GBP: '0.30',
    HKD: '4.00',
    HUF: '175.00',
    INR: '0.50',
    JPY: '50',
    MXN: '10.00',
  },
  ...{
    MYR: '2.00',
    NOK: '3.00',
    NZD: '0.50',
    PLN: '2.00',
    RON: '2.00',
    SEK: '3.00',
    SGD: '0.50',
    THB: '10.00',
  },
};

/** In the currency's minor unit; 1 where Stripe names none. */
export function stripeLeastMinor(currency: string): number {
  const named = least[currency];
  return named === undefined ? 1 : (parseMoney(named, currency) ?? 1);
}
