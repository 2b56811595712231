import { record } from '../events/index.ts';
import {
  type Context,
  fail,
  formatMoney,
  isDuplicate,
  newId,
  type OrganizationContext,
  parseMoney,
  requireOwn,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import { creditGranted, invoicePaid } from './events.ts';
import type { NewInvoice } from './issue.ts';
import { post } from './ledger.ts';
import { readInvoice } from './read.ts';

const msPerDay = 86_400_000;

interface PayableRow {
  id: number;
  organization_id: number;
  user_id: number | null;
  kind: NewInvoice['kind'];
  status: string;
  currency: string;
  tax_minor: number;
  total_minor: number;
}

/** An invoice, its row locked: nobody else pays, cancels or refunds it meanwhile. */
export const lockInvoice = statement<PayableRow, { id: number }>(
  'billing.lockInvoice',
  `select id, organization_id, user_id, kind, status, currency, tax_minor, total_minor from invoices
   where id = :id for no key update`,
);

// Last before the commit, because every payment of the provider waits for this row.
const markPaid = statement<never, { id: number; now: Date; paidWithCreditMinor: number }>(
  'billing.markPaid',
  `with next as (update invoice_numbers set last = last + 1 returning last)
   update invoices set status = 'paid', date_paid = :now, paid_with_credit_minor = :paidWithCreditMinor,
     number = next.last
   from next where id = :id`,
);

const insertPayment = statement<
  never,
  {
    id: number;
    invoiceId: number;
    organizationId: number;
    method: 'credit' | 'bank_transfer' | 'none';
    amountMinor: number;
    currency: string;
    reference: string | null;
    receivedOn: string | null;
    now: Date;
  }
>(
  'billing.insertPayment',
  `insert into payments (id, invoice_id, organization_id, method, amount_minor, currency, reference, received_on,
     created_at)
   values (:id, :invoiceId, :organizationId, :method, :amountMinor, :currency, :reference, :receivedOn, :now)`,
);

interface Payment {
  method: 'credit' | 'bank_transfer' | 'none';
  reference: string | null;
  receivedOn: string | null;
}

/** Pays an invoice of the organization with its credit. `insufficient_credit`, `invoice_not_payable`. */
export async function payWithCredit(ctx: OrganizationContext, id: number) {
  return transaction(ctx, 'billing.pay', async (tx) => {
    const invoice = await requireOwn(tx, lockInvoice, { id });
    await settle(tx, invoice, { method: 'credit', reference: null, receivedOn: null });
    return readInvoice(tx, id);
  });
}

/**
 * Books a bank transfer that staff found on the account. It must be the whole amount; the same reference is
 * booked once, so entering a statement twice does no harm. One that came after its invoice was cancelled becomes
 * credit: the money is the customer's, and what it was for has been given back.
 */
export async function receiveTransfer(
  ctx: Context,
  id: number,
  transfer: { amount: string; reference: string; received_on?: string },
) {
  return transaction(ctx, 'billing.receiveTransfer', async (tx) => {
    const invoice = await requireRow(tx, lockInvoice, { id });
    const amountMinor = parseMoney(transfer.amount, invoice.currency);
    if (amountMinor !== invoice.total_minor) {
      const due = `${formatMoney(invoice.total_minor, invoice.currency)} ${invoice.currency}`;
      throw fail('payment_mismatch', {
        message: `${due} are due; enter the amount that was received for this invoice`,
      });
    }
    const receivedOn = dayReceived(tx, transfer.received_on);
    const payment: Payment = { method: 'bank_transfer', reference: transfer.reference, receivedOn };
    const isLate = invoice.status === 'cancelled' && amountMinor > 0;
    await (isLate ? keepAsCredit(tx, invoice, payment) : settle(tx, invoice, payment));
    const credited = isLate ? formatMoney(amountMinor, invoice.currency) : null;
    return { ...(await readInvoice(tx, id)), credited };
  });
}

/** Pays an invoice that asks for nothing, in the transaction that issued it. */
export async function settleFree(tx: TxContext, id: number): Promise<void> {
  const invoice = await requireRow(tx, lockInvoice, { id });
  if (invoice.total_minor !== 0) throw new Error(`invoice ${id} is not free`);
  await settle(tx, invoice, { method: 'none', reference: null, receivedOn: null });
}

function dayReceived(tx: TxContext, told: string | undefined): string {
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  const now = tx.clock.now().getTime();
  // Where the bank is, it may be tomorrow already.
  if (told === undefined || told <= day(now + msPerDay)) return told ?? day(now);
  throw fail('invalid_request', {
    details: [{ field: 'received_on', message: 'must not be in the future' }],
  });
}

async function settle(tx: TxContext, invoice: PayableRow, payment: Payment): Promise<void> {
  if (invoice.status !== 'unpaid') {
    throw fail('invoice_not_payable', { message: `This invoice is ${invoice.status}, so it cannot be paid` });
  }
  const { organization_id: organizationId, currency, total_minor: totalMinor, tax_minor: taxMinor } = invoice;
  const fromCredit = payment.method === 'credit' ? totalMinor : 0;
  if (totalMinor > 0) {
    await post(tx, {
      kind: 'invoice_paid',
      organizationId,
      currency,
      invoiceId: invoice.id,
      description: `Invoice ${invoice.id}`,
      creditMinor: -fromCredit,
      provider: { bank: totalMinor - fromCredit, revenue: -(totalMinor - taxMinor), tax: -taxMinor },
    });
  }
  await writePayment(tx, invoice, payment);
  await record(tx, invoicePaid, {
    subject: { type: 'invoice', id: invoice.id },
    organizationId,
    data: {
      user_id: invoice.user_id,
      kind: invoice.kind,
      method: payment.method,
      currency,
      total: formatMoney(totalMinor, currency),
    },
  });
  await tx.db.run(markPaid, { id: invoice.id, now: tx.clock.now(), paidWithCreditMinor: fromCredit });
}

async function keepAsCredit(tx: TxContext, invoice: PayableRow, payment: Payment): Promise<void> {
  const { id, organization_id: organizationId, currency, total_minor: totalMinor } = invoice;
  const description = `Bank transfer for invoice ${id}, which was cancelled before`;
  await writePayment(tx, invoice, payment);
  await post(tx, {
    kind: 'transfer_credited',
    organizationId,
    currency,
    invoiceId: id,
    description,
    creditMinor: totalMinor,
    provider: { bank: totalMinor },
  });
  await record(tx, creditGranted, {
    subject: { type: 'organization', id: organizationId },
    organizationId,
    data: {
      user_id: invoice.user_id,
      amount: formatMoney(totalMinor, currency),
      currency,
      description,
      invoice_id: id,
    },
  });
}

async function writePayment(tx: TxContext, invoice: PayableRow, payment: Payment): Promise<void> {
  try {
    await tx.db.run(insertPayment, {
      id: newId(),
      invoiceId: invoice.id,
      organizationId: invoice.organization_id,
      method: invoice.total_minor === 0 ? 'none' : payment.method,
      amountMinor: invoice.total_minor,
      currency: invoice.currency,
      reference: payment.reference,
      receivedOn: payment.receivedOn,
      now: tx.clock.now(),
    });
  } catch (error) {
    if (!isDuplicate(error, 'payments_reference')) throw error;
    throw fail('conflict', {
      message: `A transfer with the reference ${payment.reference} is booked already`,
      cause: error,
    });
  }
}
