import {
  couponOf,
  invoiceCancelled,
  invoiceExpired,
  invoicePaid,
  invoiceRefunded,
} from '../billing/index.ts';
import { type OwnReaction, on } from '../events/index.ts';
import type { Failure, Happened, TxContext } from '../platform/index.ts';
import { calendarReactions } from './calendar/reactions.ts';
import { cancelUndelivered, lockServicesOf } from './delivery/cancelUndelivered.ts';
import { failDelivery } from './delivery/delivery.ts';
import { startDelivery } from './delivery/start.ts';
import { serviceTerminated } from './events.ts';
import { heldReturnReactions } from './heldReturns.ts';
import { renewReactions } from './renew/reactions.ts';
import { isHeld } from './review/hold.ts';
import { isUnpaid } from './takeBack.ts';
import { billLastTraffic } from './traffic/bill.ts';
import { upgradeReactions } from './upgrade/reactions.ts';

/** What services do when something happened to an invoice of theirs. */
export const serviceReactions: OwnReaction[] = [
  ...calendarReactions,
  on(
    invoicePaid,
    'services.deliverPaid',
    async (tx, { subject: invoice }) => {
      const services = await lockServicesOf(tx, invoice.id);
      if (!(await isHeld(tx, invoice.id))) await startDelivery(tx, services);
    },
    { when: ({ kind }) => kind === 'order', failed: failUnstarted },
  ),
  on(invoiceExpired, 'services.giveBackExpired', (tx, { subject: invoice }) =>
    giveBack(tx, invoice.id, 'the invoice was not paid in time'),
  ),
  on(invoiceCancelled, 'services.giveBackCancelled', (tx, { subject: invoice, data: { reason } }) =>
    giveBack(tx, invoice.id, reason ?? 'you cancelled the order'),
  ),
  on(
    invoiceRefunded,
    'services.takeBackRefunded',
    async (tx, { subject: invoice }) => {
      if (await isUnpaid(tx, invoice.id)) await giveBack(tx, invoice.id, 'the invoice was refunded');
    },
    // What a bank took is no rebate: nobody delivers what is not paid any more.
    { when: ({ full, method }) => full || method === 'dispute' || method === 'taken_back' },
  ),
  on(
    serviceTerminated,
    'services.billLastTraffic',
    (tx, { subject: service }) => billLastTraffic(tx, service.id),
    {
      when: ({ on_server: onServer }) => onServer,
    },
  ),
  ...heldReturnReactions,
  ...renewReactions,
  ...upgradeReactions,
];

// Services are locked, so that a repeated job finds them started or cancelled already.
async function giveBack(tx: TxContext, invoiceId: number, reason: string): Promise<void> {
  const services = await lockServicesOf(tx, invoiceId);
  await cancelUndelivered(tx, services, await couponOf(tx, invoiceId), reason);
}

async function failUnstarted(tx: TxContext, { subject: invoice }: Happened, failure: Failure): Promise<void> {
  for (const service of await lockServicesOf(tx, invoice.id)) {
    if (service.provisioningState !== 'queued') continue;
    await failDelivery(tx, service.id, failure.message);
  }
}
