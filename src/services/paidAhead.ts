import { paidFor } from '../billing/index.ts';
import type { Context } from '../platform/index.ts';
import { shareOf } from './cancel/share.ts';
import { periodsOf } from './periods.ts';

const msPerDay = 86_400_000;

/**
 * What was paid for a service and is not used up, today included, in the terms of its price: before tax, or with the tax
 * inside where prices have it so. What a coupon took off, and what was given back, was not paid.
 */
export async function paidAhead(ctx: Context, serviceId: number): Promise<number> {
  const [paid, periods] = await Promise.all([paidFor(ctx, serviceId), periodsOf(ctx, serviceId)]);
  const yesterday = new Date(ctx.clock.now().getTime() - msPerDay).toISOString().slice(0, 10);
  return paid.reduce((sum, invoice) => {
    const period = periods.find(({ invoiceId }) => invoiceId === invoice.id);
    const { amountMinor } = shareOf(invoice, period, 'unused', yesterday);
    if (invoice.totalMinor === 0) return sum;
    return sum + Number((BigInt(amountMinor) * BigInt(invoice.netMinor)) / BigInt(invoice.totalMinor));
  }, 0);
}
