import { record } from '../../events/index.ts';
import {
  type Context,
  fail,
  formatMoney,
  newId,
  parseMoney,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { invoicePartReturned, invoiceRefunded } from '../events.ts';
import { inWords } from '../invoices/payable.ts';
import { readInvoice } from '../invoices/read.ts';
import { returnDeferred } from '../ledger/deferred.ts';
import { post } from '../ledger/ledger.ts';
import { returnPart } from './returnPart.ts';

export interface RefundableRow {
  id: number;
  organization_id: number;
  user_id: number | null;
  status: string;
  currency: string;
  tax_minor: number;
  total_minor: number;
  refunded_minor: number;
  paid_minor: number;
}

/** An invoice, its row locked, with what of its money can go back. */
export const lockRefundable = statement<RefundableRow, { id: number }>(
  'billing.lockRefundable',
  `select id, organization_id, user_id, status, currency, tax_minor, total_minor, refunded_minor,
     paid_minor
   from invoices where id = :id for no key update`,
);
const insertRefund = statement<
  never,
  {
    id: number;
    invoiceId: number;
    organizationId: number;
    method: string;
    amountMinor: number;
    taxMinor: number;
    currency: string;
    reason: string;
    userId: number | null;
    now: Date;
  }
>(
  'billing.insertRefund',
  `insert into refunds (id, invoice_id, organization_id, method, amount_minor, tax_minor, currency, reason, user_id,
     created_at)
   values (:id, :invoiceId, :organizationId, :method, :amountMinor, :taxMinor, :currency, :reason, :userId,
     :now)`,
);
const markRefunded = statement<never, { id: number; amountMinor: number; now: Date }>(
  'billing.markRefunded',
  `update invoices set refunded_minor = refunded_minor + :amountMinor, date_refunded = :now,
     status = case when refunded_minor + :amountMinor = total_minor then 'refunded' else 'partially_refunded'
       end
   where id = :id`,
);
const invoiceStatus = statement<{ status: string; coupon_id: number | null }, { id: number }>(
  'billing.invoiceStatus',
  'select status, coupon_id from invoices where id = :id',
);

const holdStatus = statement<{ id: number }, { id: number }>(
  'billing.holdStatus',
  'select id from invoices where id = :id for share',
);

export interface Refund {
  /** Default: all that was not given back yet. */
  amount?: string;
  reason: string;
  method: 'credit';
}

/**
 * Gives a paid invoice's money back to the customer's credit, in whole or in part: revenue and tax go down in the
 * proportion in which they went up. Other rooms take back what was never delivered
 * once all of it is given back. What was paid towards an invoice that is not paid in full goes back whole, and the invoice
 * stays open. `conflict` unless something was paid; `invalid_amount` for more than is left.
 */
export async function refundInvoice(ctx: Context, id: number, refund: Refund) {
  return transaction(ctx, 'billing.refund', async (tx) => {
    const invoice = await requireRow(tx, lockRefundable, { id });
    const amountMinor = amountOf(invoice, refund.amount);
    await (invoice.status === 'unpaid' ? giveBackPart : giveBack)(tx, invoice, amountMinor, refund);
    return readInvoice(tx, id);
  });
}

/** From here to the end of the transaction an invoice is neither paid nor cancelled, nor its money given back. */
export async function holdInvoice(tx: TxContext, id: number): Promise<void> {
  await tx.db.one(holdStatus, { id });
}

/** What an invoice is: `unpaid`, `paid`, `cancelled` … */
export async function statusOf(ctx: Context, id: number): Promise<string> {
  return (await ctx.db.one(invoiceStatus, { id })).status;
}

/** Whether all of an invoice's money was given back. */
export async function isRefunded(ctx: Context, id: number): Promise<boolean> {
  return (await statusOf(ctx, id)) === 'refunded';
}

/** Whether an invoice was paid, and not all of its money given back. */
export async function isPaid(ctx: Context, id: number): Promise<boolean> {
  const status = await statusOf(ctx, id);
  return status === 'paid' || status === 'partially_refunded';
}

/** The coupon an invoice was ordered with; null without one. */
export async function couponOf(ctx: Context, id: number): Promise<number | null> {
  return (await ctx.db.one(invoiceStatus, { id })).coupon_id;
}

function amountOf(invoice: RefundableRow, asked: string | undefined): number {
  const leftMinor = refundable(invoice);
  if (leftMinor === null) {
    throw fail('conflict', { message: `This invoice is ${invoice.status}, so nothing can be refunded` });
  }
  if (asked === undefined) return leftMinor;
  const amountMinor = parseMoney(asked, invoice.currency);
  if (amountMinor !== null && amountMinor > 0 && amountMinor <= leftMinor) return amountMinor;
  const left = inWords(leftMinor, invoice.currency);
  throw fail('invalid_amount', { message: `${left} of this invoice can be refunded` });
}

/** What can go back: of a free invoice nothing, which cancels what it ordered; null when nothing was paid. */
function refundable({ status, total_minor, refunded_minor, paid_minor }: RefundableRow): number | null {
  if (status === 'unpaid' && paid_minor > 0) return paid_minor;
  return status === 'paid' || status === 'partially_refunded' ? total_minor - refunded_minor : null;
}

async function giveBackPart(
  tx: TxContext,
  invoice: RefundableRow,
  amountMinor: number,
  { reason }: Refund,
): Promise<void> {
  const { id, organization_id: organizationId, currency, user_id } = invoice;
  const part = { id, organizationId, currency, amountMinor };
  const amount = await returnPart(tx, { ...part, why: 'which stays open' });
  await record(tx, invoicePartReturned, {
    subject: { type: 'invoice', id },
    organizationId,
    data: { user_id, amount, currency, reason },
  });
}

/**
 * Gives back an amount of an invoice that was paid: as credit, or, where what paid it was booked by mistake, to the bank
 * account that it never belonged to.
 */
export async function giveBack(
  tx: TxContext,
  invoice: RefundableRow,
  amountMinor: number,
  refund: { reason: string; method: 'credit' | 'taken_back' },
): Promise<void> {
  const { id, organization_id: organizationId, currency, refunded_minor: beforeMinor } = invoice;
  const taxMinor = taxWithin(invoice, beforeMinor + amountMinor) - taxWithin(invoice, beforeMinor);
  const now = tx.clock.now();
  const toBank = refund.method === 'taken_back';
  if (amountMinor > 0) {
    const netMinor = amountMinor - taxMinor;
    // What is owed still is given back first: it was never earned.
    const owedMinor = await returnDeferred(tx, id, netMinor);
    await post(tx, {
      kind: 'invoice_refunded',
      organizationId,
      currency,
      invoiceId: id,
      description: `Refund of invoice ${id}`,
      creditMinor: toBank ? 0 : amountMinor,
      provider: {
        deferred: owedMinor,
        revenue: netMinor - owedMinor,
        tax: taxMinor,
        bank: toBank ? -amountMinor : 0,
      },
    });
  }
  const { method, reason } = refund;
  const by = tx.actor.userId;
  await tx.db.run(insertRefund, {
    id: newId(),
    invoiceId: id,
    organizationId,
    method,
    amountMinor,
    taxMinor,
    currency,
    reason,
    userId: by,
    now,
  });
  await tx.db.run(markRefunded, { id, amountMinor, now });
  await record(tx, invoiceRefunded, {
    subject: { type: 'invoice', id },
    organizationId,
    data: {
      user_id: invoice.user_id,
      amount: formatMoney(amountMinor, currency),
      currency,
      method,
      reason,
      full: beforeMinor + amountMinor === invoice.total_minor,
    },
  });
}

/** The tax in the first so many cents that are given back: parts add up to the invoice's tax exactly. */
function taxWithin(invoice: RefundableRow, refundedMinor: number): number {
  if (invoice.total_minor === 0) return 0;
  const total = BigInt(invoice.total_minor);
  return Number((2n * BigInt(invoice.tax_minor) * BigInt(refundedMinor) + total) / (2n * total));
}
