import {
  couponOf,
  invoiceCancelled,
  invoiceExpired,
  invoicePaid,
  invoiceRefunded,
} from '../billing/index.ts';
import { hasHappened, type OwnReaction, on, record } from '../events/index.ts';
import type { Context, Failure, Happened, TxContext } from '../platform/index.ts';
import { cancelUndelivered, lockServicesOf, type Ordered } from './delivery/cancelUndelivered.ts';
import { failDelivery, markDelivering } from './delivery/delivery.ts';
import { kindOf } from './kinds/table.ts';

/** What services do when something happened to the invoice that ordered them. */
export const serviceReactions: OwnReaction[] = [
  on(
    invoicePaid,
    'services.deliverPaid',
    async (tx, { subject: invoice }) => startDelivery(tx, await lockServicesOf(tx, invoice.id)),
    { when: ({ kind }) => kind === 'order', failed: failUnstarted },
  ),
  on(invoiceExpired, 'services.giveBackExpired', (tx, { subject: invoice }) =>
    giveBack(tx, invoice.id, 'the invoice was not paid in time'),
  ),
  on(invoiceCancelled, 'services.giveBackCancelled', (tx, { subject: invoice }) =>
    giveBack(tx, invoice.id, 'its customer cancelled the order'),
  ),
  on(
    invoiceRefunded,
    'services.takeBackRefunded',
    (tx, { subject: invoice }) => giveBack(tx, invoice.id, 'the invoice was refunded'),
    { when: ({ full }) => full },
  ),
];

// Services are locked, so that a repeated job finds them started or cancelled already.
async function giveBack(tx: TxContext, invoiceId: number, reason: string): Promise<void> {
  const services = await lockServicesOf(tx, invoiceId);
  await cancelUndelivered(tx, services, await couponOf(tx, invoiceId), reason);
}

// What staff delivers by hand is under way from here on too: it stands in the list of what needs a person.
async function startDelivery(tx: TxContext, services: Ordered[]): Promise<void> {
  for (const service of services) {
    if (service.status !== 'pending') continue;
    if (service.provisioningState !== 'queued' && !(await neverStarted(tx, service))) continue;
    await markDelivering(tx, service.id);
    await record(tx, kindOf(service.moduleId).deliver, {
      subject: { type: 'service', id: service.id },
      organizationId: service.organizationId,
      data: { module_id: service.moduleId },
    });
  }
}

/** Failed because this very job did, which is now tried again; otherwise the delivery itself is to be retried. */
async function neverStarted(ctx: Context, service: Ordered): Promise<boolean> {
  if (service.provisioningState !== 'failed') return false;
  const { deliver } = kindOf(service.moduleId);
  return !(await hasHappened(ctx, deliver, { type: 'service', id: service.id }));
}

async function failUnstarted(tx: TxContext, { subject: invoice }: Happened, failure: Failure): Promise<void> {
  for (const service of await lockServicesOf(tx, invoice.id)) {
    if (service.provisioningState !== 'queued') continue;
    await failDelivery(tx, service.id, failure.message);
  }
}
