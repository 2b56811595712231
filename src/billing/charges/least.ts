import { leastMinorOf } from '../../drivers/payments/index.ts';
import { type Context, currencyDigits, formatMoney } from '../../platform/index.ts';

/** The least that our payment provider takes in one payment. */
export function leastByProvider({ config }: Context, currency: string): number {
  return leastMinorOf(config.payments, currency);
}

/** Why so little cannot be paid by a provider that takes that much at least; null when it can. */
export function reasonAgainstLittle(
  minor: number,
  leastMinor: number,
  currency: string,
): { code: 'payment_too_small'; message: string } | null {
  if (minor >= leastMinor) return null;
  const [asked, least] = [minor, leastMinor].map((each) => `${formatMoney(each, currency)} ${currency}`);
  const message = `${asked} is less than can be paid by card, which is ${least} at least; pay from account credit or by transfer`;
  return { code: 'payment_too_small', message };
}

/**
 * What of so much that is due credit pays, so that a method can pay what is left: all of it, or as much as leaves the
 * provider's least. Where it names none that is a whole unit of the currency, and a hundred of one that has no parts,
 * since few take less. Some count in hundredths of a unit at the finest, so nothing finer is left.
 */
export function creditPartOf(
  creditMinor: number,
  dueMinor: number,
  { currency, leastMinor }: { currency: string; leastMinor: number },
): number {
  if (creditMinor >= dueMinor) return dueMinor;
  const unitMinor = 10 ** currencyDigits(currency);
  const leftMinor = leastMinor > 1 ? leastMinor : Math.max(100, unitMinor);
  const partMinor = Math.max(0, Math.min(creditMinor, dueMinor - leftMinor));
  return partMinor - (partMinor % Math.max(1, unitMinor / 100));
}
