import { requireRow, statement, type TxContext } from '../../platform/index.ts';
import type { InvoiceKind } from '../invoices/kind.ts';
import { giveBack, lockRefundable } from './refund.ts';

/** What pays for a service and its time: had in full or not at all. */
const sellsService: readonly InvoiceKind[] = ['order', 'renewal', 'upgrade'];

// What was had to its end cannot be taken back with the money.
const sellsWhatRuns = statement<{ runs: boolean }, { id: number }>(
  'billing.sellsWhatRuns',
  `select exists (select 1 from invoice_items l join services s on s.id = l.service_id
     where l.invoice_id = :id and s.status in ('pending', 'active', 'suspended')) as runs`,
);

/**
 * A bank took back money that had paid an invoice, whose row is locked, or it was never its customer's. That is no rebate:
 * the invoice is not paid any more, however small a part of it is left, and so what else paid it becomes credit. Gives how
 * much. What sells no service, or one that has ended, stays paid by the rest: it was had.
 */
export async function giveBackRest(tx: TxContext, id: number): Promise<number> {
  const invoice = await requireRow(tx, lockRefundable, { id });
  if (!sellsService.includes(invoice.kind) || invoice.status !== 'partially_refunded') return 0;
  if (!(await tx.db.one(sellsWhatRuns, { id })).runs) return 0;
  const amountMinor = invoice.total_minor - invoice.refunded_minor;
  const reason = 'What had paid the rest of it was taken back, so the invoice is not paid any more';
  await giveBack(tx, invoice, amountMinor, { method: 'credit', reason });
  return amountMinor;
}
