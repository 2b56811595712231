import { requireExact, shareOf, shareWithin } from '../../platform/index.ts';
import type { Tax } from '../tax/taxOf.ts';

/** What a line asks for. */
interface Amounts {
  priceMinor: number;
  setupFeeMinor: number;
  discountMinor: number;
}

export interface Totals {
  subtotalMinor: number;
  discountMinor: number;
  taxMinor: number;
  totalMinor: number;
}

/**
 * Sums of an invoice. Tax is on what remains after discounts, once over the whole, rounded half up; or it is inside of
 * that already, where prices have it inside.
 */
export function totalsOf(lines: readonly Amounts[], tax: Pick<Tax, 'included' | 'rateBasisPoints'>): Totals {
  const subtotalMinor = requireExact(
    lines.reduce((sum, line) => sum + requireExact(line.priceMinor) + requireExact(line.setupFeeMinor), 0),
  );
  const discountMinor = lines.reduce((sum, line) => sum + line.discountMinor, 0);
  const leftMinor = subtotalMinor - discountMinor;
  const { included, rateBasisPoints } = tax;
  const taxMinor = (included ? shareWithin : shareOf)(leftMinor, rateBasisPoints);
  const totalMinor = included ? leftMinor : requireExact(leftMinor + taxMinor);
  return { subtotalMinor, discountMinor, taxMinor, totalMinor };
}
