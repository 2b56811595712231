import { record } from '../../events/index.ts';
import { formatMoney, statement, systemActor, type TxContext } from '../../platform/index.ts';
import { invoiceExpired } from '../events.ts';
import { returnPart } from '../payments/returnPart.ts';
import { takeBack } from './creditNote.ts';
import type { InvoiceKind } from './kind.ts';

interface Expiring {
  id: number;
  number: string | null;
  organization_id: number;
  user_id: number | null;
  kind: InvoiceKind;
  currency: string;
  total_minor: number;
  tax_minor: number;
  paid_minor: number;
}

const batch = 200;

const lockExpiring = statement<Expiring, { now: Date; limit: number }>(
  'billing.lockExpiring',
  `select id, number, organization_id, user_id, kind, currency, total_minor, tax_minor, paid_minor from invoices
   where status = 'unpaid' and kind <> 'renewal' and kind <> 'late_fee' and expires_at <= :now order by expires_at limit :limit for update skip locked`,
);
const cancelAll = statement<never, { ids: number[] }>(
  'billing.cancelAll',
  `update invoices set status = 'cancelled' where id = any(:ids::bigint[])`,
);

/**
 * Cancels invoices nobody paid in time, a batch of them. What they held is given back by whoever holds it, and what
 * was paid towards them becomes credit. What a service that runs has to pay stays open until the service ends.
 */
export async function expireInvoices(ctx: TxContext): Promise<'more' | 'done'> {
  const tx = { ...ctx, actor: systemActor };
  const expired = await tx.db.many(lockExpiring, { now: tx.clock.now(), limit: batch });
  for (const { id, organization_id: organizationId, user_id, kind, currency, ...sums } of expired) {
    const part = { id, organizationId, currency, amountMinor: sums.paid_minor };
    const credited =
      sums.paid_minor > 0 ? await returnPart(tx, { ...part, why: 'which expired' }) : undefined;
    const total = formatMoney(sums.total_minor, currency);
    await record(tx, invoiceExpired, {
      subject: { type: 'invoice', id },
      organizationId,
      data: { user_id, kind, currency, total, ...(credited && { credited }) },
    });
    await takeBack(tx, { id, ...sums }, 'It was not paid in time');
  }
  if (expired.length > 0) await tx.db.run(cancelAll, { ids: expired.map(({ id }) => id) });
  return expired.length === batch ? 'more' : 'done';
}
