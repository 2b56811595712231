import { record } from '../../events/index.ts';
import { formatMoney, requireRow, statement, type TxContext } from '../../platform/index.ts';
import { creditGranted } from '../events.ts';
import { post } from '../ledger/ledger.ts';
import { countAgain } from '../payments/countAgain.ts';
import { lockRefundable, type RefundableRow, shareOfTax } from '../payments/refund.ts';
import { sellsService, shareOfUndone } from '../payments/rest.ts';
import { addCredited, addReturned, chargeById } from './charge.ts';

interface Returned {
  amount_minor: number;
  /** How much of its charge it counted as. */
  counted_minor: number;
  /** What of it was our loss; null of an old one, of which nobody knows any more. */
  loss_minor: number | null;
  /** What of it had been credit that was given up, beside what its refund says. */
  given_up_minor: number;
  /** Whether it was written down what was undone with it. */
  is_told: boolean;
}

const forgetReturn = statement<Returned, { driver: string; reference: string }>(
  'billing.forgetChargeReturn',
  `delete from charge_returns where driver = :driver and reference = :reference
   returning amount_minor, counted_minor, loss_minor, given_up_minor, is_told`,
);
// Its name is free again: what is lost once more is another refund.
const failRefund = statement<
  { amount_minor: number; tax_minor: number; given_up_minor: number },
  { chargeId: number; reference: string }
>(
  'billing.failDisputeRefund',
  `update refunds set state = 'failed', reference = null
   where charge_id = :chargeId and reference = :reference and method = 'dispute' and state = 'done'
   returning amount_minor, tax_minor, given_up_minor`,
);
const setUnclear = statement<never, { driver: string; reference: string; minor: number }>(
  'billing.setUnclear',
  'update disputes set unclear_minor = unclear_minor + :minor where driver = :driver and reference = :reference',
);
// What had been paid towards an invoice that was open became due again then; now it is credit.
const becameCredit = statement<never, { invoiceId: number; chargeId: number; amountMinor: number }>(
  'billing.chargedPartBecameCredit',
  `with payment as (select id, least(taken_back_minor, :amountMinor) as minor from payments
     where invoice_id = :invoiceId and charge_id = :chargeId and taken_back_minor > 0 order by id limit 1),
   taken as (update payments p set taken_back_minor = p.taken_back_minor - payment.minor from payment
     where p.id = payment.id)
   update invoices set credited_minor = credited_minor + payment.minor from payment where invoices.id = :invoiceId`,
);

/**
 * Money that a bank had taken is with us again, for the provider says that the dispute was won after all; the invoice's row is
 * locked, and its organization before it. What of the sale was undone stays so, with its credit note, and what paid for it is
 * the customer's, as credit, of which they are told. What was had, or goes on, is paid again. What was our loss is none any
 * more, and what had been given up with their account is so again. What else is theirs waits for staff to give it back where
 * they are gone. Of a return so old that its books do not say whose it is, staff decides.
 */
export async function giveAgain(tx: TxContext, chargeId: number, reference: string): Promise<void> {
  const charge = await tx.db.one(chargeById, { id: chargeId });
  const { driver, organization_id: organizationId, currency, invoice_id: invoiceId } = charge;
  const returned = await tx.db.maybe(forgetReturn, { driver, reference });
  if (returned === null) return;
  const { amount_minor: amountMinor, counted_minor: countedMinor } = returned;
  const invoice = await requireRow(tx, lockRefundable, { id: invoiceId });
  const refund = (await tx.db.maybe(failRefund, { chargeId, reference })) ?? nothing;
  const { paidMinor, unclearMinor } = await sharesOf(tx, invoice, { returned, refund });
  const restMinor = amountMinor - paidMinor - unclearMinor;
  const { given_up_minor: givenUpMinor } = returned;
  const lossMinor = returned.loss_minor ?? 0;
  const creditMinor = restMinor - lossMinor - givenUpMinor;
  await tx.db.run(addReturned, { id: chargeId, amountMinor: -countedMinor });
  // What pays for the invoice again is no credit.
  await tx.db.run(addCredited, { id: chargeId, amountMinor: countedMinor - paidMinor });
  await tx.db.run(becameCredit, { invoiceId, chargeId, amountMinor: countedMinor });
  if (unclearMinor > 0) await tx.db.run(setUnclear, { driver, reference, minor: unclearMinor });
  const description = `Dispute ${reference} of invoice ${invoiceId}, won after all`;
  if (paidMinor > 0) {
    const all = { amountMinor: refund.amount_minor, taxMinor: refund.tax_minor };
    const taxMinor = shareOfTax(all, paidMinor);
    const sum = { amountMinor: paidMinor, taxMinor, givenUpMinor: refund.given_up_minor };
    await countAgain(tx, invoice, sum, 'The bank gave back what it had taken');
  }
  if (restMinor + unclearMinor > 0)
    await post(tx, {
      kind: 'dispute_won',
      ...{ organizationId, currency, invoiceId, description },
      creditMinor,
      provider: {
        provider: restMinor + unclearMinor,
        given_up: -givenUpMinor,
        losses: -lossMinor - unclearMinor,
      },
    });
  if (creditMinor === 0) return;
  await record(tx, creditGranted, {
    subject: { type: 'organization', id: organizationId },
    organizationId,
    data: {
      ...{ user_id: invoice.user_id, currency, description, amount: formatMoney(creditMinor, currency) },
      ...{ invoice_id: invoiceId, invoice_was: 'disputed' },
    },
  });
}

const nothing = { amount_minor: 0, tax_minor: 0, given_up_minor: 0 };

interface Again {
  returned: Returned;
  /** What the invoice was refunded by. */
  refund: typeof nothing;
}

/** What of the money pays for the invoice again, and of what nobody knows whose it is. */
async function sharesOf(
  tx: TxContext,
  invoice: RefundableRow,
  { returned, refund: { amount_minor: ofInvoiceMinor } }: Again,
): Promise<{ paidMinor: number; unclearMinor: number }> {
  const isSale = sellsService.includes(invoice.kind);
  // Any part of it may have been our loss.
  if (returned.loss_minor === null) return { paidMinor: 0, unclearMinor: returned.amount_minor };
  if (isSale && !returned.is_told) return { paidMinor: 0, unclearMinor: ofInvoiceMinor };
  return { paidMinor: ofInvoiceMinor - (await shareOfUndone(tx, invoice, ofInvoiceMinor)), unclearMinor: 0 };
}
