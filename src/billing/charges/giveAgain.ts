import { record } from '../../events/index.ts';
import { statusOfOrganization } from '../../organizations/index.ts';
import { formatMoney, statement, type TxContext } from '../../platform/index.ts';
import { creditGranted } from '../events.ts';
import { lockInvoice } from '../invoices/payable.ts';
import { post } from '../ledger/ledger.ts';
import { addCredited, addReturned, chargeById } from './charge.ts';

interface Returned {
  amount_minor: number;
  /** How much of its charge it counted as, and what of it was our loss. */
  counted_minor: number;
  loss_minor: number;
}

const forgetReturn = statement<Returned, { driver: string; reference: string }>(
  'billing.forgetChargeReturn',
  `delete from charge_returns where driver = :driver and reference = :reference
   returning amount_minor, counted_minor, loss_minor`,
);
const failRefund = statement<never, { chargeId: number; reference: string }>(
  'billing.failDisputeRefund',
  `update refunds set state = 'failed' where charge_id = :chargeId and reference = :reference and method = 'dispute'`,
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
 * locked. The sale was undone, and stays so: the invoice has its credit note. What was our loss is none any more, and the
 * rest is the customer's, as credit, of which they are told; where they are gone it is nobody's, and makes up for losses.
 */
export async function giveAgain(tx: TxContext, chargeId: number, reference: string): Promise<void> {
  const charge = await tx.db.one(chargeById, { id: chargeId });
  const { driver, organization_id: organizationId, currency, invoice_id: invoiceId } = charge;
  const returned = await tx.db.maybe(forgetReturn, { driver, reference });
  if (returned === null) return;
  const { amount_minor: amountMinor, counted_minor: countedMinor, loss_minor: lossMinor } = returned;
  const isClosed = (await statusOfOrganization(tx, organizationId)) === 'closed';
  const creditMinor = isClosed ? 0 : amountMinor - lossMinor;
  await tx.db.run(failRefund, { chargeId, reference });
  await tx.db.run(addReturned, { id: chargeId, amountMinor: -countedMinor });
  await tx.db.run(addCredited, { id: chargeId, amountMinor: countedMinor });
  await tx.db.run(becameCredit, { invoiceId, chargeId, amountMinor: countedMinor });
  const description = `Dispute ${reference} of invoice ${invoiceId}, won after all`;
  await post(tx, {
    kind: 'dispute_won',
    ...{ organizationId, currency, invoiceId, description },
    creditMinor,
    provider: { provider: amountMinor, losses: creditMinor - amountMinor },
  });
  if (creditMinor === 0) return;
  const { user_id } = await tx.db.one(lockInvoice, { id: invoiceId });
  await record(tx, creditGranted, {
    subject: { type: 'organization', id: organizationId },
    organizationId,
    data: {
      ...{ user_id, currency, description, amount: formatMoney(creditMinor, currency) },
      ...{ invoice_id: invoiceId, invoice_was: 'disputed' },
    },
  });
}
