import { formatMoney } from '../../platform/index.ts';
import type { Terms } from '../terms.ts';
import type { Priced } from './price.ts';

/** When a change counts: once its invoice is paid, at once, or with the next period. */
export const moments = ['now', 'on_payment', 'period_end'] as const;

/** A change as the wire shows it (contract §3). */
export function viewOffer(
  service: Terms & { duedate: string },
  priced: Priced,
  { invoiceId, totalMinor }: { invoiceId: number | null; totalMinor: number },
) {
  const money = (minor: number) => formatMoney(minor, service.currency);
  const atOnce = service.downgrade === 'period_end' ? ('period_end' as const) : ('now' as const);
  const effective = priced.chargeMinor > 0 ? ('on_payment' as const) : atOnce;
  return {
    invoice_id: invoiceId,
    prorated_charge: money(priced.chargeMinor),
    credit: money(priced.creditMinor),
    discount: money(priced.discountMinor),
    new_price: money(priced.newPriceMinor),
    total: money(totalMinor),
    currency: service.currency,
    effective,
    effective_on: effective === 'period_end' ? service.duedate : null,
    cycle: priced.period?.cycle ?? service.cycle,
    new_duedate: priced.period?.endsOn ?? service.duedate,
    options: priced.options,
  };
}
