import { formatMoney } from '../../platform/index.ts';
import type { Terms } from '../terms.ts';
import type { Returned } from './refund.ts';

/** When a service ends, and what goes back then. */
export interface End {
  at: Date;
  returned: Returned;
}

export type Ended = ReturnType<typeof viewEnd>;

/** A cancellation as the wire shows it (contract §3). */
export function viewEnd(service: Pick<Terms, 'cancelled' | 'currency'>, end: End | null) {
  return {
    cancelled: service.cancelled,
    effective_at: end?.at ?? null,
    refund: viewReturned(service, end?.returned ?? { because: 'none', shares: [], totalMinor: 0 }),
  };
}

export function viewReturned({ currency }: Pick<Terms, 'currency'>, returned: Returned) {
  const money = (minor: number) => formatMoney(minor, currency);
  return {
    because: returned.because,
    total: money(returned.totalMinor),
    currency,
    method: 'credit' as const,
    invoices: returned.shares.map(({ invoiceId: invoice_id, amountMinor }) => ({
      invoice_id,
      amount: money(amountMinor),
    })),
  };
}
