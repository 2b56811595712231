import { record } from '../events/index.ts';
import { formatMoney, statement, systemActor, type TxContext } from '../platform/index.ts';
import { invoiceExpired } from './events.ts';
import type { NewInvoice } from './issue.ts';

interface Expiring {
  id: number;
  organization_id: number;
  user_id: number | null;
  kind: NewInvoice['kind'];
  currency: string;
  total_minor: number;
}

const batch = 200;

const expire = statement<Expiring, { now: Date; limit: number }>(
  'billing.expire',
  `update invoices set status = 'cancelled'
   where id in (select id from invoices where status = 'unpaid' and expires_at <= :now
     order by expires_at limit :limit
                for update skip locked)
   returning id, organization_id, user_id, kind, currency, total_minor`,
);

/** Cancels invoices nobody paid in time, a batch of them. What they held is given back by whoever holds it. */
export async function expireInvoices(ctx: TxContext): Promise<'more' | 'done'> {
  const expired = await ctx.db.many(expire, { now: ctx.clock.now(), limit: batch });
  for (const { id, organization_id: organizationId, user_id, kind, currency, total_minor } of expired) {
    await record({ ...ctx, actor: systemActor }, invoiceExpired, {
      subject: { type: 'invoice', id },
      organizationId,
      data: { user_id, kind, currency, total: formatMoney(total_minor, currency) },
    });
  }
  return expired.length === batch ? 'more' : 'done';
}
