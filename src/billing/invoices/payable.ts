import {
  forMany,
  formatMoney,
  type OrganizationContext,
  requireOwn,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import type { InvoiceKind } from './kind.ts';

/** What has to be known of an invoice to take money for it. */
export interface Payable {
  id: number;
  number: string | null;
  organization_id: number;
  user_id: number | null;
  position: number;
  kind: InvoiceKind;
  status: string;
  currency: string;
  tax_minor: number;
  total_minor: number;
  /** What came in towards it so far. */
  paid_minor: number;
  /** It counts since it was issued. */
  booked_at_issue: boolean;
  expires_at: Date;
  /** What each line costs after its discount, before tax. */
  lines: { service_id: number | null; minor: number }[];
}

const selectPayable = `select id, number, organization_id, user_id, position, kind, status, currency, tax_minor, total_minor,
     paid_minor, booked_at_issue, expires_at,
     (select coalesce(jsonb_agg(jsonb_build_object('service_id', l.service_id,
        'minor', l.price_minor + l.setup_fee_minor - l.discount_minor) order by l.ordinal), '[]')
        from invoice_items l where l.invoice_id = invoices.id) as lines
   from invoices`;

/** An invoice, its row locked: nobody else pays, cancels or refunds it meanwhile. */
export const lockInvoice = forMany(
  statement<Payable, { id: number }>(
    'billing.lockInvoice',
    `${selectPayable} where id = :id for no key update`,
  ),
  { id: 'bigint' },
);

/** The same without the lock, for what only looks. */
export const invoiceById = statement<Payable, { id: number }>(
  'billing.payableById',
  `${selectPayable} where id = :id`,
);

const lockOwn = statement<Payable, { id: number; organizationId: number }>(
  'billing.lockOwnInvoice',
  `${selectPayable} where id = :id and organization_id = :organizationId for no key update`,
);

/** An invoice, locked, for a caller, who never waits for a stranger's invoice, nor keeps it waiting. `not_found`, `forbidden`. */
export async function lockOwnInvoice(tx: OrganizationContext & TxContext, id: number): Promise<Payable> {
  const { organizationId } = tx;
  return (await tx.db.maybe(lockOwn, { id, organizationId })) ?? requireOwn(tx, invoiceById, { id });
}

/** The same of several, in the order in which all lock them. */
export const lockInvoices = statement<Payable, { ids: number[] }>(
  'billing.lockInvoices',
  `${selectPayable} where id = any(:ids::bigint[]) order by id for no key update`,
);

/** All that an organization has to pay in a currency. */
export const lockUnpaid = statement<Payable, { organizationId: number; currency: string }>(
  'billing.lockUnpaid',
  `${selectPayable} where organization_id = :organizationId and status = 'unpaid' and currency = :currency
   order by id for no key update`,
);

/** What is open for a service, but for the order that it came from, and what staff issued by hand for work that was done. */
export const lockOpenOf = statement<Payable, { serviceId: number }>(
  'billing.lockOpenOf',
  `${selectPayable} where status = 'unpaid' and kind not in ('order', 'manual')
     and id in (select invoice_id from invoice_items where service_id = :serviceId)
   order by id for no key update`,
);

/** What is due of an invoice: nothing once it is paid or cancelled. */
export function dueOf(invoice: Pick<Payable, 'status' | 'total_minor' | 'paid_minor'>): number {
  return invoice.status === 'unpaid' ? invoice.total_minor - invoice.paid_minor : 0;
}

/** An amount with its currency, for a sentence: `3.00 EUR`. */
export function inWords(minor: number, currency: string): string {
  return `${formatMoney(minor, currency)} ${currency}`;
}
