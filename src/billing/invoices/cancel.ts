import { record } from '../../events/index.ts';
import {
  type Context,
  fail,
  formatMoney,
  type OrganizationContext,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { isPaymentComing } from '../charges/onItsWay.ts';
import { invoiceCancelled } from '../events.ts';
import { returnPart } from '../payments/returnPart.ts';
import { closePages } from '../payments/settle.ts';
import { lockForCorrection, takeBack } from './creditNote.ts';
import { readInvoiceForStaff } from './invoiceStaff.ts';
import { lockInvoice, lockOpenOf, lockOwnInvoice, type Payable } from './payable.ts';
import { readOwnInvoice } from './read.ts';
import { requireAction, requireStaffAction, whileComing } from './states.ts';

const cancel = statement<{ has_page: boolean }, { id: number }>(
  'billing.cancel',
  `update invoices set status = 'cancelled' where id = :id
   returning exists (select 1 from charges c where c.invoice_id = :id and c.state = 'open'
     and c.page_reference is not null) as has_page`,
);

const setWaived = statement<never, { id: number }>(
  'billing.waive',
  'update invoices set waived = true where id = :id',
);

/**
 * Cancels an invoice of the organization that is not paid; whoever holds something for it gives it back, and
 * what was paid towards it becomes credit. `conflict` for one that is paid or cancelled, for one that a service which
 * runs is due for, and while a payment is on its way, which would come for nothing.
 */
export async function cancelInvoice(ctx: OrganizationContext, id: number) {
  return transaction(ctx, 'billing.cancel', async (tx) => {
    await lockForCorrection(tx, id);
    const invoice = await lockOwnInvoice(tx, id);
    requireAction('cancel', { ...invoice, isComing: await isPaymentComing(tx, id) });
    await cancelUnpaid(tx, invoice, 'which you cancelled');
    return readOwnInvoice(tx, id);
  });
}

/**
 * Cancels an invoice that is not paid, whoever owns it and whatever it is for, and gives back what it holds as when its
 * customer does. What it asked for beside periods, as traffic that was used, is waived. `reason` is for the customer. `conflict` for one
 * that is paid or cancelled.
 */
export async function cancelInvoiceAsStaff(ctx: Context, id: number, reason: string) {
  return transaction(ctx, 'billing.cancelAsStaff', async (tx) => {
    await lockForCorrection(tx, id);
    const invoice = await requireRow(tx, lockInvoice, { id });
    requireStaffAction('cancel', invoice, '; what was paid is corrected or refunded');
    await cancelUnpaid(tx, invoice, 'which was cancelled', reason);
    await waive(tx, id);
    return readInvoiceForStaff(tx, id);
  });
}

/**
 * Cancels an invoice that the room it is of asks for no more, unless it is paid or cancelled already: what it is
 * afterwards. What was paid towards it becomes credit. `reason` is for its customer, as in "is cancelled: …". Where another is to
 * take its place, `conflict` while a payment is on its way, or its customer would pay twice; staff may.
 */
export async function withdrawInvoice(
  tx: TxContext,
  id: number,
  reason: string,
  { isReplaced = false } = {},
): Promise<string> {
  const invoice = await requireRow(tx, lockInvoice, { id });
  if (invoice.status !== 'unpaid') return invoice.status;
  const isCustomers = tx.actor.type === 'user' || tx.actor.type === 'api_key';
  if (isReplaced && isCustomers && (await isPaymentComing(tx, id)))
    throw fail('conflict', { message: whileComing.replace('this invoice', `invoice ${id}`) });
  await cancelUnpaid(tx, invoice, 'which was cancelled', reason);
  return 'cancelled';
}

/**
 * Cancels whatever is open for a service that has ended, but for its order; what was paid towards it becomes credit.
 * `reason` is what the customer reads. The service's row is locked.
 */
export async function cancelInvoicesOf(tx: TxContext, serviceId: number, reason: string): Promise<void> {
  for (const invoice of await tx.db.many(lockOpenOf, { serviceId }))
    await cancelUnpaid(tx, invoice, 'which was cancelled', reason);
}

/** Staff gave up what an invoice asked for that it cancelled. */
export async function waive(tx: TxContext, id: number): Promise<void> {
  await tx.db.run(setWaived, { id });
}

/** Cancels an invoice that is locked and not paid. `why` is for the list of credit, `reason` for its customer. */
export async function cancelUnpaid(
  tx: TxContext,
  invoice: Payable,
  why: string,
  reason?: string,
): Promise<void> {
  const { id, organization_id: organizationId, user_id, kind, currency, paid_minor: amountMinor } = invoice;
  const part = { id, organizationId, currency, amountMinor };
  const credited = amountMinor > 0 ? await returnPart(tx, { ...part, why }) : undefined;
  const { has_page } = await tx.db.one(cancel, { id });
  await takeBack(tx, invoice, reason ?? 'The order was cancelled');
  if (has_page) await closePages(tx, invoice);
  const total = formatMoney(invoice.total_minor, currency);
  await record(tx, invoiceCancelled, {
    subject: { type: 'invoice', id },
    organizationId,
    data: { user_id, kind, currency, total, ...(credited && { credited }), ...(reason && { reason }) },
  });
}
