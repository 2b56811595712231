import { record } from '../../events/index.ts';
import {
  fail,
  formatMoney,
  type OrganizationContext,
  requireOwn,
  statement,
  transaction,
} from '../../platform/index.ts';
import { invoiceCancelled } from '../events.ts';
import { returnPart } from '../payments/returnPart.ts';
import { lockInvoice } from './payable.ts';
import { readInvoice } from './read.ts';

const cancel = statement<never, { id: number }>(
  'billing.cancel',
  `update invoices set status = 'cancelled' where id = :id`,
);

/**
 * Cancels an invoice of the organization that is not paid; whoever holds something for it gives it back, and
 * what was paid towards it becomes credit. `conflict` for one that is paid or cancelled, and for one that a service which
 * runs is due for.
 */
export async function cancelInvoice(ctx: OrganizationContext, id: number) {
  return transaction(ctx, 'billing.cancel', async (tx) => {
    const invoice = await requireOwn(tx, lockInvoice, { id });
    const { kind, status, currency, total_minor: totalMinor, paid_minor: amountMinor } = invoice;
    if (status !== 'unpaid') {
      throw fail('conflict', { message: `This invoice is ${status}, so it cannot be cancelled` });
    }
    if (kind === 'renewal') {
      throw fail('conflict', { message: 'This invoice is for a service that runs; cancel the service' });
    }
    const part = { id, organizationId: tx.organizationId, currency, amountMinor };
    const credited =
      amountMinor > 0 ? await returnPart(tx, { ...part, why: 'which you cancelled' }) : undefined;
    await tx.db.run(cancel, { id });
    await record(tx, invoiceCancelled, {
      subject: { type: 'invoice', id },
      data: {
        user_id: invoice.user_id,
        kind,
        currency,
        total: formatMoney(totalMinor, currency),
        ...(credited && { credited }),
      },
    });
    return readInvoice(tx, id);
  });
}
