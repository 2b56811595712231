import { invoiceCancelled, invoiceExpired, invoicePaid, invoiceRefunded } from '../../billing/index.ts';
import { on } from '../../events/index.ts';
import type { Reaction } from '../../platform/index.ts';
import { productChanged, productChangeEnded } from '../../services/index.ts';
import { isVps } from '../queries.ts';
import { applyPaidUpgrade, giveBackUpgrade } from './apply.ts';
import { followProduct, returnGrowth } from './change.ts';

/** What becomes of an upgrade when something happened to its invoice, or to the product of its service. */
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
  on(productChanged, 'vps.followProduct', (tx, { subject: service }) => followProduct(tx, service.id), {
    when: isVps,
  }),
  on(productChangeEnded, 'vps.returnGrowth', (tx, { subject: service }) => returnGrowth(tx, service.id), {
    when: isVps,
  }),
];
