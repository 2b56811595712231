import { paidFor } from '../billing/index.ts';
import { addDays, type Context, dayOf } from '../platform/index.ts';

import { periodsOf } from './periods.ts';
import { shareOf } from './share.ts';
import type { Terms } from './terms.ts';

/**
 * What was paid for a service and is not used up, today included, in the terms of its price: before tax, or with the tax
 * inside where prices have it so. What a coupon took off, and what was given back, was not paid. Only a change to another
 * `cycle` begins a new period, which this is taken off; for any other it is 0.
 */
export async function paidAhead(
  ctx: Context,
  service: Pick<Terms, 'id' | 'cycle'>,
  cycle: string = service.cycle,
): Promise<number> {
  if (cycle === service.cycle) return 0;
  const [paid, periods] = await Promise.all([paidFor(ctx, service.id), periodsOf(ctx, service.id)]);
  const yesterday = addDays(dayOf(ctx.clock.now()), -1);
  return paid.reduce((sum, invoice) => {
    const period = periods.find(({ invoiceId }) => invoiceId === invoice.id);
    const { amountMinor } = shareOf(invoice, period, 'unused', yesterday);
    if (invoice.totalMinor === 0) return sum;
    return sum + Number((BigInt(amountMinor) * BigInt(invoice.netMinor)) / BigInt(invoice.totalMinor));
  }, 0);
}
