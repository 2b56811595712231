import { record } from '../../events/index.ts';
import {
  doEach,
  formatMoney,
  notSetAside,
  statement,
  systemActor,
  type TxContext,
} from '../../platform/index.ts';
import { invoiceExpired } from '../events.ts';
import { returnPart } from '../payments/returnPart.ts';
import { closePages } from '../payments/settle.ts';
import { takeBack } from './creditNote.ts';
import type { InvoiceKind } from './kind.ts';

const job = 'billing.expire';

interface Expiring {
  id: number;
  number: string | null;
  organization_id: number;
  organizationId: number;
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
  `select id, number, organization_id, organization_id as "organizationId", user_id, kind, currency, total_minor, tax_minor, paid_minor,
     booked_at_issue from invoices
   where status = 'unpaid' and kind not in ('renewal', 'late_fee', 'manual') and expires_at <= :now
     and ${notSetAside(job, 'invoices.id')}
   order by expires_at limit :limit for update skip locked`,
);
const cancel = statement<{ id: number; organization_id: number; has_page: boolean }, { id: number }>(
  'billing.cancelExpired',
  `update invoices set status = 'cancelled' where id = :id
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
  await doEach(tx, job, expired, expire);
  return expired.length === batch ? 'more' : 'done';
}

async function expire(tx: TxContext, invoice: Expiring): Promise<void> {
  const { id, organizationId, user_id, kind, currency, paid_minor: amountMinor } = invoice;
  const part = { id, organizationId, currency, amountMinor };
  const credited = amountMinor > 0 ? await returnPart(tx, { ...part, why: 'which expired' }) : undefined;
  const total = formatMoney(invoice.total_minor, currency);
  await record(tx, invoiceExpired, {
    subject: { type: 'invoice', id },
    organizationId,
    data: { user_id, kind, currency, total, ...(credited && { credited }) },
  });
  await takeBack(tx, invoice, 'It was not paid in time');
  const cancelled = await tx.db.one(cancel, { id });
  if (cancelled.has_page) await closePages(tx, cancelled);
}
