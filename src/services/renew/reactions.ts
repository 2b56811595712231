import { invoiceCancelled, invoiceExpired, invoicePaid, invoiceRefunded } from '../../billing/index.ts';
import { type OwnReaction, on } from '../../events/index.ts';
import { applyPaidRenewal, endRenewal } from './apply.ts';
import { takeBackOrder, takeBackRenewal } from './takeBack.ts';

const ofRenewals = { when: ({ kind }: { kind: string }) => kind === 'renewal' };

/** What becomes of a renewal when something happened to its invoice. */
export const renewReactions: OwnReaction[] = [
  on(
    invoicePaid,
    'services.applyRenewal',
    (tx, { subject: invoice }) => applyPaidRenewal(tx, invoice.id),
    ofRenewals,
  ),
  on(
    invoiceExpired,
    'services.endExpiredRenewal',
    (tx, { subject: invoice }) => endRenewal(tx, invoice.id),
    ofRenewals,
  ),
  on(
    invoiceCancelled,
    'services.endCancelledRenewal',
    (tx, { subject: invoice }) => endRenewal(tx, invoice.id),
    ofRenewals,
  ),
  on(
    invoiceRefunded,
    'services.takeBackRenewal',
    (tx, { subject: invoice }) => takeBackRenewal(tx, invoice.id),
    { when: ({ full }) => full },
  ),
  on(invoiceRefunded, 'services.takeBackOrder', (tx, { subject: invoice }) => takeBackOrder(tx, invoice.id), {
    when: ({ full }) => full,
  }),
];
