import { record } from '../../events/index.ts';
import { statusOfOrganization } from '../../organizations/index.ts';
import {
  type Context,
  fail,
  parseMoney,
  requireRow,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { heldByBanks } from '../charges/held.ts';
import { sendBack } from '../charges/sendBack.ts';
import { invoicePartReturned } from '../events.ts';
import { type CorrectedLine, issueCreditNote, lockForCorrection } from '../invoices/creditNote.ts';
import { inWords } from '../invoices/payable.ts';
import { readInvoice } from '../invoices/read.ts';
import { type GoingBack, lockRefundable, moveBack, type RefundableRow, type Sum, withTax } from './refund.ts';
import { returnPart } from './returnPart.ts';

export interface Refund {
  /** Default: all that was not given back yet. */
  amount?: string;
  reason: string;
  /** `original`: to where the money came from, as far as the payment provider can; what came otherwise becomes credit. */
  method: 'credit' | 'original';
}

/**
 * Gives a paid invoice's money back to the customer's credit, in whole or in part, with a credit note: revenue and tax go
 * down in the proportion in which they went up. Other rooms take back what was never delivered
 * once all of it is given back. What was paid towards an invoice that is not paid in full goes back whole, and the invoice
 * stays open. `conflict` unless something was paid, and of what a bank holds; `invalid_amount` for more than is left.
 */
export async function refundInvoice(ctx: Context, id: number, refund: Refund) {
  return transaction(ctx, 'billing.refund', async (tx) => {
    await lockForCorrection(tx, id);
    const invoice = await requireRow(tx, lockRefundable, { id });
    const amountMinor = amountOf(invoice, refund.amount);
    if (invoice.status === 'unpaid') await giveBackPart(tx, invoice, amountMinor, refund);
    else await takeOff(tx, invoice, await withTax(tx, invoice, amountMinor), refund);
    return readInvoice(tx, id);
  });
}

function amountOf(invoice: RefundableRow, asked: string | undefined): number {
  const leftMinor = refundable(invoice);
  if (leftMinor === null) {
    const what = invoice.kind === 'credit_note' ? 'is a credit note' : `invoice is ${invoice.status}`;
    throw fail('conflict', { message: `This ${what}, so nothing can be refunded` });
  }
  if (asked === undefined) return leftMinor;
  const amountMinor = parseMoney(asked, invoice.currency);
  if (amountMinor !== null && amountMinor > 0 && amountMinor <= leftMinor) return amountMinor;
  const left = inWords(leftMinor, invoice.currency);
  throw fail('invalid_amount', { message: `${left} of this invoice can be refunded` });
}

/** What can go back: of a free invoice nothing, which cancels what it ordered; null when nothing was paid. */
function refundable({ kind, status, total_minor, refunded_minor, paid_minor }: RefundableRow): number | null {
  if (kind === 'credit_note') return null;
  if (status === 'unpaid' && paid_minor > 0) return paid_minor;
  return status === 'paid' || status === 'partially_refunded' ? total_minor - refunded_minor : null;
}

async function giveBackPart(
  tx: TxContext,
  invoice: RefundableRow,
  amountMinor: number,
  { reason, method }: Refund,
): Promise<void> {
  if (method === 'original')
    throw fail('conflict', {
      message: 'What was paid towards an open invoice goes back as credit; use method credit',
    });
  await requireSomebody(tx, invoice);
  const { id, organization_id: organizationId, currency, user_id } = invoice;
  const part = { id, organizationId, currency, amountMinor };
  const amount = await returnPart(tx, { ...part, why: 'which stays open' });
  await record(tx, invoicePartReturned, {
    subject: { type: 'invoice', id },
    organizationId,
    data: { user_id, amount, currency, reason },
  });
}

/** What of a paid invoice is taken off: a sum, and which lines it is of. */
export interface TakenOff extends Sum {
  lines?: readonly CorrectedLine[] | undefined;
}

/**
 * Gives a sum of a paid invoice back, in the way that is wished, and corrects the invoice by one credit note. The invoice
 * is locked, and its organization before it. Gives the credit note's id; null of nothing. `conflict`.
 */
export async function takeOff(
  tx: TxContext,
  invoice: RefundableRow,
  { lines, ...sum }: TakenOff,
  { method, reason }: Pick<Refund, 'method' | 'reason'>,
): Promise<number | null> {
  await requireNotHeld(tx, invoice, sum.amountMinor);
  const services = lines?.flatMap(({ serviceId }) => serviceId ?? []) ?? [];
  const why = { reason, services };
  if (method === 'original') await giveBackOriginal(tx, invoice, sum, why);
  else await giveBackAsCredit(tx, invoice, sum, why);
  return sum.amountMinor === 0 ? null : issueCreditNote(tx, { invoiceId: invoice.id, ...sum, reason, lines });
}

/** What a bank holds may never come back: given back by us besides, it would be given twice. */
async function requireNotHeld(tx: TxContext, invoice: RefundableRow, amountMinor: number): Promise<void> {
  const heldMinor = await heldByBanks(tx, invoice.id);
  const { total_minor: totalMinor, refunded_minor: refundedMinor, currency } = invoice;
  if (heldMinor === 0 || amountMinor <= totalMinor - refundedMinor - heldMinor) return;
  const message = `A bank holds ${inWords(heldMinor, currency)} of this invoice, which its customer disputes; give it back once that is decided`;
  throw fail('conflict', { message });
}

type Why = Pick<GoingBack, 'reason' | 'services'>;

async function giveBackAsCredit(tx: TxContext, invoice: RefundableRow, sum: Sum, why: Why): Promise<void> {
  await requireSomebody(tx, invoice);
  if (invoice.kind === 'top_up')
    throw fail('conflict', { message: 'This invoice bought credit; give it back with method original' });
  await moveBack(tx, invoice, sum, { ...why, method: 'credit' });
}

/** Credit of an organization that was closed is nobody's to spend. */
async function requireSomebody(tx: TxContext, { organization_id: id }: RefundableRow): Promise<void> {
  if ((await statusOfOrganization(tx, id)) !== 'closed') return;
  throw fail('conflict', {
    message: `Organization ${id}, which paid it, is closed, so nobody could spend the credit; send it back with method original`,
  });
}

/** The payment provider takes back what it brought; the rest came from credit or by transfer, and becomes credit. */
async function giveBackOriginal(tx: TxContext, invoice: RefundableRow, sum: Sum, why: Why): Promise<void> {
  const left = await sendBack(tx, invoice, sum, why);
  if (left.amountMinor === sum.amountMinor) {
    throw fail('conflict', {
      message:
        'Nothing of this invoice came by the payment provider that could go back there; use method credit',
    });
  }
  if (left.amountMinor === 0) return;
  const refundedMinor = invoice.refunded_minor + sum.amountMinor - left.amountMinor;
  await giveBackAsCredit(tx, { ...invoice, refunded_minor: refundedMinor }, left, why);
}
