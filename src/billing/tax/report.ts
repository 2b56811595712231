import type { Bytes } from '../../platform/http/index.ts';
import { type Context, dayOf, fail, formatMoney, statement } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import { company } from '../documents/company.ts';
import type { Treatment } from './decide.ts';
import { evidenceElsewhere, isOutside } from './elsewhere.ts';
import { isInUnion, taxCountry } from './union.ts';

interface Row {
  country: string | null;
  treatment: Treatment;
  rate_basis_points: number;
  consumer: boolean;
  currency: string;
  invoices: number;
  net_minor: number;
  tax_minor: number;
  returned_net_minor: number;
  returned_tax_minor: number;
  unproven: number;
}

interface Span {
  from: Date;
  until: Date;
}

// A top-up buys nothing: what is bought with it is taxed then. A credit note says what a refund has said.
const notSupplied = `('top_up', 'credit_note')`;

const reportRows = statement<Row, Span>(
  'billing.taxReport',
  `with moved as (
     select i.id, null::text as treatment, null::text as country, 1 as invoices, i.total_minor - i.tax_minor as net, i.tax_minor as tax, 0::bigint as returned_net,
       0::bigint as returned_tax
     from invoices i where i.date_paid >= :from and i.date_paid < :until and not i.booked_at_issue
     union all
     select i.id, null, null, 1, i.total_minor - i.tax_minor, i.tax_minor, 0, 0
     from invoices i where i.issued_at >= :from and i.issued_at < :until and i.booked_at_issue
     union all
     select i.id, null, null, 0, 0, 0, c.tax_minor - c.total_minor, -c.tax_minor
     from invoices c join invoices i on i.id = c.corrects and i.booked_at_issue and i.status = 'cancelled'
     where c.issued_at >= :from and c.issued_at < :until
     union all
     -- What goes back of what is taxed anew goes back as it is taxed then.
     select r.invoice_id, case when isAnew then 'reverse_charge' end, case when isAnew then i.buyer->>'country' end,
       0, 0, 0, r.amount_minor - r.tax_minor, r.tax_minor
     from refunds r join invoices i on i.id = r.invoice_id
     cross join lateral (select i.tax_corrected_minor > 0 and r.tax_minor = 0 as isAnew) a
     where r.created_at >= :from and r.created_at < :until
     union all
     select n.corrects, case when w.isAnew then l.tax_treatment end, case when w.isAnew then n.buyer->>'country' end, 0,
       case when w.isAnew then l.price_minor else 0 end, 0, case when w.isAnew then 0 else l.price_minor end, 0
     from invoices n join invoice_items l on l.invoice_id = n.id and l.tax_treatment is not null
     cross join (values (true), (false)) w(isAnew)
     where n.kind = 'credit_note' and n.issued_at >= :from and n.issued_at < :until)
   select coalesce(m.country, i.tax_country) as country, coalesce(m.treatment, i.tax_treatment) as treatment,
     case when m.treatment is null then i.tax_rate_basis_points else 0 end as rate_basis_points,
     i.tax_consumer as consumer, i.currency, sum(m.invoices)::int as invoices, sum(m.net)::bigint as net_minor,
     sum(m.tax)::bigint as tax_minor, sum(m.returned_net)::bigint as returned_net_minor,
     sum(m.returned_tax)::bigint as returned_tax_minor,
     coalesce(sum(m.invoices) filter (where case when i.tax_treatment = 'taxed' then i.tax_consumer and (
         select count(*) from tax_evidence e where e.invoice_id = i.id and e.country = i.tax_country) < 2
       else ${isOutside('i')} and ${evidenceElsewhere('i')} is not null end), 0)::int as unproven
   from moved m join invoices i on i.id = m.id and i.kind not in ${notSupplied}
   group by 1, 2, 3, 4, 5 order by 1 nulls last, 2, 3, 4, 5`,
);
const bookedTax = statement<{ currency: string; minor: number }, Span>(
  'billing.taxBooked',
  `select a.currency, -sum(e.amount_minor)::bigint as minor
   from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
   join ledger_accounts a on a.id = e.account_id and a.kind = 'tax'
   where t.created_at >= :from and t.created_at < :until group by a.currency`,
);

/**
 * What was sold and given back in a quarter (in UTC) by country, rate and kind of buyer, for tax returns and the one-stop
 * shop; with what the ledger says of the same days, which has to be the same. An invoice counts on the day it was paid,
 * or issued where invoices count from then on; what went back, or was given up, on the day it was. `invalid_request` for what is no quarter.
 */
export async function reportTax(ctx: Context, quarter: string) {
  const span = spanOf(quarter);
  const [{ country: home }, rows, booked] = await Promise.all([
    readSettings(ctx, company),
    ctx.db.many(reportRows, span),
    ctx.db.many(bookedTax, span),
  ]);
  return {
    quarter,
    from: dayOf(span.from),
    until: dayOf(new Date(span.until.getTime() - 1)),
    rows: rows.map((row) => view(row, home)),
    totals: totalsOf(rows, booked),
  };
}

/** The same rows as CSV, with a header. */
export async function exportTax(ctx: Context, quarter: string): Promise<Bytes> {
  const { rows } = await reportTax(ctx, quarter);
  const lines = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? '')))];
  const body = lines.map((cells) => `${cells.join(',')}\r\n`).join('');
  return { body: Buffer.from(body), name: `tax-${quarter}.csv` };
}

type ReportRow = ReturnType<typeof view>;

// Codes, counts and amounts: none of them can hold a comma, a quotation mark or a formula.
const columns = [
  ...([
    'country',
    'treatment',
    'rate',
    'consumer',
    'one_stop_shop',
    'currency',
    'invoices',
    'net',
    'tax',
  ] as const),
  ...(['returned_net', 'returned_tax', 'taxable', 'tax_due', 'unproven'] as const),
] satisfies (keyof ReportRow)[];

function spanOf(quarter: string): Span {
  const match = /^(2\d{3})-Q([1-4])$/.exec(quarter);
  if (!match) {
    const message = 'must be a quarter such as 2026-Q4';
    throw fail('invalid_request', { details: [{ field: 'quarter', message }] });
  }
  const [year, month] = [Number(match[1]), (Number(match[2]) - 1) * 3];
  return { from: new Date(Date.UTC(year, month)), until: new Date(Date.UTC(year, month + 3)) };
}

function view(row: Row, home: string | null) {
  const { country, currency, treatment } = row;
  const money = (minor: number) => formatMoney(minor, currency);
  return {
    country,
    treatment,
    rate: (row.rate_basis_points / 100).toFixed(2),
    consumer: row.consumer,
    one_stop_shop: treatment === 'taxed' && isDeclaredElsewhere(home, country),
    currency,
    invoices: row.invoices,
    net: money(row.net_minor),
    tax: money(row.tax_minor),
    returned_net: money(row.returned_net_minor),
    returned_tax: money(row.returned_tax_minor),
    taxable: money(row.net_minor - row.returned_net_minor),
    tax_due: money(row.tax_minor - row.returned_tax_minor),
    unproven: row.unproven,
  };
}

/** Tax of another country of the union, which the provider's own collects in the one-stop shop. */
function isDeclaredElsewhere(home: string | null, country: string | null): boolean {
  if (home === null || country === null || !isInUnion(home) || !isInUnion(country)) return false;
  return taxCountry(home) !== country;
}

function totalsOf(rows: readonly Row[], booked: readonly { currency: string; minor: number }[]) {
  const currencies = new Set([...rows, ...booked].map(({ currency }) => currency));
  return [...currencies].toSorted().map((currency) => {
    const ofThis = rows.filter((row) => row.currency === currency);
    const dueMinor = ofThis.reduce((sum, row) => sum + row.tax_minor - row.returned_tax_minor, 0);
    const ledgerMinor = booked.find((each) => each.currency === currency)?.minor ?? 0;
    return {
      currency,
      tax_due: formatMoney(dueMinor, currency),
      ledger: formatMoney(ledgerMinor, currency),
      difference: formatMoney(dueMinor - ledgerMinor, currency),
    };
  });
}
