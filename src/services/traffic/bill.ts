import { dueAt, issueInvoice, lockForTax, taxOf } from '../../billing/index.ts';
import type { TrafficRow } from '../../catalog/index.ts';
import { type Context, forMany, newId, statement, type TxContext } from '../../platform/index.ts';
import { lockTerms, requireTerms, type Terms } from '../terms.ts';
import { settleRest } from './settle.ts';

interface OpenMonth {
  month: string;
  currency: string;
  terms: TrafficRow;
  over: number;
  amountMinor: number;
}

// An invoice that was cancelled asked for nothing: what stood on it is open again, unless it was staff who gave it up.
const openMonths = forMany(
  statement<OpenMonth, { serviceId: number }>(
    'services.openTraffic',
    `select to_char(t.month, 'YYYY-MM') as month, t.currency, t.terms, t.over_thousandths as over, t.amount_minor as "amountMinor"
   from service_traffic t left join invoices i on i.id = t.invoice_id
   where t.service_id = :serviceId and t.amount_minor > 0 and (t.invoice_id is null or i.status = 'cancelled' and not i.waived)
   order by t.month`,
  ),
  { serviceId: 'bigint' },
);
const putOn = statement<never, { serviceId: number; months: string[]; invoiceId: number }>(
  'services.putTrafficOnInvoice',
  `update service_traffic set invoice_id = :invoiceId, organization_id = (select s.organization_id from services s where s.id = :serviceId)
   where service_id = :serviceId and month = any(:months::date[])`,
);

/** Months (`YYYY-MM`) of traffic that were reckoned, and that no invoice asks for. */
export async function monthsToBill(ctx: Context, serviceId: number): Promise<string[]> {
  return (await ctx.db.many(openMonths, { serviceId })).map(({ month }) => month);
}

/** What is open of a service's traffic, as lines of an invoice that is about to be issued in its currency. Its row is locked. */
export async function openTraffic(tx: TxContext, service: Terms) {
  const open = await tx.db.many(openMonths, { serviceId: service.id });
  const months = open.filter(({ currency }) => currency === service.currency);
  return {
    lines: months.map((each) => lineOf(service, each)),
    /** Once the invoice is written. */
    putOn: async (invoiceId: number) => {
      if (months.length === 0) return;
      const on = months.map(({ month }) => `${month}-01`);
      await tx.db.run(putOn, { serviceId: service.id, months: on, invoiceId });
    },
  };
}

/** A service has ended: what its traffic came to until now is asked for by a last invoice, if it is anything. Repeating it changes nothing. */
export async function billLastTraffic(tx: TxContext, serviceId: number): Promise<void> {
  const service = await lockToBill(tx, serviceId);
  await settleRest(tx, serviceId);
  await invoiceTraffic(tx, service);
}

/** Asks for what is open of a service's traffic by an invoice of its own, if it is anything. The service is locked, and its organization before it. */
export async function invoiceTraffic(tx: TxContext, service: Terms): Promise<void> {
  const traffic = await openTraffic(tx, service);
  if (traffic.lines.length === 0) return;
  const invoiceId = newId();
  await issueInvoice(tx, {
    ...{ id: invoiceId, organizationId: service.organizationId, userId: service.userId, kind: 'manual' },
    ...{ currency: service.currency, lines: traffic.lines, couponId: null, expiresAt: dueAt(tx) },
    tax: await taxOf(tx, service.organizationId, { lock: false }),
  });
  await traffic.putOn(invoiceId);
}

/** In the order of every invoice: the organization first, then what it is for. */
export async function lockToBill(tx: TxContext, serviceId: number): Promise<Terms> {
  const { organizationId } = await requireTerms(tx, serviceId);
  await lockForTax(tx, organizationId);
  return lockTerms(tx, serviceId);
}

/** Of no service's period: it was used, so it is earned at once, and nothing of it goes back with days that are left. */
function lineOf({ domain, productName }: Terms, { month, terms, over, amountMinor }: OpenMonth) {
  const what =
    terms.billing === 'total'
      ? `traffic in ${month} beyond ${terms.included} TB, in TB`
      : `95th percentile in ${month} beyond ${terms.included} Mbit/s, in Mbit/s`;
  return {
    ...{ productId: null, serviceId: null, description: `${domain ?? productName}, ${what}` },
    ...{ priceMinor: amountMinor, setupFeeMinor: 0, discountMinor: 0 },
    ...{ quantityThousandths: over, unitPriceMinor: terms.price_minor },
  };
}
