import { fail } from './errors.ts';

/** Amounts are integers in the currency's minor unit inside, decimal strings outside (`1250` ↔ `"12.50"`). */

/**
 * Currencies that have not two digits after the point (ISO 4217). The runtime's own table is not that: of money that has no
 * coins left, such as the forint, it shows none, and what an amount that was written down is worth must not change with it.
 */
const otherDigits: ReadonlyMap<string, number> = new Map([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'
    .split(' ')
    .map((code) => [code, 0] as const),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3] as const),
  ...'CLF UYW'.split(' ').map((code) => [code, 4] as const),
]);

/** Digits after the point (ISO 4217): 2 for EUR and HUF, 0 for JPY, 3 for KWD. */
export function currencyDigits(currency: string): number {
  return otherDigits.get(currency) ?? 2;
}

/** `formatMoney(1250, 'EUR')` is `"12.50"`. */
export function formatMoney(minor: number, currency: string): string {
  const digits = currencyDigits(currency);
  const sign = minor < 0 ? '-' : '';
  const text = String(Math.abs(minor)).padStart(digits + 1, '0');
  if (digits === 0) return sign + text;
  return `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** The opposite of {@link formatMoney}; null when the text is not an amount of that currency. */
export function parseMoney(text: string, currency: string): number | null {
  const digits = currencyDigits(currency);
  const match = /^(\d{1,12})(?:\.(\d+))?$/.exec(text);
  if (!match) return null;
  const fraction = match[2] ?? '';
  if (fraction.length > digits) return null;
  const minor = Number(`${match[1]}${fraction.padEnd(digits, '0')}`);
  return Number.isSafeInteger(minor) ? minor : null;
}

/** A sum, unless it is so large that a number would lose cents of it: then `amount_too_large`. */
export function requireExact(minor: number): number {
  if (!Number.isSafeInteger(minor)) throw fail('amount_too_large');
  return minor;
}

/** A share of an amount in basis points (2100 is 21 %), rounded half up to the minor unit. */
export function shareOf(minor: number, basisPoints: number): number {
  return requireExact(Number((BigInt(requireExact(minor)) * BigInt(basisPoints) + 5_000n) / 10_000n));
}

/**
 * What of an amount is a share that was added to the rest of it, in basis points of that rest (2100 is 21 %), rounded half
 * up to the minor unit: the tax inside a price.
 */
export function shareWithin(minor: number, basisPoints: number): number {
  const whole = 10_000n + BigInt(basisPoints);
  return Number((2n * BigInt(requireExact(minor)) * BigInt(basisPoints) + whole) / (2n * whole));
}

/**
 * Splits `total` over `weights` so that the parts add up to `total` exactly: each gets its share rounded
 * down, and what is left goes to the largest remainders, earlier ones first.
 */
export function allocate(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  if (sum === 0) return weights.map(() => 0);
  const exact = weights.map((weight) => BigInt(total) * BigInt(weight));
  const parts = exact.map((share) => Number(share / BigInt(sum)));
  const left = total - parts.reduce((a, b) => a + b, 0);
  const byRemainder = exact
    .map((share, index) => ({ index, remainder: share % BigInt(sum) }))
    .sort((a, b) => Number(b.remainder - a.remainder));
  for (const { index } of byRemainder.slice(0, left)) parts[index] = (parts[index] ?? 0) + 1;
  return parts;
}
