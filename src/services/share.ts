import type { PaidInvoice } from '../billing/index.ts';
import { daysBetween } from '../platform/index.ts';

import type { Period } from './periods.ts';

/** Which part of what was paid for a service goes back: all of it, the days that have not begun, or nothing. */
export type Rule = 'full' | 'unused' | 'none';

/** What goes back of one invoice, with its tax. */
export interface Share {
  invoiceId: number;
  /** Who paid it, and gets it back. */
  organizationId: number;
  amountMinor: number;
}

/** The same, and how much of it goes to where it came from; the rest becomes credit. */
export interface SentShare extends Share {
  originalMinor: number;
}

/**
 * What goes back of an invoice that was paid for a service. Never more than is left of it and no bank disputes, and never
 * more than the service's lines were: rounded down to the minor unit, once for the days and once for the tax. A day that has begun
 * is used.
 */
export function shareOf(paid: PaidInvoice, period: Period | undefined, rule: Rule, today: string): Share {
  const netMinor = rule === 'full' ? paidNet(paid) : rule === 'unused' ? unusedNet(paid, period, today) : 0;
  const ofTotal = paid.netMinor === 0 ? 0 : partOf(paid.totalMinor, netMinor, paid.netMinor);
  const leftMinor = Math.max(0, paid.totalMinor - paid.refundedMinor - paid.disputedMinor);
  return {
    invoiceId: paid.id,
    organizationId: paid.organizationId,
    amountMinor: Math.min(ofTotal, leftMinor),
  };
}

function paidNet({ priceMinor, setupFeeMinor, discountMinor }: PaidInvoice): number {
  return priceMinor + setupFeeMinor - discountMinor;
}

/** Of the price, before tax and without the setup: that was done. A discount is off both, in proportion. */
export function unusedNet(paid: PaidInvoice, period: Period | undefined, today: string): number {
  if (period === undefined) return 0;
  const days = daysBetween(period.startsOn, period.endsOn);
  const used = Math.max(0, daysBetween(period.startsOn, today) + 1);
  const left = Math.max(0, days - used);
  const gross = paid.priceMinor + paid.setupFeeMinor;
  if (days <= 0 || gross === 0) return 0;
  const { netReturnedMinor = 0 } = period;
  return partOf(Math.max(0, partOf(paidNet(paid), paid.priceMinor, gross) - netReturnedMinor), left, days);
}

/** `amount` × `part` ÷ `whole`, rounded down, exact however large. */
function partOf(amount: number, part: number, whole: number): number {
  return Number((BigInt(amount) * BigInt(part)) / BigInt(whole));
}
