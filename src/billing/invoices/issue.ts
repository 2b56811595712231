import { record } from '../../events/index.ts';
import {
  type Context,
  dayOf,
  forMany,
  formatMoney,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import { invoiceCreated } from '../events.ts';
import { findCredit } from '../ledger/ledger.ts';
import { payments } from '../payments/settings.ts';
import type { Treatment } from '../tax/decide.ts';
import { noteEvidence } from '../tax/evidence.ts';
import type { Tax, TaxProof } from '../tax/taxOf.ts';
import type { InvoiceKind } from './kind.ts';
import { giveNumber } from './number.ts';
import { partiesOf } from './parties.ts';
import { bookIssued, countsAtIssue } from './receivable.ts';
import { type Totals, totalsOf } from './totals.ts';

export interface Line {
  productId: number | null;
  serviceId: number | null;
  description: string;
  priceMinor: number;
  setupFeeMinor: number;
  discountMinor: number;
  /** Of a line by quantity: how much of it, and what one costs; `priceMinor` is what both come to. */
  quantityThousandths?: number;
  unitPriceMinor?: number;
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
  /** What the document says besides. */
  note?: string | null;
}

const insertInvoice = forMany(
  statement<
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
      taxTreatment: Treatment;
      taxIncluded: boolean;
      taxReason: string | null;
      taxConsumer: boolean;
      taxProof: TaxProof | null;
      taxAwaits: boolean;
      couponId: number | null;
      bookedAtIssue: boolean;
      expiresAt: Date;
      now: Date;
      seller: object;
      buyer: object;
      note: string | null;
      items: string;
    }
  >(
    'billing.insertInvoice',
    `with invoice as (
     insert into invoices (id, organization_id, position, user_id, kind, status, currency, subtotal_minor,
       discount_minor, tax_minor, total_minor, tax_rate_basis_points, tax_country, tax_exempt, tax_treatment,
       tax_included, tax_reason, tax_consumer, tax_proof, tax_awaits, coupon_id, booked_at_issue, expires_at,
       created_at, seller, buyer, note)
     values (:id, :organizationId, (select coalesce(max(position), 0) + 1 from invoices
       where organization_id = :organizationId), :userId, :kind,
       'unpaid', :currency, :subtotalMinor, :discountMinor, :taxMinor, :totalMinor, :taxRateBasisPoints, :taxCountry,
       :taxExempt, :taxTreatment, :taxIncluded, :taxReason, :taxConsumer, :taxProof, :taxAwaits, :couponId,
       :bookedAtIssue, :expiresAt, :now, :seller::jsonb, :buyer::jsonb, :note))
   insert into invoice_items (invoice_id, ordinal, organization_id, product_id, service_id, description, price_minor,
     setup_fee_minor, discount_minor, quantity_thousandths, unit_price_minor)
   select :id, i.ordinal, :organizationId, i.product_id, i.service_id, i.description, i.price_minor,
     i.setup_fee_minor, i.discount_minor, i.quantity_thousandths, i.unit_price_minor
   from jsonb_to_recordset(:items::jsonb) as i(ordinal int, product_id bigint, service_id bigint,
     description text, price_minor bigint, setup_fee_minor bigint, discount_minor bigint,
     quantity_thousandths bigint, unit_price_minor bigint)`,
  ),
  {
    id: 'bigint',
    organizationId: 'bigint',
    userId: 'bigint',
    kind: 'text',
    currency: 'text',
    subtotalMinor: 'bigint',
    discountMinor: 'bigint',
    taxMinor: 'bigint',
    totalMinor: 'bigint',
    taxRateBasisPoints: 'int',
    taxCountry: 'text',
    taxExempt: 'boolean',
    taxTreatment: 'text',
    taxIncluded: 'boolean',
    taxReason: 'text',
    taxConsumer: 'boolean',
    taxProof: 'jsonb',
    taxAwaits: 'boolean',
    couponId: 'bigint',
    bookedAtIssue: 'boolean',
    expiresAt: 'timestamptz',
    now: 'timestamptz',
    seller: 'jsonb',
    buyer: 'jsonb',
    note: 'text',
    items: 'jsonb',
  },
  (given) => `with given as materialized (select * from ${given}),
   invoice as (
     insert into invoices (id, organization_id, position, user_id, kind, status, currency, subtotal_minor,
       discount_minor, tax_minor, total_minor, tax_rate_basis_points, tax_country, tax_exempt, tax_treatment,
       tax_included, tax_reason, tax_consumer, tax_proof, tax_awaits, coupon_id, booked_at_issue, expires_at,
       created_at, seller, buyer, note)
     select id, "organizationId", (select coalesce(max(i.position), 0) from invoices i
         where i.organization_id = "organizationId") + row_number() over (partition by "organizationId" order by nth_),
       "userId", kind, 'unpaid', currency, "subtotalMinor", "discountMinor", "taxMinor", "totalMinor",
       "taxRateBasisPoints", "taxCountry", "taxExempt", "taxTreatment", "taxIncluded", "taxReason", "taxConsumer",
       "taxProof", "taxAwaits", "couponId", "bookedAtIssue", "expiresAt", now, seller, buyer, note
     from given order by nth_),
   items as (
     insert into invoice_items (invoice_id, ordinal, organization_id, product_id, service_id, description, price_minor,
       setup_fee_minor, discount_minor, quantity_thousandths, unit_price_minor)
     select g.id, i.ordinal, g."organizationId", i.product_id, i.service_id, i.description, i.price_minor,
       i.setup_fee_minor, i.discount_minor, i.quantity_thousandths, i.unit_price_minor
     from given g cross join lateral jsonb_to_recordset(g.items) as i(ordinal int, product_id bigint, service_id bigint,
       description text, price_minor bigint, setup_fee_minor bigint, discount_minor bigint,
       quantity_thousandths bigint, unit_price_minor bigint)
     returning invoice_id)
   select given.nth_ from given join items on items.invoice_id = given.id`,
);

const msPerHour = 3_600_000;

/**
 * When an invoice that is issued now is due: so many hours from now, and on to the end of that day (UTC), since a
 * day is what the customer is told.
 */
export function dueAt(ctx: Context): Date {
  const due = new Date(ctx.clock.now().getTime() + ctx.config.invoiceDueHours * msPerHour);
  return endOfDay(dayOf(due));
}

/** The last moment of a day, `YYYY-MM-DD` in UTC. */
export function endOfDay(day: string): Date {
  return new Date(`${day}T23:59:59.999Z`);
}

/**
 * Writes an unpaid invoice, with who sells and who buys as they are now. The caller holds the organization's lock
 * ({@link taxOf}). Where invoices are numbered when they are issued, it counts from now on: it is booked, and gets its
 * number, for which others wait from here to the end of the transaction.
 */
export async function issueInvoice(ctx: TxContext, invoice: NewInvoice): Promise<Totals> {
  const { tax } = invoice;
  const totals = totalsOf(invoice.lines, tax);
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
    quantity_thousandths: line.quantityThousandths ?? null,
    unit_price_minor: line.unitPriceMinor ?? null,
  }));
  const credit = await creditFirst(ctx, invoice);
  const isBooked = countsAtIssue(ctx, { kind: invoice.kind, totalMinor: totals.totalMinor });
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
    taxRateBasisPoints: tax.rateBasisPoints,
    taxCountry: tax.country,
    taxExempt: tax.exempt,
    taxTreatment: tax.treatment,
    taxIncluded: tax.included,
    taxReason: tax.reason,
    taxConsumer: tax.consumer,
    taxProof: tax.proof,
    taxAwaits: tax.awaits,
    couponId: invoice.couponId,
    bookedAtIssue: isBooked,
    expiresAt: invoice.expiresAt,
    now,
    ...parties,
    note: invoice.note ?? null,
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
      duedate: dayOf(invoice.expiresAt),
      ...credit,
      items: invoice.lines.map((line) => ({
        description: line.description,
        amount: formatMoney(line.priceMinor + line.setupFeeMinor - line.discountMinor, invoice.currency),
      })),
    },
  });
  const shown = noteEvidence(ctx, invoice, tax.evidence);
  await Promise.all([written, told, shown]);
  const lines = invoice.lines.map(({ serviceId, ...line }) => ({
    service_id: serviceId,
    minor: line.priceMinor + line.setupFeeMinor - line.discountMinor,
  }));
  if (isBooked) await bookIssued(ctx, { ...invoice, ...totals }, lines);
  if (ctx.config.invoiceNumbering === 'issue')
    await giveNumber(ctx, { id: invoice.id, kind: 'invoice', now });
  return totals;
}

/** What a renewal will be paid from first, on its day, for whoever is told of it. */
async function creditFirst(
  ctx: TxContext,
  { kind, organizationId, currency }: NewInvoice,
): Promise<{ credit?: string }> {
  if (kind !== 'renewal') return {};
  const creditMinor = (await findCredit(ctx, organizationId, currency))?.balanceMinor ?? 0;
  if (creditMinor <= 0 || !(await readSettings(ctx, payments)).credit_first) return {};
  return { credit: formatMoney(creditMinor, currency) };
}
