import { record } from '../../events/index.ts';
import {
  type Context,
  forMany,
  formatMoney,
  newId,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { invoiceRefunded } from '../events.ts';
import { issueCreditNote } from '../invoices/creditNote.ts';
import type { InvoiceKind } from '../invoices/kind.ts';
import { returnDeferred } from '../ledger/deferred.ts';
import { givenUp } from '../ledger/givenUp.ts';
import { post } from '../ledger/ledger.ts';
import { taxWithin } from './taxWithin.ts';

export interface RefundableRow {
  id: number;
  number: string | null;
  organization_id: number;
  user_id: number | null;
  kind: InvoiceKind;
  status: string;
  currency: string;
  tax_minor: number;
  total_minor: number;
  refunded_minor: number;
  paid_minor: number;
  tax_corrected_minor: number;
}

/** An invoice, its row locked, with what of its money can go back. */
export const lockRefundable = statement<RefundableRow, { id: number }>(
  'billing.lockRefundable',
  `select id, number, organization_id, user_id, kind, status, currency, tax_minor, total_minor, refunded_minor,
     paid_minor, tax_corrected_minor
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
    givenUpMinor: number;
    chargeId: number | null;
    reference: string | null;
    state: 'pending' | 'done';
    userId: number | null;
    now: Date;
  }
>(
  'billing.insertRefund',
  `insert into refunds (id, invoice_id, organization_id, method, amount_minor, tax_minor, given_up_minor, currency, reason,
     charge_id, reference, state, user_id, created_at)
   values (:id, :invoiceId, :organizationId, :method, :amountMinor, :taxMinor, :givenUpMinor, :currency, :reason,
     :chargeId, :reference, :state, :userId, :now)`,
);
const markRefunded = statement<never, { id: number; amountMinor: number; now: Date }>(
  'billing.markRefunded',
  `update invoices set refunded_minor = refunded_minor + :amountMinor, date_refunded = :now,
     status = case when refunded_minor + :amountMinor = total_minor then 'refunded' else 'partially_refunded'
       end
   where id = :id`,
);
const invoiceStatus = forMany(
  statement<{ status: string; coupon_id: number | null }, { id: number }>(
    'billing.invoiceStatus',
    'select status, coupon_id from invoices where id = :id',
  ),
  { id: 'bigint' },
);

const holdStatus = forMany(
  statement<{ id: number }, { id: number }>(
    'billing.holdStatus',
    'select id from invoices where id = :id for share',
  ),
  { id: 'bigint' },
);

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

const takenBack = statement<{ is_so: boolean }, { id: number; serviceId: number | null }>(
  'billing.wasTakenBack',
  `select exists (select 1 from refunds r where r.invoice_id = i.id and r.amount_minor > 0
       and (r.method = 'taken_back' or r.method = 'dispute' and r.state <> 'failed'))
     or case when :serviceId::bigint is null then i.undone_services <> '{}'
       else :serviceId = any(i.undone_services) end as is_so
   from invoices i where i.id = :id`,
);

/**
 * Whether a bank took back money that had paid an invoice, or it was never its customer's; also where the bank has given it
 * again, of what was undone by then, or of one service of that.
 */
export async function wasTakenBack(
  ctx: Context,
  id: number,
  serviceId: number | null = null,
): Promise<boolean> {
  return (await ctx.db.one(takenBack, { id, serviceId })).is_so;
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

const orderer = statement<{ user_id: number | null }, { id: number }>(
  'billing.ordererOf',
  'select user_id from invoices where id = :id',
);

/** Who ordered what an invoice is for; null when it is not known. */
export async function ordererOf(ctx: Context, id: number): Promise<number | null> {
  return (await ctx.db.one(orderer, { id })).user_id;
}

/**
 * Where money goes back to: the customer's credit, where it came from (`original`), or the bank that a customer told
 * that a payment was none of theirs (`dispute`), or our own bank account, where what paid was booked by mistake
 * (`taken_back`).
 */
export type RefundMethod = 'credit' | keyof typeof accountOf;

/** Where the money lay that goes. */
const accountOf = { original: 'provider', dispute: 'disputes', taken_back: 'bank' } as const;

/** Money on its way back. Without a charge it is credit. */
export interface GoingBack {
  method: RefundMethod;
  reason: string;
  chargeId?: number;
  /** The payment provider's name for it, where the provider has given it back already. */
  reference?: string;
  /** What it is given back for, where that is not the invoice as a whole. */
  services?: readonly number[];
}

/** So much of an invoice, and the part of it that is tax. */
export interface Sum {
  amountMinor: number;
  taxMinor: number;
}

const returnedTax = statement<{ minor: number }, { id: number }>(
  'billing.returnedTax',
  'select coalesce(sum(tax_minor), 0)::bigint as minor from refunds where invoice_id = :id',
);

/** What can still be given back of a paid invoice, whose row is locked. */
export async function leftOf(tx: TxContext, invoice: RefundableRow): Promise<Sum> {
  const { minor } = await tx.db.one(returnedTax, { id: invoice.id });
  const amountMinor = invoice.total_minor - invoice.refunded_minor;
  return { amountMinor, taxMinor: invoice.tax_minor - minor };
}

/** An amount of a paid invoice with the tax in it: parts add up to the invoice's tax exactly, whatever they were before. */
export async function withTax(tx: TxContext, invoice: RefundableRow, amountMinor: number): Promise<Sum> {
  const left = await leftOf(tx, invoice);
  const returnedMinor = invoice.tax_minor - left.taxMinor;
  const byNow = taxWithin(invoice, invoice.refunded_minor + amountMinor);
  const netLeftMinor = left.amountMinor - left.taxMinor;
  const least = Math.max(0, amountMinor - netLeftMinor);
  const most = Math.min(amountMinor, left.taxMinor);
  return { amountMinor, taxMinor: Math.min(most, Math.max(least, byNow - returnedMinor)) };
}

/** The tax in a part of a sum, rounded half up; all of it in the whole. */
export function shareOfTax({ amountMinor, taxMinor }: Sum, partMinor: number): number {
  return taxWithin({ total_minor: amountMinor, tax_minor: taxMinor, tax_corrected_minor: 0 }, partMinor);
}

/**
 * Gives back an amount of an invoice that was paid, whose row is locked, and corrects it by a credit note. Returns the
 * refund's id.
 */
export async function giveBack(
  tx: TxContext,
  invoice: RefundableRow,
  amountMinor: number,
  back: GoingBack,
): Promise<number> {
  const sum = await withTax(tx, invoice, amountMinor);
  const refundId = await moveBack(tx, invoice, sum, back);
  // What was paid has a number, and so a document that this one takes back.
  if (amountMinor > 0) await issueCreditNote(tx, { invoiceId: invoice.id, ...sum, reason: back.reason });
  return refundId;
}

/** Moves money of a paid invoice back; the credit note is the caller's. Returns the refund's id. */
export async function moveBack(
  tx: TxContext,
  invoice: RefundableRow,
  { amountMinor, taxMinor }: Sum,
  back: GoingBack,
): Promise<number> {
  const { id, organization_id: organizationId, currency, refunded_minor: beforeMinor } = invoice;
  const now = tx.clock.now();
  const refundId = newId();
  const { method, reason, chargeId = null, reference = null } = back;
  const creditMinor = method === 'credit' ? amountMinor : 0;
  // What was credit for money stops being it when the money goes back.
  const isTopUp = invoice.kind === 'top_up';
  const givenUpMinor = isTopUp ? Math.min(amountMinor, await givenUp(tx, { organizationId, currency })) : 0;
  if (amountMinor > 0) {
    const netMinor = amountMinor - taxMinor;
    // What is owed still is given back first: it was never earned.
    const owedMinor = await returnDeferred(tx, id, netMinor, back.services);
    await post(tx, {
      kind: 'invoice_refunded',
      organizationId,
      currency,
      invoiceId: id,
      description: `Refund of invoice ${id}`,
      creditMinor: isTopUp ? givenUpMinor - amountMinor : creditMinor,
      provider: {
        given_up: givenUpMinor,
        deferred: owedMinor,
        revenue: isTopUp ? 0 : netMinor - owedMinor,
        tax: isTopUp ? 0 : taxMinor,
        ...(method === 'credit' ? {} : { [accountOf[method]]: -amountMinor }),
      },
    });
  }
  const by = tx.actor.userId;
  await tx.db.run(insertRefund, {
    id: refundId,
    invoiceId: id,
    organizationId,
    method,
    amountMinor,
    taxMinor,
    givenUpMinor,
    currency,
    reason,
    chargeId,
    reference,
    state: method === 'original' && reference === null ? 'pending' : 'done',
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
  return refundId;
}
