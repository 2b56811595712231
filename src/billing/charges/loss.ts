import type { RefundableRow } from '../payments/refund.ts';
import type { Charge } from './charge.ts';

/** Who bears money of a charge that is gone: four parts that add up to it. */
export interface Loss {
  /** Its invoice is refunded by so much. */
  ofInvoiceMinor: number;
  /** Of its invoice, which is open, so much is due again. */
  partMinor: number;
  /** Taken from the customer's credit. */
  ofCreditMinor: number;
  /** What nobody has any more. */
  oursMinor: number;
}

type Charged = Pick<Charge, 'amount_minor' | 'credited_minor' | 'returned_minor'>;
type Invoiced = Pick<RefundableRow, 'kind' | 'status' | 'total_minor' | 'refunded_minor' | 'paid_minor'>;

/**
 * Whose an amount was that a bank or the provider's desk took back. The invoice comes first, as far as the charge brought
 * it money that is still there; then the customer's credit; the rest is ours. Of an invoice that bought credit, that
 * credit has to be there to go back.
 */
export function lossOf(amountMinor: number, charge: Charged, invoice: Invoiced, heldMinor: number): Loss {
  const broughtMinor = Math.max(0, charge.amount_minor - charge.credited_minor - charge.returned_minor);
  const atMost = (minor: number) => Math.min(amountMinor, broughtMinor, minor);
  const isPaid = invoice.status === 'paid' || invoice.status === 'partially_refunded';
  const leftMinor = isPaid ? invoice.total_minor - invoice.refunded_minor : 0;
  const isTopUp = invoice.kind === 'top_up';
  const ofInvoiceMinor = atMost(isTopUp ? Math.min(leftMinor, heldMinor) : leftMinor);
  const partMinor = invoice.status === 'unpaid' ? atMost(invoice.paid_minor) : 0;
  const restMinor = amountMinor - ofInvoiceMinor - partMinor;
  const ofCreditMinor = Math.min(restMinor, isTopUp ? heldMinor - ofInvoiceMinor : heldMinor);
  return { ofInvoiceMinor, partMinor, ofCreditMinor, oursMinor: restMinor - ofCreditMinor };
}
