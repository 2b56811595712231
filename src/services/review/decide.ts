import { couponOf, isPaid, lockForCorrection, refundInvoice } from '../../billing/index.ts';
import { record } from '../../events/index.ts';
import {
  type Context,
  fail,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { methodFor } from '../cancel/refund.ts';
import { cancelUndelivered, lockServicesOf } from '../delivery/cancelUndelivered.ts';
import { startDelivery } from '../delivery/start.ts';
import { orderRefused, orderReleased } from '../events.ts';
import { readOrder } from './orders.ts';

interface Review {
  invoiceId: number;
  organizationId: number;
  userId: number | null;
  status: 'held' | 'released' | 'refused' | null;
}

// An order that no rule held is an order all the same, and the answer about it says so.
const lockReview = statement<Review, { invoiceId: number }>(
  'services.lockReview',
  `select i.id as "invoiceId", i.organization_id as "organizationId", i.user_id as "userId", r.status
   from invoices i left join order_reviews r on r.invoice_id = i.id
   where i.id = :invoiceId and i.kind = 'order' for no key update of i`,
);
const decide = statement<
  never,
  { invoiceId: number; status: 'released' | 'refused'; note: string | null; userId: number | null; now: Date }
>(
  'services.decideReview',
  `update order_reviews set status = :status, note = :note, decided_by = :userId, decided_at = :now
   where invoice_id = :invoiceId`,
);

/** Has an order delivered that was held. `conflict` when it is not held, or its money was given back meanwhile. */
export async function releaseOrder(ctx: Context, id: number, note: string | null) {
  return transaction(ctx, 'services.releaseOrder', async (tx) => {
    // In the order in which a refund and a delivery lock them.
    const services = await lockServicesOf(tx, id);
    const { organizationId, userId: user_id } = await requireHeld(tx, id);
    if (!(await isPaid(tx, id))) throw conflict(`Invoice ${id} was paid back: there is nothing to deliver`);
    await write(tx, id, 'released', note);
    const about = { subject: { type: 'invoice', id }, organizationId };
    await record(tx, orderReleased, { ...about, data: { user_id, note } });
    await startDelivery(tx, services);
    return readOrder(tx, id);
  });
}

/** Gives all of a held order's money back, with the reason, and cancels what it ordered. `conflict` as above. */
export async function refuseOrder(ctx: Context, id: number, reason: string) {
  return transaction(ctx, 'services.refuseOrder', async (tx) => {
    // In the order of every invoice: the organization first, whose documents a refund numbers.
    await lockForCorrection(tx, id);
    const services = await lockServicesOf(tx, id);
    const { organizationId, userId: user_id } = await requireHeld(tx, id);
    await write(tx, id, 'refused', reason);
    const about = { subject: { type: 'invoice', id }, organizationId };
    await record(tx, orderRefused, { ...about, data: { user_id, reason } });
    // Here, and not when the refund is heard of, which says why money went back and not why the order did.
    await cancelUndelivered(tx, services, await couponOf(tx, id), `We could not take the order: ${reason}`);
    if (await isPaid(tx, id)) await refundInvoice(tx, id, { reason, method: await methodFor(tx, id) });
    return readOrder(tx, id);
  });
}

async function requireHeld(tx: TxContext, invoiceId: number): Promise<Review> {
  const found = await requireRow(tx, lockReview, { invoiceId });
  if (found.status === 'held') return found;
  throw conflict(
    found.status === null ? 'No rule held this order' : `This order was ${found.status} already`,
  );
}

async function write(
  tx: TxContext,
  invoiceId: number,
  status: 'released' | 'refused',
  note: string | null,
): Promise<void> {
  await tx.db.run(decide, { invoiceId, status, note, userId: tx.actor.userId, now: tx.clock.now() });
}

function conflict(message: string) {
  return fail('conflict', { message });
}
