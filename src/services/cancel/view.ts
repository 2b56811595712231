import { formatMoney } from '../../platform/index.ts';
import type { Terms } from '../terms.ts';
import type { Returned } from './refund.ts';

/** When a service ends, and what goes back then. */
export interface End {
  at: Date;
  returned: Returned;
}

export type Ended = ReturnType<typeof viewEnd>;

/**
 * Why a service cannot end with its paid time: that is over already, and all that is stored on it would be deleted at
 * once. Null when it can.
 */
export function reasonAgainstLater({ duedate }: Pick<Terms, 'duedate'>, now: Date): string | null {
  if (duedate === null || duedate > now.toISOString().slice(0, 10)) return null;
  return `The service is paid until ${duedate}, so no period of it runs that it could end with. Pay its renewal first, or cancel it at once, which deletes all that is stored on it`;
}

/** A cancellation as the wire shows it (contract §3). */
export function viewEnd(service: Pick<Terms, 'cancelled' | 'currency' | 'organizationId'>, end: End | null) {
  return {
    cancelled: service.cancelled,
    effective_at: end?.at ?? null,
    refund: viewReturned(service, end?.returned ?? { because: 'none', shares: [], totalMinor: 0 }),
  };
}

/** What another organization paid before the service was moved, and gets back, is in the sums alone. */
export function viewReturned(
  { currency, organizationId }: Pick<Terms, 'currency' | 'organizationId'>,
  returned: Returned,
) {
  const money = (minor: number) => formatMoney(minor, currency);
  const originalMinor = returned.shares.reduce((sum, share) => sum + share.originalMinor, 0);
  return {
    because: returned.because,
    total: money(returned.totalMinor),
    currency,
    method: originalMinor > 0 ? ('original' as const) : ('credit' as const),
    original: money(originalMinor),
    invoices: returned.shares
      .filter((share) => share.organizationId === organizationId)
      .map((share) => ({
        invoice_id: share.invoiceId,
        amount: money(share.amountMinor),
        original: money(share.originalMinor),
      })),
  };
}
