import { record } from '../../events/index.ts';
import { formatMoney, statement, systemActor, type TxContext } from '../../platform/index.ts';
import { invoiceExpired } from '../events.ts';
import { returnPart } from '../payments/returnPart.ts';
import { closePages } from '../payments/settle.ts';
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
  booked_at_issue: boolean;
}

const batch = 200;

const lockExpiring = statement<Expiring, { now: Date; limit: number }>(
  'billing.lockExpiring',
  `select id, number, organization_id, user_id, kind, currency, total_minor, tax_minor, paid_minor,
     booked_at_issue from invoices
   where status = 'unpaid' and kind not in ('renewal', 'late_fee', 'manual') and expires_at <= :now
   order by expires_at limit :limit for update skip locked`,
);
const cancelAll = statement<{ id: number; organization_id: number; has_page: boolean }, { ids: number[] }>(
  'billing.cancelAll',
  `update invoices set status = 'cancelled' where id = any(:ids::bigint[])
   returning id, organization_id, exists (select 1 from charges c where c.invoice_id = invoices.id and c.state = 'open'
     and c.page_reference is not null) as has_page`,
);

/**
 * Cancels invoices nobody paid in time, a batch of them. What they held is given back by whoever holds it, and what
 * was paid towards them becomes credit. What a service that runs has to pay stays open until the service ends, and what
 * staff has issued by hand until staff cancels it.
 */
export async function expireInvoices(ctx: TxContext): Promise<'more' | 'done'> {
  const tx = { ...ctx, actor: systemActor };
  const expired = await tx.db.many(lockExpiring, { now: tx.clock.now(), limit: batch });
  for (const invoice of expired) {
    const { id, organization_id: organizationId, user_id, kind, currency, ...sums } = invoice;
    const part = { id, organizationId, currency, amountMinor: sums.paid_minor };
    const credited =
      sums.paid_minor > 0 ? await returnPart(tx, { ...part, why: 'which expired' }) : undefined;
    const total = formatMoney(sums.total_minor, currency);
    await record(tx, invoiceExpired, {
      subject: { type: 'invoice', id },
      organizationId,
      data: { user_id, kind, currency, total, ...(credited && { credited }) },
    });
    await takeBack(tx, invoice, 'It was not paid in time');
  }
  if (expired.length > 0) {
    const cancelled = await tx.db.many(cancelAll, { ids: expired.map(({ id }) => id) });
    for (const invoice of cancelled) if (invoice.has_page) await closePages(tx, invoice);
  }
  return expired.length === batch ? 'more' : 'done';
}
