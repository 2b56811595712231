import { record } from '../../events/index.ts';
import {
  type Context,
  formatMoney,
  requireExact,
  shareOf,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { invoiceCreated } from '../events.ts';
import type { InvoiceKind } from './kind.ts';
import { giveNumber } from './number.ts';
import { partiesOf } from './parties.ts';

/** Where an organization pays tax; read with the organization locked, so its invoices are numbered in order. */
export interface Tax {
  country: string | null;
  rateBasisPoints: number;
  exempt: boolean;
}

export interface Line {
  productId: number | null;
  serviceId: number | null;
  description: string;
  priceMinor: number;
  setupFeeMinor: number;
  discountMinor: number;
}

export interface Totals {
  subtotalMinor: number;
  discountMinor: number;
  taxMinor: number;
  totalMinor: number;
}

export interface NewInvoice {
  id: number;
  organizationId: number;
  userId: number | null;
  kind: InvoiceKind;
  currency: string;
  lines: Line[];
  tax: Tax;
  couponId: number | null;
  expiresAt: Date;
}

interface TaxRow {
  country: string | null;
  rate_basis_points: number | null;
}

const selectTax = `select coalesce(p.country, o.country) as country, t.rate_basis_points from organizations o
   left join billing_profiles p on p.organization_id = o.id
   left join tax_rates t on t.country = coalesce(p.country, o.country) where o.id = :organizationId`;
const readTaxRow = statement<TaxRow, { organizationId: number }>('billing.tax', selectTax);
const readTaxRowLocked = statement<TaxRow, { organizationId: number }>(
  'billing.taxLocked',
  `${selectTax} for no key update of o`,
);

const insertInvoice = statement<
  never,
  {
    id: number;
    organizationId: number;
    userId: number | null;
    kind: InvoiceKind;
    currency: string;
    subtotalMinor: number;
    discountMinor: number;
    taxMinor: number;
    totalMinor: number;
    taxRateBasisPoints: number;
    taxCountry: string | null;
    taxExempt: boolean;
    couponId: number | null;
    expiresAt: Date;
    now: Date;
    seller: object;
    buyer: object;
    items: string;
  }
>(
  'billing.insertInvoice',
  `with invoice as (
     insert into invoices (id, organization_id, position, user_id, kind, status, currency, subtotal_minor,
       discount_minor, tax_minor, total_minor, tax_rate_basis_points, tax_country, tax_exempt, coupon_id, expires_at,
       created_at, seller, buyer)
     values (:id, :organizationId, (select coalesce(max(position), 0) + 1 from invoices
       where organization_id = :organizationId), :userId, :kind,
       'unpaid', :currency, :subtotalMinor, :discountMinor, :taxMinor, :totalMinor, :taxRateBasisPoints, :taxCountry,
       :taxExempt, :couponId, :expiresAt, :now, :seller::jsonb, :buyer::jsonb))
   insert into invoice_items (invoice_id, ordinal, organization_id, product_id, service_id, description, price_minor,
     setup_fee_minor, discount_minor)
   select :id, i.ordinal, :organizationId, i.product_id, i.service_id, i.description, i.price_minor,
     i.setup_fee_minor,
     i.discount_minor
   from jsonb_to_recordset(:items::jsonb) as i(ordinal int, product_id bigint, service_id bigint,
     description text,
     price_minor bigint, setup_fee_minor bigint, discount_minor bigint)`,
);

/** Which tax an organization's invoices carry. With `lock`, other invoices of it wait for this one. */
export async function taxOf(ctx: Context, organizationId: number, options: { lock: boolean }): Promise<Tax> {
  const row = await ctx.db.one(options.lock ? readTaxRowLocked : readTaxRow, { organizationId });
  return {
    country: row.country,
    rateBasisPoints: row.rate_basis_points ?? 0,
    exempt: row.rate_basis_points === null,
  };
}

/** Sums of an invoice. Tax is on what remains after discounts, once over the whole, rounded half up. */
export function totalsOf(lines: readonly Line[], tax: Tax): Totals {
  const subtotalMinor = requireExact(
    lines.reduce((sum, line) => sum + requireExact(line.priceMinor) + requireExact(line.setupFeeMinor), 0),
  );
  const discountMinor = lines.reduce((sum, line) => sum + line.discountMinor, 0);
  const taxMinor = shareOf(subtotalMinor - discountMinor, tax.rateBasisPoints);
  const totalMinor = requireExact(subtotalMinor - discountMinor + taxMinor);
  return { subtotalMinor, discountMinor, taxMinor, totalMinor };
}

const msPerHour = 3_600_000;

/**
 * When an invoice that is issued now is due: so many hours from now, and on to the end of that day (UTC), since a
 * day is what the customer is told.
 */
export function dueAt(ctx: Context): Date {
  const due = new Date(ctx.clock.now().getTime() + ctx.config.invoiceDueHours * msPerHour);
  due.setUTCHours(23, 59, 59, 999);
  return due;
}

/**
 * Writes an unpaid invoice, with who sells and who buys as they are now. The caller holds the organization's lock
 * ({@link taxOf}). Where invoices are numbered when they are issued, it gets its number, for which others wait from here
 * to the end of the transaction.
 */
export async function issueInvoice(ctx: TxContext, invoice: NewInvoice): Promise<Totals> {
  const totals = totalsOf(invoice.lines, invoice.tax);
  const now = ctx.clock.now();
  const parties = await partiesOf(ctx, invoice.organizationId);
  const items = invoice.lines.map((line, index) => ({
    ordinal: index + 1,
    product_id: line.productId,
    service_id: line.serviceId,
    description: line.description,
    price_minor: line.priceMinor,
    setup_fee_minor: line.setupFeeMinor,
    discount_minor: line.discountMinor,
  }));
  const written = ctx.db.run(insertInvoice, {
    id: invoice.id,
    organizationId: invoice.organizationId,
    userId: invoice.userId,
    kind: invoice.kind,
    currency: invoice.currency,
    subtotalMinor: totals.subtotalMinor,
    discountMinor: totals.discountMinor,
    taxMinor: totals.taxMinor,
    totalMinor: totals.totalMinor,
    taxRateBasisPoints: invoice.tax.rateBasisPoints,
    taxCountry: invoice.tax.country,
    taxExempt: invoice.tax.exempt,
    couponId: invoice.couponId,
    expiresAt: invoice.expiresAt,
    now,
    ...parties,
    items: JSON.stringify(items),
  });
  // Told of without waiting: what the journal says fails with what it tells of.
  const told = record(ctx, invoiceCreated, {
    subject: { type: 'invoice', id: invoice.id },
    organizationId: invoice.organizationId,
    data: {
      kind: invoice.kind,
      user_id: invoice.userId,
      currency: invoice.currency,
      total: formatMoney(totals.totalMinor, invoice.currency),
      duedate: invoice.expiresAt.toISOString().slice(0, 10),
      items: invoice.lines.map((line) => ({
        description: line.description,
        amount: formatMoney(line.priceMinor + line.setupFeeMinor - line.discountMinor, invoice.currency),
      })),
    },
  });
  await Promise.all([written, told]);
  if (ctx.config.invoiceNumbering === 'issue')
    await giveNumber(ctx, { id: invoice.id, kind: 'invoice', now });
  return totals;
}
