import { record } from '../events/index.ts';
import { enqueueNamed, statement, systemActor, type TxContext } from '../platform/index.ts';

interface Expiring {
  id: number;
  organization_id: number;
  kind: string;
  coupon_id: number | null;
}

const batch = 200;

const expire = statement<Expiring, { now: Date; limit: number }>(
  'billing.expire',
  `update invoices set status = 'cancelled'
   where id in (select id from invoices where status = 'unpaid' and expires_at <= :now
     order by expires_at limit :limit
                for update skip locked)
   returning id, organization_id, kind, coupon_id`,
);

/**
 * Cancels invoices nobody paid in time, a batch of them. What they held is given back by whoever holds it:
 * `invoice.expired`.
 */
export async function expireInvoices(ctx: TxContext): Promise<'more' | 'done'> {
  const expired = await ctx.db.many(expire, { now: ctx.clock.now(), limit: batch });
  for (const invoice of expired) {
    const { organization_id: organizationId, id } = invoice;
    const scoped = { ...ctx, organizationId, actor: systemActor };
    await record(scoped, { action: 'invoice.expired', subject: { type: 'invoice', id } });
    await enqueueNamed(scoped, 'invoice.expired', {
      invoiceId: id,
      kind: invoice.kind,
      couponId: invoice.coupon_id,
    });
  }
  return expired.length === batch ? 'more' : 'done';
}
