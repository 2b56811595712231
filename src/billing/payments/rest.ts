import { requireRow, type TxContext } from '../../platform/index.ts';
import type { InvoiceKind } from '../invoices/kind.ts';
import { giveBack, lockRefundable } from './refund.ts';

/** What pays for a service and its time: had in full or not at all. */
const sellsService: readonly InvoiceKind[] = ['order', 'renewal', 'upgrade'];

/**
 * A bank took back money that had paid an invoice, whose row is locked, or it was never its customer's. That is no rebate:
 * the invoice is not paid any more, however small a part of it is left, and so what else paid it becomes credit. Gives how
 * much. What sells no service stays paid by the rest.
 */
export async function giveBackRest(tx: TxContext, id: number): Promise<number> {
  const invoice = await requireRow(tx, lockRefundable, { id });
  if (!sellsService.includes(invoice.kind) || invoice.status !== 'partially_refunded') return 0;
  const amountMinor = invoice.total_minor - invoice.refunded_minor;
  const reason = 'What had paid the rest of it was taken back, so the invoice is not paid any more';
  await giveBack(tx, invoice, amountMinor, { method: 'credit', reason });
  return amountMinor;
}
