import { invoiceRefunded } from '../../billing/index.ts';
import { on, starts } from '../../events/index.ts';
import {
  enqueue,
  isJobOpenAbout,
  type Reaction,
  retryFailedJobAbout,
  settleFailedJobAbout,
  statement,
} from '../../platform/index.ts';
import { deliveryWanted, failDelivery, kinds, serviceRetried } from '../../services/index.ts';
import { provision } from './provision.ts';

const lockService = statement<never, { id: number }>(
  'dedicated.lockService',
  'select id from services where id = :id for no key update',
);
const ofInvoice = statement<{ id: number }, { invoiceId: number }>(
  'dedicated.servicesOfInvoice',
  `select s.id from services s join products p on p.id = s.product_id
   where s.invoice_id = :invoiceId and p.module_id = ${kinds.dedicated.id} order by s.id`,
);

const isDedicated = ({ module_id }: { module_id: number }) => module_id === kinds.dedicated.id;

/**
 * What makes servers ready: a service that was paid, and one whose delivery failed and is tried again. Whose money was given
 * back after its delivery failed needs nobody any more.
 */
export const deliveryReactions: Reaction[] = [
  starts(deliveryWanted, provision, ({ subject, data }) =>
    isDedicated(data) ? { serviceId: subject.id, isSecond: false } : null,
  ),
  on(
    serviceRetried,
    'dedicated.deliverAgain',
    async (tx, { subject, organizationId }) => {
      const about = { serviceId: subject.id };
      // Locked, so that a repeated job finds what it began.
      await tx.db.many(lockService, { id: subject.id });
      if (await isJobOpenAbout(tx, provision, about)) return;
      if (!(await retryFailedJobAbout(tx, provision, about)))
        await enqueue(tx, provision, { ...about, isSecond: false }, { organizationId });
    },
    { when: isDedicated, failed: (tx, { subject }, { message }) => failDelivery(tx, subject.id, message) },
  ),
  on(
    invoiceRefunded,
    'dedicated.settleFailedDelivery',
    async (tx, { subject: invoice }) => {
      for (const { id: serviceId } of await tx.db.many(ofInvoice, { invoiceId: invoice.id }))
        await settleFailedJobAbout(tx, provision, { serviceId });
    },
    { when: ({ full }) => full },
  ),
];
