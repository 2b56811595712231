import {
  type Context,
  formatMoney,
  rehearse,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { lockForCorrection } from '../invoices/creditNote.ts';
import { lockRefundable } from './refund.ts';
import { type Refund, refundInvoice } from './refundInvoice.ts';
import { stayingOf } from './rest.ts';

interface ReturnedRow {
  id: number;
  method: 'credit' | 'original';
  amount_minor: number;
  currency: string;
  fee_minor: number | null;
  fee_currency: string | null;
}

interface NoteRow {
  id: number;
  number: string;
  series: string;
  total_minor: number;
  tax_minor: number;
  currency: string;
}

const refundsOf = statement<ReturnedRow, { invoiceId: number }>(
  'billing.refundsOfInvoice',
  `select r.id, r.method, r.amount_minor, r.currency, c.fee_minor, c.fee_currency
   from refunds r left join charges c on c.id = r.charge_id
   where r.invoice_id = :invoiceId order by r.created_at, r.id`,
);
const notesOf = statement<NoteRow, { invoiceId: number }>(
  'billing.creditNotesOfInvoice',
  `select id, number, series, total_minor, tax_minor, currency from invoices
   where corrects = :invoiceId order by position`,
);

/**
 * Gives a paid invoice's money back, and tells staff what went where and what goes on all the same. With `dry_run` all of it
 * is taken back again, and the answer says what would have happened. As {@link refundInvoice}.
 */
export async function refundForStaff(ctx: Context, id: number, refund: Refund & { dry_run?: boolean }) {
  return transaction(ctx, 'billing.refundForStaff', async (tx) => {
    if (refund.dry_run !== true) return { dry_run: false, ...(await refundAndTell(tx, id, refund)) };
    const { credit_note: note, ...told } = await rehearse(tx, (trial) => refundAndTell(trial, id, refund));
    // The number is another document's: this one is none.
    return { dry_run: true, ...told, credit_note: note && { ...note, number: null } };
  });
}

async function refundAndTell(tx: TxContext, id: number, refund: Refund) {
  await lockForCorrection(tx, id);
  const before = await requireRow(tx, lockRefundable, { id });
  const refunds = new Set((await tx.db.many(refundsOf, { invoiceId: id })).map((row) => row.id));
  const notes = new Set((await tx.db.many(notesOf, { invoiceId: id })).map((row) => row.id));
  const { invoice } = await refundInvoice(tx, id, refund);
  const after = await requireRow(tx, lockRefundable, { id });
  const made = (await tx.db.many(refundsOf, { invoiceId: id })).filter((row) => !refunds.has(row.id));
  const note = (await tx.db.many(notesOf, { invoiceId: id })).find((row) => !notes.has(row.id));
  // What was paid towards an open invoice becomes credit, and the invoice has no refund.
  const part = { amount_minor: before.paid_minor - after.paid_minor, currency: before.currency };
  return {
    invoice,
    returned: before.status === 'unpaid' ? [returnedAsCredit(part)] : made.map(viewReturned),
    credit_note: note === undefined ? null : viewNote(note),
    stays: await stayingOf(tx, id),
  };
}

function returnedAsCredit({ amount_minor: minor, currency }: Pick<ReturnedRow, 'amount_minor' | 'currency'>) {
  const amount = formatMoney(minor, currency);
  return { method: 'credit' as const, amount, currency, fee: null, fee_currency: null };
}

function viewReturned(row: ReturnedRow) {
  const { method, amount_minor: minor, currency, fee_minor: feeMinor, fee_currency: feeCurrency } = row;
  if (method === 'credit' || feeMinor === null || feeCurrency === null)
    return { ...returnedAsCredit(row), method };
  const [amount, fee] = [formatMoney(minor, currency), formatMoney(feeMinor, feeCurrency)];
  return { method, amount, currency, fee, fee_currency: feeCurrency };
}

function viewNote({ number, series, total_minor: totalMinor, tax_minor: taxMinor, currency }: NoteRow) {
  const [total, tax] = [formatMoney(totalMinor, currency), formatMoney(taxMinor, currency)];
  return { number, series, total, tax, currency };
}
