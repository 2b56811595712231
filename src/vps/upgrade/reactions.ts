import { invoiceCancelled, invoiceExpired, invoicePaid, invoiceRefunded } from '../../billing/index.ts';
import { on } from '../../events/index.ts';
import type { Reaction } from '../../platform/index.ts';
import { applyPaidUpgrade, giveBackUpgrade } from './apply.ts';

/** What becomes of an upgrade when something happened to its invoice. */
export const upgradeReactions: Reaction[] = [
  on(invoicePaid, 'vps.applyUpgrade', (tx, { subject: invoice }) => applyPaidUpgrade(tx, invoice.id), {
    when: ({ kind }) => kind === 'upgrade',
  }),
  on(
    invoiceExpired,
    'vps.giveBackExpiredUpgrade',
    (tx, { subject: invoice }) => giveBackUpgrade(tx, invoice.id),
    {
      when: ({ kind }) => kind === 'upgrade',
    },
  ),
  on(
    invoiceCancelled,
    'vps.giveBackCancelledUpgrade',
    (tx, { subject: invoice }) => giveBackUpgrade(tx, invoice.id),
    { when: ({ kind }) => kind === 'upgrade' },
  ),
  on(
    invoiceRefunded,
    'vps.giveBackRefundedUpgrade',
    (tx, { subject: invoice }) => giveBackUpgrade(tx, invoice.id),
    { when: ({ full }) => full },
  ),
];
