import { record } from '../../events/index.ts';
import {
  AppError,
  type Context,
  fail,
  formatMoney,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { transferTakenBack } from '../events.ts';
import { inWords } from '../invoices/payable.ts';
import { givenUp } from '../ledger/givenUp.ts';
import { post } from '../ledger/ledger.ts';
import { giveBack, lockRefundable, type RefundableRow } from './refund.ts';
import { giveBackRest } from './rest.ts';
import { readTransfer } from './transferList.ts';

interface Booked {
  id: number;
  organization_id: number;
  amount_minor: number;
  currency: string;
  reference: string;
  created_at: Date;
  taken_back_at: Date | null;
}

const lockTransfer = statement<Booked, { id: number }>(
  'billing.lockTransfer',
  `select id, organization_id, amount_minor, currency, reference, created_at, taken_back_at from transfers where id = :id
   for update`,
);
const lockPayer = statement<{ id: number }, { id: number }>(
  'billing.lockPayerOfTransfer',
  `select o.id from organizations o join transfers t on t.organization_id = o.id where t.id = :id
   for no key update of o`,
);
const paymentsOf = statement<
  { id: number; invoice_id: number; amount_minor: number },
  { transferId: number }
>(
  'billing.paymentsOfTransfer',
  'select id, invoice_id, amount_minor from payments where transfer_id = :transferId order by invoice_id',
);
const markTakenBack = statement<never, { id: number; now: Date; userId: number | null; reason: string }>(
  'billing.markTakenBack',
  `update transfers set taken_back_at = :now, taken_back_by = :userId, taken_back_why = :reason where id = :id`,
);
const takeOff = statement<
  never,
  { invoiceId: number; paymentId: number; partsMinor: number; creditedMinor: number; amountMinor: number }
>(
  'billing.takeOffPayment',
  `with payment as (update payments set taken_back_minor = :amountMinor where id = :paymentId)
   update invoices set paid_minor = paid_minor - :partsMinor, credited_minor = credited_minor - :creditedMinor
   where id = :invoiceId`,
);
const reopenEntry = statement<never, { transferId: number; outcome: string }>(
  'billing.reopenBankEntry',
  `update bank_entries set state = 'open', transfer_id = null, organization_id = null, outcome = :outcome
   where transfer_id = :transferId`,
);

/**
 * Takes back a transfer that was booked by mistake: the money was never this organization's. What it paid in full counts
 * as given back, whatever else paid for it becomes credit, and what was ordered with it and is not delivered yet is cancelled;
 * what was paid in part is due again;
 * what became credit is taken from the credit. Its reference can be booked again, and the entry of the statement that
 * it came from is open again. `not_found`; `conflict` for one that is taken back already, or whose money was spent.
 */
export async function takeBackTransfer(ctx: Context, id: number, reason: string) {
  return transaction(ctx, 'billing.takeBackTransfer', async (tx) => {
    // In the order of every invoice: the organization first, whose documents a refund numbers.
    await tx.db.maybe(lockPayer, { id });
    const transfer = await tx.db.maybe(lockTransfer, { id });
    if (transfer === null) throw fail('not_found');
    if (transfer.taken_back_at !== null)
      throw fail('conflict', { message: 'This transfer is taken back already' });
    let creditMinor = transfer.amount_minor;
    const payments = await tx.db.many(paymentsOf, { transferId: id });
    for (const payment of payments) creditMinor -= await takeFromInvoice(tx, transfer, payment, reason);
    for (const payment of payments) await giveBackRest(tx, payment.invoice_id);
    if (creditMinor > 0) await takeFromCredit(tx, transfer, creditMinor, reason);
    await tx.db.run(markTakenBack, { id, now: tx.clock.now(), userId: tx.actor.userId, reason });
    await tx.db.run(reopenEntry, { transferId: id, outcome: `It was booked by mistake: ${reason}` });
    const { organization_id: organizationId, amount_minor, currency, reference } = transfer;
    await record(tx, transferTakenBack, {
      subject: { type: 'transfer', id },
      organizationId,
      data: { user_id: null, amount: formatMoney(amount_minor, currency), currency, reference, reason },
    });
    return readTransfer(tx, id);
  });
}

interface PaymentRow {
  id: number;
  invoice_id: number;
  amount_minor: number;
}

/** What of a payment its invoice still has; the rest became credit. */
async function takeFromInvoice(
  tx: TxContext,
  transfer: Booked,
  payment: PaymentRow,
  reason: string,
): Promise<number> {
  const invoice = await tx.db.one(lockRefundable, { id: payment.invoice_id });
  if (invoice.status !== 'unpaid' && invoice.status !== 'cancelled') {
    const amountMinor = Math.min(payment.amount_minor, invoice.total_minor - invoice.refunded_minor);
    if (amountMinor > 0)
      await giveBack(tx, invoice, amountMinor, { reason, method: 'taken_back' }).catch(
        refuseSpent(amountMinor, transfer.currency),
      );
    return amountMinor;
  }
  const partsMinor = Math.min(payment.amount_minor, invoice.paid_minor);
  await tx.db.run(takeOff, {
    invoiceId: invoice.id,
    paymentId: payment.id,
    partsMinor,
    creditedMinor: payment.amount_minor - partsMinor,
    amountMinor: payment.amount_minor,
  });
  if (partsMinor > 0) await takeParts(tx, transfer, invoice, partsMinor);
  return partsMinor;
}

function takeParts(
  tx: TxContext,
  transfer: Booked,
  { id }: RefundableRow,
  amountMinor: number,
): Promise<number> {
  return post(tx, {
    kind: 'transfer_taken_back',
    organizationId: transfer.organization_id,
    currency: transfer.currency,
    invoiceId: id,
    description: `Bank transfer ${transfer.reference}, booked by mistake`,
    creditMinor: 0,
    provider: { parts: amountMinor, bank: -amountMinor },
  });
}

async function takeFromCredit(
  tx: TxContext,
  { organization_id: organizationId, currency, reference, created_at: cameAt }: Booked,
  amountMinor: number,
  reason: string,
): Promise<void> {
  const givenUpMinor = Math.min(amountMinor, await givenUp(tx, { organizationId, currency, cameAt }));
  await post(tx, {
    kind: 'transfer_taken_back',
    organizationId,
    currency,
    description: `Bank transfer ${reference}, booked by mistake: ${reason}`,
    creditMinor: givenUpMinor - amountMinor,
    provider: { given_up: givenUpMinor, bank: -amountMinor },
  }).catch(refuseSpent(amountMinor, currency));
}

/** Also of an invoice that bought credit: what is not there any more cannot be taken. */
function refuseSpent(amountMinor: number, currency: string) {
  return (error: unknown): never => {
    if (!(error instanceof AppError) || error.code !== 'insufficient_credit') throw error;
    const amount = inWords(amountMinor, currency);
    const message = `${amount} of this transfer became credit, and the customer has less: it was spent. Settle it with the customer first`;
    throw fail('conflict', { message, cause: error });
  };
}
