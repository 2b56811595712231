import { requireRow, statement, type TxContext } from '../../platform/index.ts';
import { heldCredit, post } from '../ledger/ledger.ts';
import { giveBack, lockRefundable } from '../payments/refund.ts';
import { addReturned, chargeById } from './charge.ts';

const keepReturn = statement<
  never,
  {
    driver: string;
    reference: string;
    chargeId: number;
    organizationId: number;
    amountMinor: number;
    now: Date;
  }
>(
  'billing.keepChargeReturn',
  `insert into charge_returns (driver, reference, charge_id, organization_id, amount_minor, created_at)
   values (:driver, :reference, :chargeId, :organizationId, :amountMinor, :now) on conflict (driver, reference) do nothing`,
);

/** Money that has gone already, and that nobody here decided. */
interface Taken {
  /** `original`: given back at the provider's desk. `dispute`: kept by a bank. */
  method: 'original' | 'dispute';
  reason: string;
  /** The provider's name for it: it is booked once. */
  reference: string;
}

/**
 * Books money of a charge that is gone; the invoice's row is locked. The invoice is refunded by what the charge brought to
 * it; what had become the customer's credit is taken from there, as far as it is there; the rest is our loss.
 */
export async function takeBack(
  tx: TxContext,
  id: number,
  amountMinor: number,
  { method, reason, reference }: Taken,
): Promise<void> {
  const charge = await tx.db.one(chargeById, { id });
  const { driver, organization_id: organizationId, currency, invoice_id: invoiceId } = charge;
  const row = { driver, reference, chargeId: id, organizationId, amountMinor, now: tx.clock.now() };
  if ((await tx.db.run(keepReturn, row)) === 0) return;
  const invoice = await requireRow(tx, lockRefundable, { id: invoiceId });
  const isPaid = invoice.status === 'paid' || invoice.status === 'partially_refunded';
  const broughtMinor = charge.amount_minor - charge.credited_minor - charge.returned_minor;
  const mostMinor = isPaid ? Math.min(broughtMinor, invoice.total_minor - invoice.refunded_minor) : 0;
  const heldMinor = await heldCredit(tx, organizationId, currency);
  // Of an invoice that bought credit, the credit has to be there to go back.
  const ofInvoiceMinor = Math.max(
    0,
    Math.min(amountMinor, mostMinor, isTopUp(invoice) ? heldMinor : mostMinor),
  );
  if (ofInvoiceMinor > 0)
    await giveBack(tx, invoice, ofInvoiceMinor, { method, reason, reference, chargeId: id });
  await tx.db.run(addReturned, {
    id,
    amountMinor: Math.min(amountMinor, charge.amount_minor - charge.returned_minor),
  });
  const moreMinor = amountMinor - ofInvoiceMinor;
  if (moreMinor === 0) return;
  const creditMinor = Math.min(moreMinor, heldMinor - (isTopUp(invoice) ? ofInvoiceMinor : 0));
  await post(tx, {
    kind: 'charge_taken_back',
    ...{ organizationId, currency, invoiceId, description: reason },
    creditMinor: -creditMinor,
    provider: {
      goodwill: moreMinor - creditMinor,
      [method === 'dispute' ? 'disputes' : 'provider']: -moreMinor,
    },
  });
}

function isTopUp({ kind }: { kind: string }): boolean {
  return kind === 'top_up';
}
