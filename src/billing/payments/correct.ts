import {
  type Context,
  fail,
  parseMoney,
  refuse,
  rehearse,
  requireRow,
  shareOf,
  shareWithin,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { cancelUnpaid, waive } from '../invoices/cancel.ts';
import { type CorrectedLine, lockForCorrection } from '../invoices/creditNote.ts';
import { readInvoiceForStaff } from '../invoices/invoiceStaff.ts';
import { notIssued } from '../invoices/notIssued.ts';
import { inWords, lockInvoice } from '../invoices/payable.ts';
import { requireStaffAction } from '../invoices/states.ts';
import { leftOf, lockRefundable, type RefundableRow, type Sum } from './refund.ts';
import { type TakenOff, takeOff } from './refundInvoice.ts';

/** What of an invoice is wrong: some of its lines (1, 2, 3 …), each with how much of it; all that is left without. */
export interface InvoiceCorrection {
  lines?: { line: number; amount?: string }[];
  reason: string;
  method: 'credit' | 'original';
  dry_run?: boolean;
}

interface Line {
  ordinal: number;
  product_id: number | null;
  service_id: number | null;
  description: string;
  minor: number;
  /** What credit notes took back of it before. */
  taken_minor: number;
}

const linesOf = statement<Line, { id: number }>(
  'billing.linesToCorrect',
  `select l.ordinal, l.product_id, l.service_id, l.description,
     l.price_minor + l.setup_fee_minor - l.discount_minor as minor,
     coalesce((select -sum(c.price_minor) from invoice_items c join invoices n on n.id = c.invoice_id
       where n.corrects = l.invoice_id and c.corrects_ordinal = l.ordinal), 0)::bigint as taken_minor
   from invoice_items l where l.invoice_id = :id order by l.ordinal`,
);
const termsOf = statement<{ included: boolean; rate: number }, { id: number }>(
  'billing.termsToCorrect',
  'select tax_included as included, tax_rate_basis_points as rate from invoices where id = :id',
);
const newestCorrection = statement<{ id: number }, { id: number }>(
  'billing.newestCorrection',
  'select id from invoices where corrects = :id order by position desc limit 1',
);

/**
 * Corrects an invoice that has a number by a credit note: lines of it, or all that is left. What had been paid of that goes
 * back as credit or by the way it came. One that is not paid is taken back whole, and so cancelled. With `dry_run` all of
 * that is done and taken back. `not_found`, `conflict`, `invalid_request`, `invalid_amount`.
 */
export async function correctInvoice(ctx: Context, id: number, asked: InvoiceCorrection) {
  return transaction(ctx, 'billing.correct', async (tx) => {
    if (asked.dry_run !== true) return { dry_run: false, ...(await correct(tx, id, asked)) };
    const { invoice, credit_note } = await rehearse(tx, (trial) => correct(trial, id, asked));
    return { dry_run: true, invoice, credit_note: { ...credit_note, ...notIssued } };
  });
}

async function correct(tx: TxContext, id: number, asked: InvoiceCorrection) {
  await lockForCorrection(tx, id);
  const invoice = await requireRow(tx, lockRefundable, { id });
  requireStaffAction('correct', invoice);
  if (invoice.number === null)
    throw fail('conflict', {
      message: `Invoice ${id} has no number yet, so nothing is to be corrected; cancel it`,
    });
  if (invoice.status === 'unpaid') await giveUp(tx, id, asked);
  else await takeOff(tx, invoice, await takenOff(tx, invoice, asked.lines), asked);
  const { id: noteId } = await tx.db.one(newestCorrection, { id });
  const [corrected, note] = [await readInvoiceForStaff(tx, id), await readInvoiceForStaff(tx, noteId)];
  return { invoice: corrected.invoice, credit_note: note.invoice };
}

async function giveUp(
  tx: TxContext,
  id: number,
  { lines, reason, method }: InvoiceCorrection,
): Promise<void> {
  const invoice = await tx.db.one(lockInvoice, { id });
  if (lines !== undefined)
    throw fail('conflict', {
      message: `Invoice ${id} is not paid, so it is taken back whole; leave out lines, and issue what is right by hand`,
    });
  if (method === 'original' && invoice.paid_minor > 0)
    throw fail('conflict', {
      message: 'What was paid towards an open invoice goes back as credit; use method credit',
    });
  if (invoice.total_minor === 0) throw nothingLeft();
  await cancelUnpaid(tx, invoice, 'which was corrected', reason);
  await waive(tx, id);
}

async function takenOff(
  tx: TxContext,
  invoice: RefundableRow,
  asked: InvoiceCorrection['lines'],
): Promise<TakenOff> {
  const left = await leftOf(tx, invoice);
  if (left.amountMinor === 0) throw nothingLeft();
  const lines = await tx.db.many(linesOf, { id: invoice.id });
  if (asked === undefined) {
    // What went back before was of no line in particular, so neither is what is left.
    const isWhole = invoice.refunded_minor === 0;
    return { ...left, lines: isWhole ? lines.map((line) => corrected(line, line.minor)) : undefined };
  }
  const wanted = asked.map((each, at) => wantedOf(invoice, lines, each, at));
  if (new Set(wanted.map(({ ordinal }) => ordinal)).size < wanted.length)
    throw refuse('lines', 'must name each line once');
  const minor = wanted.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  return { ...(await sumOf(tx, invoice, left, minor)), lines: wanted };
}

function wantedOf(
  { currency }: RefundableRow,
  lines: Line[],
  { line: nth, amount }: { line: number; amount?: string },
  at: number,
): CorrectedLine {
  const line = lines.find(({ ordinal }) => ordinal === nth);
  if (line === undefined)
    throw refuse(`lines[${at}].line`, `must be a line of the invoice, which has ${lines.length}`);
  const leftMinor = line.minor - line.taken_minor;
  const minor = amount === undefined ? leftMinor : parseMoney(amount, currency);
  if (minor === null || minor <= 0 || minor > leftMinor)
    throw fail('invalid_amount', {
      message: `lines[${at}].amount: ${inWords(leftMinor, currency)} of line ${nth} can be taken back`,
    });
  return corrected(line, minor);
}

function corrected(
  { ordinal, product_id, service_id, description }: Line,
  amountMinor: number,
): CorrectedLine {
  return { ordinal, productId: product_id, serviceId: service_id, description, amountMinor };
}

/** Lines with their tax, which is that of the invoice's rate; the last ones take along what rounding left. */
async function sumOf(tx: TxContext, invoice: RefundableRow, left: Sum, minor: number): Promise<Sum> {
  const { included, rate } = await tx.db.one(termsOf, { id: invoice.id });
  const netLeftMinor = left.amountMinor - left.taxMinor;
  const mostMinor = included ? left.amountMinor : netLeftMinor;
  if (minor > mostMinor) {
    const most = inWords(mostMinor, invoice.currency);
    throw fail('invalid_amount', { message: `${most} of this invoice's lines can be taken back by now` });
  }
  if (minor === mostMinor) return left;
  const taxMinor = Math.min(left.taxMinor, (included ? shareWithin : shareOf)(minor, rate));
  if (!included) return { amountMinor: minor + taxMinor, taxMinor };
  return { amountMinor: minor, taxMinor: Math.max(taxMinor, minor - netLeftMinor) };
}

function nothingLeft() {
  return fail('conflict', { message: 'Nothing of this invoice is left to correct' });
}
