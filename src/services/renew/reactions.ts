import {
  invoiceCancelled,
  invoiceExpired,
  invoicePaid,
  invoicePaidAgain,
  invoiceRefunded,
} from '../../billing/index.ts';
import { type OwnReaction, on } from '../../events/index.ts';
import { takeBack } from '../takeBack.ts';
import { countTrafficAgain, reopenTraffic } from '../traffic/takenBack.ts';
import { applyPaidRenewal, endRenewal } from './apply.ts';
import { takeBackOrder, takeBackRenewal } from './takeBack.ts';

const ofRenewals = { when: ({ kind }: { kind: string }) => kind === 'renewal' };

/** What becomes of a renewal when something happened to its invoice. */
export const renewReactions: OwnReaction[] = [
  on(
    invoicePaid,
    'services.applyRenewal',
    (tx, { subject: invoice }) => applyPaidRenewal(tx, invoice.id),
    // A night pays thousands of them.
    { ...ofRenewals, inStep: true },
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
  // Before the renewal that it stood on is taken back, so that the next one asks for it.
  on(invoiceRefunded, 'services.reopenTraffic', (tx, { subject: invoice }) => reopenTraffic(tx, invoice.id), {
    when: ({ method }) => method === 'dispute' || method === 'taken_back',
  }),
  on(invoicePaidAgain, 'services.countTrafficAgain', (tx, { subject: invoice, data: { amount, full } }) =>
    countTrafficAgain(tx, invoice.id, { amount, isFull: full }),
  ),
  on(
    invoiceRefunded,
    'services.takeBackRenewal',
    (tx, { subject: invoice }) => takeBack(tx, invoice.id, takeBackRenewal),
    { when: ({ full }) => full },
  ),
  on(
    invoiceRefunded,
    'services.takeBackOrder',
    (tx, { subject: invoice }) => takeBack(tx, invoice.id, takeBackOrder),
    // Of one that is for several services some may be undone, and others have been had.
    { when: ({ full, method }) => full || method === 'dispute' || method === 'taken_back' },
  ),
];
