import {
  type Context,
  dayOf,
  formatMoney,
  type OrganizationContext,
  requireOwn,
  requireRow,
  statement,
} from '../../platform/index.ts';
import { type Charge, viewCharge } from '../charges/charge.ts';
import { type Coming, comingOf, isComing } from '../charges/onItsWay.ts';
import { referenceOf } from '../documents/reference.ts';
import { listCredit } from '../ledger/ledger.ts';
import { paymentWays } from '../payments/ways.ts';
import type { Treatment } from '../tax/decide.ts';
import type { EvidenceOf } from '../tax/evidence.ts';
import type { TaxProof } from '../tax/taxOf.ts';
import type { InvoiceKind, PaymentMethod } from './kind.ts';
import { dueOf } from './payable.ts';
import { formatQuantity } from './quantity.ts';
import { actionsOf, type InvoiceStatus } from './states.ts';

export interface InvoiceRow {
  id: number;
  organization_id: number;
  position: number;
  number: string | null;
  issued_at: Date | null;
  corrects: number | null;
  reason: string | null;
  note: string | null;
  user_id: number | null;
  kind: InvoiceKind;
  status: InvoiceStatus;
  currency: string;
  subtotal_minor: number;
  discount_minor: number;
  tax_minor: number;
  total_minor: number;
  tax_rate_basis_points: number;
  tax_country: string | null;
  tax_exempt: boolean;
  tax_treatment: Treatment;
  tax_included: boolean;
  tax_reason: string | null;
  paid_with_credit_minor: number;
  paid_minor: number;
  credited_minor: number;
  refunded_minor: number;
  expires_at: Date;
  date_paid: Date | null;
  date_refunded: Date | null;
  created_at: Date;
  items: {
    description: string;
    product_id: number | null;
    service_id: number | null;
    price_minor: number;
    setup_fee_minor: number;
    discount_minor: number;
    quantity_thousandths: number | null;
    unit_price_minor: number | null;
    corrects_ordinal: number | null;
    tax_treatment: Treatment | null;
  }[];
  payments: {
    id: number;
    method: PaymentMethod;
    amount_minor: number;
    reference: string | null;
    received_on: string | null;
    created_at: string;
  }[];
  charge: Pick<
    Charge,
    'id' | 'amount_minor' | 'currency' | 'state' | 'decline_message' | 'needs_customer'
  > | null;
  /** A payment that is on its way. */
  coming: Coming | null;
}

export const invoiceColumns = `
  t.id, t.organization_id, t.position, t.number, t.issued_at, t.corrects, t.reason, t.note, t.user_id, t.kind, t.status, t.currency, t.subtotal_minor,
    t.discount_minor, t.tax_minor, t.total_minor, t.tax_rate_basis_points, t.tax_country, t.tax_exempt,
    t.tax_treatment, t.tax_included, t.tax_reason,
    t.paid_with_credit_minor, t.paid_minor, t.credited_minor, t.refunded_minor, t.expires_at, t.date_paid, t.date_refunded, t.created_at,
    (select coalesce(jsonb_agg(to_jsonb(l) - 'invoice_id' - 'organization_id' order by l.ordinal), '[]')
       from invoice_items l where l.invoice_id = t.id) as items,
    (select coalesce(jsonb_agg(to_jsonb(p) - 'invoice_id' - 'organization_id' order by p.created_at, p.id), '[]')
       from payments p where p.invoice_id = t.id) as payments,
    (select jsonb_build_object('id', c.id, 'amount_minor', c.amount_minor, 'currency', c.currency, 'state', c.state,
         'decline_message', c.decline_message, 'needs_customer', c.needs_customer)
       from charges c where c.invoice_id = t.id and (c.means = 'saved' or c.state not in ('open', 'over'))
       order by c.created_at desc, c.id desc limit 1) as charge,
    ${comingOf('t.id')} as coming`;

export const selectInvoice = `select ${invoiceColumns} from invoices t`;

/** An invoice with whose it is, for staff. */
export interface StaffInvoiceRow extends InvoiceRow {
  organization_name: string;
  tax_consumer: boolean;
  tax_proof: TaxProof | null;
  tax_awaits: boolean;
  tax_evidence: { kind: EvidenceOf['kind']; country: string; noted_at: string }[];
}

export const selectInvoiceForStaff = `
  select ${invoiceColumns}, o.name as organization_name, t.tax_consumer, t.tax_proof, t.tax_awaits,
    (select coalesce(jsonb_agg(to_jsonb(e) - 'invoice_id' - 'organization_id' order by e.kind), '[]')
       from tax_evidence e where e.invoice_id = t.id) as tax_evidence
  from invoices t join organizations o on o.id = t.organization_id`;

const invoiceById = statement<InvoiceRow, { id: number }>(
  'billing.invoiceById',
  `${selectInvoice} where t.id = :id`,
);

/** An invoice by its id, whoever owns it. */
export async function readInvoice(ctx: Context, id: number) {
  const row = await requireRow(ctx, invoiceById, { id });
  return { invoice: viewInvoice(ctx, row) };
}

/** An invoice of the caller's organization, and how it may be paid; `forbidden` when it is another's. */
export async function readOwnInvoice(ctx: OrganizationContext, id: number) {
  const row = await requireOwn(ctx, invoiceById, { id });
  return {
    invoice: viewInvoice(ctx, row),
    payment_ways: await paymentWays(ctx, row),
  };
}

/** An invoice as the wire shows it (contract §8). */
export function viewInvoice(ctx: Context, row: InvoiceRow) {
  const money = (minor: number) => formatMoney(minor, row.currency);
  return {
    id: row.id,
    number: row.number,
    kind: row.kind,
    issued_at: row.issued_at,
    corrects_invoice_id: row.corrects,
    reason: row.reason,
    note: row.note,
    payment_reference: referenceOf(row.id),
    duedate: dayOf(row.expires_at),
    date_paid: row.date_paid,
    date_refunded: row.date_refunded,
    price: money(row.total_minor),
    tax_rate: (row.tax_rate_basis_points / 100).toFixed(2),
    tax_country: row.tax_country,
    tax_exempt: row.tax_exempt,
    tax_treatment: row.tax_treatment,
    tax_included: row.tax_included,
    tax_reason: row.tax_reason,
    status: row.status,
    overdue: row.status === 'unpaid' && row.expires_at <= ctx.clock.now(),
    paid_with_credit: money(row.paid_with_credit_minor),
    amount_paid: money(row.paid_minor),
    amount_due: money(dueOf(row)),
    credited: money(row.credited_minor),
    refunded: money(row.refunded_minor),
    created_at: row.created_at,
    user_id: row.user_id,
    currency: row.currency,
    subtotal: money(row.subtotal_minor),
    discount: money(row.discount_minor),
    tax: money(row.tax_minor),
    total: money(row.total_minor),
    items: row.items.map((item) => ({
      description: item.description,
      product_id: item.product_id,
      service_id: item.service_id,
      quantity: formatQuantity(item.quantity_thousandths ?? 1_000),
      unit_price: money(item.unit_price_minor ?? item.price_minor),
      price: money(item.price_minor),
      setup_fee: money(item.setup_fee_minor),
      discount: money(item.discount_minor),
    })),
    actions: actionsOf({ ...row, isComing: isComing(ctx, row.coming) }),
    payments: row.payments.map((payment) => ({
      id: payment.id,
      method: payment.method,
      amount: money(payment.amount_minor),
      reference: payment.reference,
      received_on: payment.received_on,
      created_at: new Date(payment.created_at),
    })),
    charge: row.charge && viewCharge(row.charge),
  };
}

export function viewInvoiceForStaff(ctx: Context, { organization_name: name, ...row }: StaffInvoiceRow) {
  return {
    ...viewInvoice(ctx, row),
    tax_consumer: row.tax_consumer,
    tax_proof: row.tax_proof,
    tax_awaits: row.tax_awaits,
    tax_evidence: row.tax_evidence.map((piece) => ({ ...piece, noted_at: new Date(piece.noted_at) })),
    organization: { id: row.organization_id, name },
  };
}

/** The credit part of the invoice list: the balances, and what changed the one that is shown first. */
export async function creditSummary(ctx: OrganizationContext) {
  const all = await listCredit(ctx, ctx.organizationId);
  const credits = all.map(({ balanceMinor, currency }) => ({
    balance: formatMoney(balanceMinor, currency),
    currency,
  }));
  const [first] = all;
  if (first === undefined) {
    return { credit_balance: '0.00', credit_currency: null, credits, last_credit_transaction: null };
  }
  const { balanceMinor, currency, last } = first;
  return {
    credit_balance: formatMoney(balanceMinor, currency),
    credit_currency: currency,
    credits,
    last_credit_transaction: {
      amount: formatMoney(last.amountMinor, currency),
      currency,
      description: last.description,
      created_at: last.createdAt,
    },
  };
}
