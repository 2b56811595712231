import { type Context, statement } from '../../platform/index.ts';
import type { InvoiceKind } from './kind.ts';

const unpaidOfService = statement<{ id: number; kind: InvoiceKind }, { serviceId: number }>(
  'billing.unpaidOfService',
  `select i.id, i.kind from invoices i
   where i.status = 'unpaid' and i.id in (select invoice_id from invoice_items where service_id = :serviceId)
   order by i.id`,
);

/** An invoice that was paid, with what its lines for one service come to. */
export interface PaidInvoice {
  id: number;
  totalMinor: number;
  refundedMinor: number;
  /** Of all its lines, before tax. */
  netMinor: number;
  priceMinor: number;
  setupFeeMinor: number;
  discountMinor: number;
}

const paidOfService = statement<PaidInvoice, { serviceId: number }>(
  'billing.paidOfService',
  `select i.id, i.total_minor as "totalMinor", i.refunded_minor as "refundedMinor",
     i.subtotal_minor - i.discount_minor as "netMinor", sum(l.price_minor)::bigint as "priceMinor",
     sum(l.setup_fee_minor)::bigint as "setupFeeMinor", sum(l.discount_minor)::bigint as "discountMinor"
   from invoice_items l join invoices i on i.id = l.invoice_id
   where l.service_id = :serviceId and i.status in ('paid', 'partially_refunded')
   group by i.id order by i.position`,
);

/** What was paid for a service and not given back whole, the oldest first. */
export function paidFor(ctx: Context, serviceId: number): Promise<PaidInvoice[]> {
  return ctx.db.many(paidOfService, { serviceId });
}

/** The invoices of a service that wait for their payment. */
export function unpaidFor(ctx: Context, serviceId: number) {
  return ctx.db.many(unpaidOfService, { serviceId });
}
