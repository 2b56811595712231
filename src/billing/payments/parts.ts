import { dueOf, type Payable } from '../invoices/payable.ts';

/** What of a transfer goes to one invoice, whose row is locked. */
export interface Part {
  invoice: Payable;
  amountMinor: number;
}

/** Splits an amount over open invoices, the oldest first; the last of them maybe gets a part of what is due. */
export function overOldest(unpaid: readonly Payable[], amountMinor: number): Part[] {
  let leftMinor = amountMinor;
  const parts: Part[] = [];
  for (const invoice of unpaid.toSorted((one, other) => one.position - other.position)) {
    const partMinor = Math.min(dueOf(invoice), leftMinor);
    leftMinor -= partMinor;
    if (partMinor > 0) parts.push({ invoice, amountMinor: partMinor });
  }
  return parts;
}

/** What of a transfer no invoice takes. */
export function restOf(amountMinor: number, parts: readonly Part[]): number {
  return amountMinor - parts.reduce((sum, part) => sum + part.amountMinor, 0);
}
