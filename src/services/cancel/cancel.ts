import { cancelInvoice, couponOf, holdInvoice, unpaidFor, withdrawInvoice } from '../../billing/index.ts';
import { record } from '../../events/index.ts';
import {
  fail,
  type OrganizationContext,
  rehearse,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { cancelUndelivered, lockServicesOf } from '../delivery/cancelUndelivered.ts';
import { requireOrder } from '../delivery/delivery.ts';
import { cancelScheduled } from '../events.ts';
import { readService } from '../read.ts';
import { closeRenewal } from '../renew/issue.ts';
import { lockWithPayers } from '../renew/takeBack.ts';
import { requireAction } from '../states.ts';
import { terminateService } from '../suspend/terminate.ts';
import { lockTerms, type Terms } from '../terms.ts';
import { type EndingGuards, requireUnguarded } from './guard.ts';
import { giveBack, type Returned, returnedFor } from './refund.ts';
import { about, named, takeCancellationBack } from './takeBack.ts';
import { type Ended, reasonAgainstLater, viewEnd } from './view.ts';

const setCancelled = statement<never, { id: number; reason: string | null; now: Date }>(
  'services.setCancelled',
  `update services set cancelled = true, cancel_reason = :reason, cancelled_at = :now where id = :id`,
);
export interface Cancellation {
  type: 'immediate' | 'end_of_period';
  reason?: string | undefined;
  dry_run?: boolean | undefined;
}

type Tx = OrganizationContext & TxContext;

/**
 * Cancels a service of the organization: at once, or at the end of the time that is paid for. Its open invoices are
 * cancelled with it, and what goes back is what {@link returnedFor} says. `conflict` for one that has ended, or that is
 * being delivered, or whose machine is protected. With `dry_run` all of it is taken back again, and the answer says what would have happened.
 */
export async function cancelService(
  ctx: OrganizationContext,
  id: number,
  wanted: Cancellation,
  guards: EndingGuards,
) {
  return transaction(ctx, 'services.cancel', (tx) =>
    wanted.dry_run === true
      ? rehearse(tx, (inner) => cancel(inner, id, wanted, guards))
      : cancel(tx, id, wanted, guards),
  );
}

async function cancel(tx: Tx, id: number, wanted: Cancellation, guards: EndingGuards): Promise<Ended> {
  await readService(tx, id);
  const before = await lockWithPayers(tx, id);
  requireAction('cancel', before, tx.clock.now());
  if (before.status === 'pending') return cancelPending(tx, before, wanted);
  await requireUnguarded(tx, before, guards);
  await closeRenewal(tx, before, `${before.domain ?? before.productName} was cancelled`);
  const service = await lockTerms(tx, id);
  return wanted.type === 'immediate' ? endNow(tx, service, wanted) : endLater(tx, service, wanted);
}

/** Takes a cancellation back that has not come true yet. `conflict` when there is none. */
export async function revokeCancellation(ctx: OrganizationContext, id: number) {
  return transaction(ctx, 'services.revokeCancellation', async (tx) => {
    await readService(tx, id);
    const service = await lockTerms(tx, id);
    requireAction('revoke_cancel', service, tx.clock.now());
    await takeCancellationBack(tx, service);
    return viewEnd({ ...service, cancelled: false }, null);
  });
}

/** What was ordered and is not delivered: the order gives back what it held, and what was paid for it goes back. */
async function cancelPending(tx: Tx, service: Terms, wanted: Cancellation): Promise<Ended> {
  if (wanted.type === 'end_of_period') {
    const message = 'The service is not delivered, so no period of it runs; cancel it at once';
    throw fail('conflict', { message });
  }
  const { invoiceId } = await requireOrder(tx, service.id);
  const services = await lockServicesOf(tx, invoiceId);
  const isUnpaid = (await unpaidFor(tx, service.id)).some(({ id }) => id === invoiceId);
  if (isUnpaid && services.some(({ id, status }) => id !== service.id && status === 'pending')) {
    const message = `Invoice ${invoiceId} is for more than this service; cancel the invoice, and order anew what you want`;
    throw fail('conflict', { message });
  }
  if (isUnpaid) await cancelInvoice(tx, invoiceId);
  else await holdInvoice(tx, invoiceId);
  const returned = await returnedFor(tx, service);
  await tx.db.run(setCancelled, { id: service.id, reason: wanted.reason ?? null, now: tx.clock.now() });
  const reason = 'you cancelled the order';
  await cancelUndelivered(tx, services, await couponOf(tx, invoiceId), reason, service.id);
  await giveBack(tx, service, returned);
  return viewEnd({ ...service, cancelled: true }, { at: tx.clock.now(), returned });
}

async function endNow(tx: Tx, service: Terms, { reason }: Cancellation): Promise<Ended> {
  const returned = await returnedFor(tx, service);
  await tx.db.run(setCancelled, { id: service.id, reason: reason ?? null, now: tx.clock.now() });
  await terminateService(tx, service.id, 'you cancelled it');
  await giveBack(tx, service, returned);
  return viewEnd({ ...service, cancelled: true }, { at: tx.clock.now(), returned });
}

/** Asked for again, nothing is different. */
async function endLater(tx: Tx, service: Terms, wanted: Cancellation): Promise<Ended> {
  const { id, duedate } = service;
  const reason = wanted.reason ?? null;
  if (duedate === null) throw new Error(`service ${id} is ${service.status} and has no due date`);
  const end = { at: new Date(`${duedate}T00:00:00.000Z`), returned: nothing };
  if (service.cancelled) return viewEnd(service, end);
  const refusal = reasonAgainstLater(service, tx.clock.now());
  if (refusal !== null) throw fail('conflict', { message: refusal });
  for (const invoice of await unpaidFor(tx, id)) {
    // What is owed for a delay goes when the service does: a cancellation can be taken back.
    if (invoice.kind === 'late_fee') continue;
    await withdrawInvoice(tx, invoice.id, `${service.domain ?? service.productName} was cancelled`);
  }
  await tx.db.run(setCancelled, { id, reason, now: tx.clock.now() });
  await record(tx, cancelScheduled, {
    ...about(service),
    data: { ...named(service), effective_on: duedate, reason },
  });
  return viewEnd({ ...service, cancelled: true }, end);
}

const nothing: Returned = { because: 'none', shares: [], totalMinor: 0 };
