import { type Context, statement } from '../../platform/index.ts';
import type { InvoiceKind } from './kind.ts';

const unpaidOfService = statement<{ id: number; kind: InvoiceKind }, { serviceId: number }>(
  'billing.unpaidOfService',
  `select i.id, i.kind from invoices i
   where i.status = 'unpaid' and i.id in (select invoice_id from invoice_items where service_id = :serviceId)
   order by i.id`,
);

/** The invoices of a service that wait for their payment. */
export function unpaidFor(ctx: Context, serviceId: number) {
  return ctx.db.many(unpaidOfService, { serviceId });
}
