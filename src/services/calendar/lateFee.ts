import { endOfDay, issueInvoice, untaxed } from '../../billing/index.ts';
import { addDays, dayOf, newId, parseMoney, shareOf, type TxContext } from '../../platform/index.ts';
import type { CalendarSettings } from '../settings.ts';
import type { CalendarRow, Done } from './row.ts';

const basisPointsPerPercent = 100;
const daysToPay = 14;

/** Issues the late fee for an invoice that is not paid, on an invoice of its own; none when it comes to nothing. */
export async function issueLateFee(
  tx: TxContext,
  row: CalendarRow,
  settings: CalendarSettings,
): Promise<Partial<Done>> {
  const dueMinor = (row.totalMinor ?? 0) - (row.paidMinor ?? 0);
  const feeMinor = lateFeeOf(dueMinor, row.currency, settings);
  if (feeMinor === 0) return {};
  await issueInvoice(tx, {
    id: newId(),
    organizationId: row.organizationId,
    userId: row.userId,
    kind: 'late_fee',
    currency: row.currency,
    lines: [
      {
        productId: null,
        serviceId: row.serviceId,
        description: `Late fee for invoice ${row.invoiceId}`,
        priceMinor: feeMinor,
        setupFeeMinor: 0,
        discountMinor: 0,
      },
    ],
    // Compensation for a late payment is no supply.
    tax: untaxed,
    couponId: null,
    expiresAt: endOfDay(addDays(dayOf(tx.clock.now()), daysToPay)),
  });
  return {};
}

/** A part of what is due, rounded half up, and a fixed amount of that currency besides. */
export function lateFeeOf(dueMinor: number, currency: string, settings: CalendarSettings): number {
  const fixed = settings.late_fee_amounts.find((each) => each.currency === currency);
  const fixedMinor = fixed === undefined ? 0 : (parseMoney(fixed.amount, currency) ?? 0);
  return shareOf(dueMinor, settings.late_fee_percent * basisPointsPerPercent) + fixedMinor;
}
