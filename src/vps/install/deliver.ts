import { invoiceRefunded } from '../../billing/index.ts';
import { on, starts } from '../../events/index.ts';
import {
  enqueue,
  isJobOpenAbout,
  newId,
  type Reaction,
  retryFailedJobAbout,
  settleFailedJobAbout,
} from '../../platform/index.ts';
import { deliveryWanted, failDelivery, serviceRetried } from '../../services/index.ts';
import { isVps, lockVps, servicesOfInvoice } from '../queries.ts';
import { provision } from './provision.ts';

/**
 * What makes machines: a service that was paid, and one whose delivery failed and is tried again. Whose money was given
 * back after its delivery failed needs nobody any more.
 */
export const deliveryReactions: Reaction[] = [
  starts(deliveryWanted, provision, ({ subject, data }) =>
    isVps(data) ? { serviceId: subject.id, actionId: newId() } : null,
  ),
  on(
    serviceRetried,
    'vps.deliverAgain',
    async (tx, { subject, organizationId }) => {
      const about = { serviceId: subject.id };
      // Locked, so that a repeated job finds what it began.
      await lockVps(tx, subject.id);
      if (await isJobOpenAbout(tx, provision, about)) return;
      if (!(await retryFailedJobAbout(tx, provision, about)))
        await enqueue(tx, provision, { ...about, actionId: newId() }, { organizationId });
    },
    { when: isVps, failed: (tx, { subject }, { message }) => failDelivery(tx, subject.id, message) },
  ),
  on(
    invoiceRefunded,
    'vps.settleFailedDelivery',
    async (tx, { subject: invoice }) => {
      const services = await tx.db.many(servicesOfInvoice, { invoiceId: invoice.id });
      for (const { id: serviceId } of services) await settleFailedJobAbout(tx, provision, { serviceId });
    },
    { when: ({ full }) => full },
  ),
];
