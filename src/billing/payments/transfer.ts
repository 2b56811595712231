import { requireSold } from '../../catalog/index.ts';
import { record } from '../../events/index.ts';
import { organizationExists, ownerOf } from '../../organizations/index.ts';
import {
  type Context,
  fail,
  formatMoney,
  msPerDay,
  newId,
  parseMoney,
  refuse,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { requireAmount } from '../amount.ts';
import { creditGranted } from '../events.ts';
import { lockForCorrection } from '../invoices/creditNote.ts';
import { dueOf, inWords, lockInvoice } from '../invoices/payable.ts';
import { readInvoice } from '../invoices/read.ts';
import { post } from '../ledger/ledger.ts';
import { lockForTax } from '../tax/taxOf.ts';
import { type Part, restOf } from './parts.ts';
import { keepAsCredit, numberPaid, type Payment, payPart, payRest, requireUnpaid } from './settle.ts';
import { type NamedPart, splitAsNamed, splitOverUnpaid } from './split.ts';

/** Two bookings of the same amount so many days apart, under two references, may be of one transfer. */
export const daysApart = 10;

interface TransferRow {
  id: number;
  organization_id: number;
  amount_minor: number;
  currency: string;
  reference: string;
  received_on: string;
  created_at: Date;
}

const insertTransfer = statement<
  TransferRow,
  {
    id: number;
    organizationId: number;
    amountMinor: number;
    currency: string;
    reference: string;
    receivedOn: string;
    userId: number | null;
    now: Date;
  }
>(
  'billing.insertTransfer',
  `insert into transfers (id, organization_id, amount_minor, currency, reference, received_on, user_id, created_at)
   values (:id, :organizationId, :amountMinor, :currency, :reference, :receivedOn, :userId, :now)
   on conflict (reference) where taken_back_at is null do nothing
   returning id, organization_id, amount_minor, currency, reference, received_on, created_at`,
);
const bookedAs = statement<TransferRow & { invoice_ids: number[] }, { reference: string }>(
  'billing.bookedAs',
  `select t.id, t.organization_id, t.amount_minor, t.currency, t.reference, t.received_on, t.created_at,
     (select coalesce(jsonb_agg(p.invoice_id order by p.created_at, p.id), '[]') from payments p
       where p.transfer_id = t.id) as invoice_ids
   from transfers t where t.reference = :reference and t.taken_back_at is null`,
);

const broughtByStatement = statement<
  { reference: string; received_on: string; statement: string },
  { organizationId: number; amountMinor: number; currency: string; day: string; reference: string }
>(
  'billing.broughtByStatement',
  `select t.reference, t.received_on, s.name as statement
   from transfers t join bank_entries e on e.transfer_id = t.id join bank_statements s on s.id = e.statement_id
   where t.organization_id = :organizationId and t.amount_minor = :amountMinor and t.currency = :currency
     and t.taken_back_at is null and abs(t.received_on - :day::date) <= ${daysApart} and t.reference <> :reference
   order by t.created_at desc limit 1`,
);

/** What staff reads off the bank statement. */
interface Statement {
  amount: string;
  reference: string;
  received_on?: string;
  /** Whether it is booked although a statement brought one like it. */
  is_another?: boolean;
}

/**
 * Books a bank transfer of an organization. It pays the invoices that staff names, or else what is due, the oldest
 * first; an invoice may be paid in part, and what no invoice takes is credit. The same reference is booked once, so
 * entering a statement twice does no harm. `currency_not_sold`, `invalid_amount`, `conflict`, and what {@link splitAsNamed} refuses.
 */
export async function bookTransfer(
  ctx: Context,
  organizationId: number,
  transfer: Statement & { currency: string; invoices?: NamedPart[] },
) {
  return transaction(ctx, 'billing.bookTransfer', async (tx) => {
    if (!(await organizationExists(tx, organizationId))) throw fail('not_found');
    const { currency, invoices } = transfer;
    await requireSold(tx, currency);
    const amountMinor = requireAmount(transfer.amount, currency);
    const { reference, received_on: receivedOn } = transfer;
    await lockForTax(tx, organizationId);
    await requireNew(tx, { organizationId, amountMinor, currency }, transfer);
    const money = { organizationId, amountMinor, currency, reference, receivedOn };
    const { transfer: booked, parts } = await bookMoney(tx, { ...money, ...(invoices && { invoices }) });
    const paid = await Promise.all(parts.map(({ invoice }) => readInvoice(tx, invoice.id)));
    return { transfer: view(booked, parts), invoices: paid.map(({ invoice }) => invoice) };
  });
}

/** Money that came to the bank account for an organization. */
interface Money {
  organizationId: number;
  amountMinor: number;
  currency: string;
  reference: string;
  receivedOn: string | undefined;
  invoices?: NamedPart[];
}

export interface BookedTransfer {
  transfer: TransferRow;
  /** Each with what is due of its invoice afterwards. */
  parts: (Part & { leftMinor: number })[];
  /** What was more than due. */
  creditedMinor: number;
}

/** Books money in the caller's transaction, of which giving paid invoices their numbers is the last. */
export async function bookMoney(tx: TxContext, { invoices, ...money }: Money): Promise<BookedTransfer> {
  // In the order of every invoice: the organization first, which is not closed meanwhile.
  if (!(await lockForTax(tx, money.organizationId))) throw fail('not_found');
  const transfer = await write(tx, money);
  const parts = await (invoices ? splitAsNamed(tx, money, invoices) : splitOverUnpaid(tx, money));
  await creditRest(tx, transfer, parts);
  await payAll(tx, transfer, parts);
  return {
    transfer,
    parts: parts.map((part) => ({ ...part, leftMinor: dueOf(part.invoice) - part.amountMinor })),
    creditedMinor: restOf(money.amountMinor, parts),
  };
}

/**
 * Books a bank transfer that is exactly what one invoice asks for; of another amount it is refused, as a slip of
 * the pen. One that came after its invoice was cancelled becomes credit.
 */
export async function receiveTransfer(ctx: Context, id: number, transfer: Statement) {
  return transaction(ctx, 'billing.receiveTransfer', async (tx) => {
    await lockForCorrection(tx, id);
    const invoice = await requireRow(tx, lockInvoice, { id });
    const { organization_id: organizationId, currency, total_minor: totalMinor } = invoice;
    const elsewhere = `POST /staff/organizations/${organizationId}/transfers`;
    const isLate = invoice.status === 'cancelled';
    const dueMinor = invoice.status === 'unpaid' ? dueOf(invoice) : totalMinor;
    const amountMinor = parseMoney(transfer.amount, currency);
    if (amountMinor === null || amountMinor !== dueMinor) {
      throw fail('payment_mismatch', {
        message: `${inWords(dueMinor, currency)} are due; book a transfer of another amount with ${elsewhere}`,
      });
    }
    if (!isLate || amountMinor === 0)
      requireUnpaid(invoice, `; what came for it becomes credit with ${elsewhere}`);
    await requireNew(tx, { organizationId, amountMinor, currency }, transfer);
    const { reference, received_on: receivedOn } = transfer;
    const booked = await write(tx, { organizationId, amountMinor, currency, reference, receivedOn });
    await payAll(tx, booked, [{ invoice, amountMinor }]);
    return { ...(await readInvoice(tx, id)), credited: isLate ? formatMoney(amountMinor, currency) : null };
  });
}

/**
 * What a bank statement has brought is not booked a second time by hand, where people write what the customer wrote, or a number of
 * theirs, for its reference. The organization is locked.
 */
async function requireNew(
  tx: TxContext,
  money: { organizationId: number; amountMinor: number; currency: string },
  { reference, received_on: told, is_another: isAnother }: Statement,
): Promise<void> {
  if (isAnother) return;
  const day = dayReceived(tx, told);
  const before = await tx.db.maybe(broughtByStatement, { ...money, day, reference: plainly(reference) });
  if (before === null) return;
  throw fail('conflict', {
    message:
      `Statement ${before.statement} brought as much of this organization on ${before.received_on}, booked as ` +
      `${before.reference}. If this is another transfer, say so with is_another`,
  });
}

async function write(tx: TxContext, transfer: Omit<Money, 'invoices'>): Promise<TransferRow> {
  const reference = plainly(transfer.reference);
  if (reference === '') throw refuse('reference', "must be the bank's reference");
  const { organizationId, currency, amountMinor } = transfer;
  const receivedOn = dayReceived(tx, transfer.receivedOn);
  const by = { userId: tx.actor.userId, now: tx.clock.now() };
  const row = { id: newId(), organizationId, amountMinor, currency, reference, receivedOn, ...by };
  // One that is booked at this moment is waited for.
  return (await tx.db.maybe(insertTransfer, row)) ?? (await refuseAgain(tx, reference));
}

/** As people read it: a reference that was copied from elsewhere, with what nobody sees in it, is the same one. */
function plainly(reference: string): string {
  const visible = reference.normalize('NFKC').replace(/\p{Cf}/gu, '');
  return visible.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

async function refuseAgain(tx: TxContext, reference: string): Promise<never> {
  const before = await tx.db.one(bookedAs, { reference });
  const { amount_minor: minor, currency, received_on: day, invoice_ids: invoices } = before;
  const of = invoices.length > 0 ? `, for invoice ${invoices.join(', ')}` : '';
  throw fail('conflict', {
    message:
      `A transfer with the reference ${reference} is booked already: ${inWords(minor, currency)} of ${day} ` +
      `of organization ${before.organization_id}${of}`,
  });
}

function dayReceived(tx: TxContext, told: string | undefined): string {
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  const now = tx.clock.now().getTime();
  // Where the bank is, it may be tomorrow already.
  if (told === undefined || told <= day(now + msPerDay)) return told ?? day(now);
  throw refuse('received_on', 'must not be in the future');
}

async function payAll(tx: TxContext, transfer: TransferRow, parts: readonly Part[]): Promise<void> {
  const payment: Payment = {
    method: 'bank_transfer',
    transferId: transfer.id,
    chargeId: null,
    reference: transfer.reference,
    receivedOn: transfer.received_on,
  };
  const paid: Part[] = [];
  for (const part of parts) {
    const { invoice, amountMinor } = part;
    if (invoice.status === 'cancelled') await keepAsCredit(tx, invoice, amountMinor, payment);
    else if (amountMinor < dueOf(invoice)) await payPart(tx, invoice, amountMinor, payment);
    else {
      await payRest(tx, invoice, payment);
      paid.push(part);
    }
  }
  for (const { invoice } of paid) await numberPaid(tx, invoice, payment);
}

/** What was more than due is the organization's credit, of which it is told. */
async function creditRest(tx: TxContext, transfer: TransferRow, parts: readonly Part[]): Promise<void> {
  const { organization_id: organizationId, currency, reference } = transfer;
  const restMinor = restOf(transfer.amount_minor, parts);
  if (restMinor === 0) return;
  const description = `Bank transfer ${reference}, more than was due`;
  await post(tx, {
    kind: 'transfer_credited',
    organizationId,
    currency,
    description,
    creditMinor: restMinor,
    provider: { bank: restMinor },
  });
  const told = parts[0]?.invoice.user_id ?? (await ownerOf(tx, organizationId));
  await record(tx, creditGranted, {
    subject: { type: 'organization', id: organizationId },
    organizationId,
    data: {
      user_id: told,
      amount: formatMoney(restMinor, currency),
      currency,
      description,
      invoice_id: null,
      reference,
    },
  });
}

function view(row: TransferRow, parts: readonly Part[]) {
  const late = parts.filter(({ invoice }) => invoice.status === 'cancelled');
  const lateMinor = late.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  return {
    id: row.id,
    organization_id: row.organization_id,
    amount: formatMoney(row.amount_minor, row.currency),
    currency: row.currency,
    reference: row.reference,
    received_on: row.received_on,
    credited: formatMoney(restOf(row.amount_minor, parts) + lateMinor, row.currency),
    created_at: row.created_at,
  };
}
