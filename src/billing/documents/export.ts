import { type Bytes, type Columns, csv } from '../../platform/http/index.ts';
import {
  type Context,
  fail,
  formatMoney,
  msPerDay,
  type OrganizationContext,
  statement,
} from '../../platform/index.ts';
import type { Buyer } from './parties.ts';

/** What a bookkeeper needs of a document. */
interface IssuedRow {
  id: number;
  organization_id: number;
  number: string;
  kind: string;
  status: string;
  issued_at: Date;
  expires_at: Date;
  date_paid: Date | null;
  buyer: Buyer | null;
  currency: string;
  subtotal_minor: number;
  discount_minor: number;
  tax_minor: number;
  total_minor: number;
  paid_minor: number;
  refunded_minor: number;
  tax_rate_basis_points: number;
  tax_country: string | null;
  corrects: string | null;
}

interface Range {
  from: Date;
  until: Date;
  afterAt: Date;
  afterId: number;
  limit: number;
}

const selectIssued = `
  select t.id, t.organization_id, t.number, t.kind, t.status, t.issued_at, t.expires_at, t.date_paid, t.buyer, t.currency,
    t.subtotal_minor, t.discount_minor, t.tax_minor, t.total_minor, t.paid_minor, t.refunded_minor,
    t.tax_rate_basis_points, t.tax_country, c.number as corrects
  from invoices t left join invoices c on c.id = t.corrects`;
const inRange = `t.issued_at >= :from and t.issued_at < :until and (t.issued_at, t.id) > (:afterAt, :afterId)
  order by t.issued_at, t.id limit :limit`;

const issuedByAll = statement<IssuedRow, Range>('billing.issuedByAll', `${selectIssued} where ${inRange}`);
const issuedByOne = statement<IssuedRow, Range & { organizationId: number }>(
  'billing.issuedByOne',
  `${selectIssued} where t.organization_id = :organizationId and ${inRange}`,
);

/** Days of issue (UTC), both included; without one, no end on that side. */
export interface Period {
  from?: string | undefined;
  to?: string | undefined;
}

const batch = 500;

/**
 * The invoices and credit notes that an organization was issued in a period, in that order, as CSV. What has no number
 * is no document yet and is not in it. `invalid_request` when the period ends before it begins.
 */
export function exportInvoices(ctx: OrganizationContext, period: Period): Bytes {
  const { organizationId } = ctx;
  const rows = (range: Range) => ctx.db.many(issuedByOne, { ...range, organizationId });
  return csv(nameOf(period), columns, inBatches(rows, rangeOf(period)));
}

/** The same of all organizations, with whose each is. */
export function exportInvoicesForStaff(ctx: Context, period: Period): Bytes {
  const rows = (range: Range) => ctx.db.many(issuedByAll, range);
  return csv(nameOf(period), columnsForStaff, inBatches(rows, rangeOf(period)));
}

function nameOf({ from, to }: Period): string {
  return `invoices${from === undefined ? '' : `-from-${from}`}${to === undefined ? '' : `-to-${to}`}.csv`;
}

function rangeOf({ from = '0001-01-01', to = '9999-12-30' }: Period): Range {
  const begins = new Date(`${from}T00:00:00.000Z`);
  const until = new Date(Date.parse(`${to}T00:00:00.000Z`) + msPerDay);
  if (begins < until) return { from: begins, until, afterAt: begins, afterId: 0, limit: batch };
  throw fail('invalid_request', {
    details: [{ field: 'to', message: 'must not be before the day in from' }],
  });
}

async function* inBatches(
  read: (range: Range) => Promise<IssuedRow[]>,
  range: Range,
): AsyncGenerator<IssuedRow> {
  for (let after = range; ; ) {
    const rows = await read(after);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < batch) return;
    after = { ...after, afterAt: last.issued_at, afterId: last.id };
  }
}

const day = (time: Date | null) => time?.toISOString().slice(0, 10) ?? null;
const money = (of: (row: IssuedRow) => number) => (row: IssuedRow) => formatMoney(of(row), row.currency);

const columns: Columns<IssuedRow> = {
  number: (row) => row.number,
  kind: (row) => row.kind,
  date: (row) => day(row.issued_at),
  due_date: (row) => day(row.expires_at),
  status: (row) => row.status,
  customer: (row) => row.buyer?.name ?? null,
  customer_tax_id: (row) => row.buyer?.tax_id ?? null,
  customer_country: (row) => row.buyer?.country ?? null,
  currency: (row) => row.currency,
  subtotal: money((row) => row.subtotal_minor),
  discount: money((row) => row.discount_minor),
  net: money((row) => row.subtotal_minor - row.discount_minor),
  tax_country: (row) => row.tax_country,
  tax_rate: (row) => (row.tax_rate_basis_points / 100).toFixed(2),
  tax: money((row) => row.tax_minor),
  total: money((row) => row.total_minor),
  paid: money((row) => row.paid_minor),
  date_paid: (row) => day(row.date_paid),
  refunded: money((row) => row.refunded_minor),
  corrects: (row) => row.corrects,
  invoice_id: (row) => row.id,
};
const columnsForStaff: Columns<IssuedRow> = { ...columns, organization_id: (row) => row.organization_id };
