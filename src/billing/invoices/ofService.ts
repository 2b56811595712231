import { type Context, forMany, statement, type TxContext } from '../../platform/index.ts';
import type { InvoiceKind } from './kind.ts';

const unpaidOfService = forMany(
  statement<{ id: number; kind: InvoiceKind }, { serviceId: number }>(
    'billing.unpaidOfService',
    `select i.id, i.kind from invoices i
   where i.status = 'unpaid' and i.kind <> 'manual' and i.id in (select invoice_id from invoice_items where service_id = :serviceId)
   order by i.id`,
  ),
  { serviceId: 'bigint' },
);

/** An invoice that was paid, with what its lines for one service come to. */
export interface PaidInvoice {
  id: number;
  /** Who paid it: another one than whose service it is once that was moved. */
  organizationId: number;
  /** Without the tax that was given back because there was none to pay, in both. */
  totalMinor: number;
  refundedMinor: number;
  /** What a bank asks about or holds: whoever gave it back would give it twice. */
  disputedMinor: number;
  /** Of all its lines, before tax. */
  netMinor: number;
  priceMinor: number;
  setupFeeMinor: number;
  /** With what staff has taken back of these lines since. */
  discountMinor: number;
  /** Whether who paid it is closed: nobody is there to whom something could go back. */
  isGivenUp: boolean;
}

const paidOfService = statement<PaidInvoice, { serviceId: number }>(
  'billing.paidOfService',
  `select i.id, i.organization_id as "organizationId", i.total_minor - i.tax_corrected_minor as "totalMinor",
     i.refunded_minor - i.tax_corrected_minor as "refundedMinor",
     (select coalesce(sum(d.amount_minor), 0)::bigint from disputes d join charges c on c.id = d.charge_id
      where c.invoice_id = i.id and d.state in ('asked', 'open')) as "disputedMinor",
     (select o.status = 'closed' from organizations o where o.id = i.organization_id) as "isGivenUp",
     i.subtotal_minor - i.discount_minor as "netMinor", sum(l.price_minor)::bigint as "priceMinor",
     sum(l.setup_fee_minor)::bigint as "setupFeeMinor",
     sum(l.discount_minor)::bigint - (select coalesce(sum(c.price_minor), 0)::bigint from invoices n
       join invoice_items c on c.invoice_id = n.id where n.corrects = i.id and c.service_id = :serviceId
     ) as "discountMinor"
   from invoice_items l join invoices i on i.id = l.invoice_id
   where l.service_id = :serviceId and i.kind not in ('manual', 'late_fee') and i.status in ('paid', 'partially_refunded')
   group by i.id order by i.position`,
);

const boughtByConsumer = statement<{ consumer: boolean }, { invoiceId: number }>(
  'billing.boughtByConsumer',
  'select tax_consumer as consumer from invoices where id = :invoiceId',
);

/** Whether a consumer bought it, as its invoice says: what somebody says of themselves later changes nothing. */
export async function wasConsumer(ctx: Context, invoiceId: number): Promise<boolean> {
  return (await ctx.db.one(boughtByConsumer, { invoiceId })).consumer;
}

/**
 * What was paid for a service and not given back whole, the oldest first. Staff gives back itself what it invoiced itself, and
 * a late fee was for paying late.
 */
export function paidFor(ctx: Context, serviceId: number): Promise<PaidInvoice[]> {
  return ctx.db.many(paidOfService, { serviceId });
}

/** The invoices of a service that wait for their payment; what staff issued by hand is none of its periods. */
export function unpaidFor(ctx: Context, serviceId: number) {
  return ctx.db.many(unpaidOfService, { serviceId });
}

const refundedOfService = statement<{ id: number }, { serviceId: number }>(
  'billing.refundedOfService',
  `select i.id from invoices i
   where i.status = 'refunded' and i.kind in ('order', 'renewal', 'upgrade')
     and i.id in (select invoice_id from invoice_items where service_id = :serviceId)
   order by i.created_at desc, i.id desc`,
);

/** The invoices that sold a service or time of it and whose money was all given back, the newest first. */
export async function refundedFor(ctx: Context, serviceId: number): Promise<number[]> {
  return (await ctx.db.many(refundedOfService, { serviceId })).map(({ id }) => id);
}

const partOfService = statement<{ id: number }, { serviceId: number }>(
  'billing.takenBackInPart',
  `select i.id from invoices i
   where i.status = 'partially_refunded' and i.kind in ('order', 'renewal', 'upgrade')
     and i.id in (select invoice_id from invoice_items where service_id = :serviceId)
     and exists (select 1 from refunds r where r.invoice_id = i.id and r.amount_minor > 0
       and (r.method = 'taken_back' or r.method = 'dispute' and r.state <> 'failed'))
   order by i.created_at desc, i.id desc`,
);

/** The same, of which a bank took back a part, or a part was never its customer's; the newest first. */
export async function takenBackInPart(ctx: Context, serviceId: number): Promise<number[]> {
  return (await ctx.db.many(partOfService, { serviceId })).map(({ id }) => id);
}

const lockPayers = statement<{ id: number }, { serviceIds: number[] }>(
  'billing.lockPayersOfServices',
  `select id from organizations where id in (
     select s.organization_id from services s where s.id = any(:serviceIds::bigint[])
     union select i.organization_id from invoice_items l join invoices i on i.id = l.invoice_id
       where l.service_id = any(:serviceIds::bigint[]))
   order by id for no key update`,
);

/**
 * In the order of every invoice: the organizations first, those that have the services and those that paid for them before
 * they were moved, whose documents are numbered when their money goes back. Gives which.
 */
export async function lockForServices(tx: TxContext, serviceIds: number[]): Promise<number[]> {
  return (await tx.db.many(lockPayers, { serviceIds })).map(({ id }) => id);
}

const dueOfCancelled = forMany(
  statement<{ at: Date }, { id: number }>(
    'billing.dueOfCancelled',
    `select expires_at as at from invoices where id = :id and status = 'cancelled'`,
  ),
  { id: 'bigint' },
);

/** Until when an invoice was to be paid that was given up; null for any other. */
export async function dueBefore(ctx: Context, id: number): Promise<Date | null> {
  return (await ctx.db.maybe(dueOfCancelled, { id }))?.at ?? null;
}
