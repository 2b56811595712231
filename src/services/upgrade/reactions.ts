import { invoiceCancelled, invoiceExpired, invoicePaid, invoiceRefunded } from '../../billing/index.ts';
import { type OwnReaction, on } from '../../events/index.ts';
import { takeBack } from '../takeBack.ts';
import { applyPaidChange, endUnpaidChange } from './apply.ts';
import { takeBackChange } from './takeBack.ts';

const ofUpgrades = { when: ({ kind }: { kind: string }) => kind === 'upgrade' };

/** What becomes of a change of product when something happened to its invoice. */
export const upgradeReactions: OwnReaction[] = [
  on(
    invoicePaid,
    'services.applyChange',
    (tx, { subject: invoice }) => applyPaidChange(tx, invoice.id),
    ofUpgrades,
  ),
  on(
    invoiceExpired,
    'services.endExpiredChange',
    (tx, { subject: invoice }) => endUnpaidChange(tx, invoice.id),
    ofUpgrades,
  ),
  on(
    invoiceCancelled,
    'services.endCancelledChange',
    (tx, { subject: invoice }) => endUnpaidChange(tx, invoice.id),
    ofUpgrades,
  ),
  on(
    invoiceRefunded,
    'services.endRefundedChange',
    (tx, { subject: invoice }) => endUnpaidChange(tx, invoice.id),
    { when: ({ full }) => full },
  ),
  on(
    invoiceRefunded,
    'services.takeBackChange',
    (tx, { subject: invoice }) => takeBack(tx, invoice.id, takeBackChange),
    { when: ({ full }) => full },
  ),
];
