import { holdInvoice, isPaid } from '../../billing/index.ts';
import { type Context, fail, transaction } from '../../platform/index.ts';
import { isByHand } from '../kinds/kind.ts';
import { kindOf } from '../kinds/table.ts';
import { readServiceForStaff } from '../read.ts';
import { lockServicesOf } from './cancelUndelivered.ts';
import { completeDelivery, requireOrder } from './delivery.ts';

/**
 * Staff has delivered a service: it is active, its first period starts today, and its customer is told.
 * `conflict` for what a room delivers, and for what is not paid, cancelled or delivered already.
 */
export async function deliverByHand(ctx: Context, id: number) {
  return transaction(ctx, 'services.deliverByHand', async (tx) => {
    const { invoiceId } = await requireOrder(tx, id);
    await lockServicesOf(tx, invoiceId);
    await holdInvoice(tx, invoiceId);
    // Again, now that nobody else can change it.
    const order = await requireOrder(tx, id);
    if (!isByHand(kindOf(order.moduleId, order.onServer)))
      throw conflict(
        `${order.productName} is not delivered by hand; have a delivery that failed tried again`,
      );
    if (order.status !== 'pending')
      throw conflict(`The service is ${order.status}; only one that waits for its delivery can be delivered`);
    if (!(await isPaid(tx, invoiceId))) throw conflict(`Invoice ${invoiceId} is not paid`);
    await completeDelivery(tx, order, { hostname: order.domain, primaryIp: null });
    return readServiceForStaff(tx, id);
  });
}

function conflict(message: string) {
  return fail('conflict', { message });
}
