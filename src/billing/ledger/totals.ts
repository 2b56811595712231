import { type Context, formatMoney, statement } from '../../platform/index.ts';
import { accounts } from './accounts.ts';

/** Something that is shown and is not what the entries say. */
export interface Difference {
  organizationId: number | null;
  what: string;
  /** Tells it from others of its kind, the same in every check. */
  subject: string;
  message: string;
}

/**
 * Accounts of the books, by themselves or several together, with the rows that have to add up to the same: what those are
 * in words, and as SQL of `currency` and `minor`. Assets and expenses are what was debited, the others what was credited.
 * Three things no row says besides the ledger: a gift (`goodwill`), what nobody bears but us (`losses`), and what was `given_up`.
 */
const kept = {
  bank: {
    of: ['bank'],
    rows: 'the transfers and payouts that were booked, less the credit that was paid out,',
    sql: `select currency, amount_minor as minor from transfers where taken_back_at is null
      union all select currency, booked_minor from payouts
      union all select currency, -amount_minor from credit_returns where state <> 'cancelled'`,
  },
  provider: {
    of: ['provider'],
    rows: 'the charges that came, less what went back, is disputed, was paid out or was kept as a fee,',
    // A refund that was made at the provider's desk, or by a bank, stands in both tables; and may fail all the same.
    sql: `select currency, amount_minor as minor from charges where state = 'paid'
      union all select coalesce(fee_currency, currency), -fee_minor from charges
      union all select coalesce(fee_currency, currency), -fee_minor from disputes
      union all select currency, -amount_minor from disputes where state = 'open'
      union all select currency, -booked_minor from payouts
      union all select coalesce(fee_currency, currency), -fee_minor from payouts
      union all select c.currency, -r.amount_minor from charge_returns r join charges c on c.id = r.charge_id
      union all select r.currency, case when exists (select 1 from charge_returns g where g.reference = r.reference)
          then case r.state when 'failed' then r.amount_minor else 0 end
          else case r.state when 'failed' then 0 else -r.amount_minor end end
        from refunds r where r.charge_id is not null`,
  },
  disputes: {
    of: ['disputes'],
    rows: 'the disputes that are open',
    sql: `select currency, amount_minor as minor from disputes where state = 'open'`,
  },
  fees: {
    of: ['fees'],
    rows: 'the fees of charges, disputes and payouts',
    sql: `select coalesce(fee_currency, currency) as currency, fee_minor as minor from charges
      union all select coalesce(fee_currency, currency), fee_minor from disputes
      union all select coalesce(fee_currency, currency), fee_minor from payouts`,
  },
  receivable: {
    of: ['receivable'],
    rows: 'the open invoices that count since they were issued',
    sql: `select currency, total_minor as minor from invoices where status = 'unpaid' and booked_at_issue`,
  },
  parts: {
    of: ['parts'],
    rows: 'what was paid towards open invoices',
    sql: `select currency, paid_minor as minor from invoices where status = 'unpaid'`,
  },
  deferred: {
    of: ['deferred'],
    rows: 'what is left to be earned of each service',
    sql: 'select currency, amount_minor - earned_minor - returned_minor as minor from deferrals',
  },
  tax: {
    of: ['tax'],
    rows: 'the taxes of the invoices that count, less what was given back of them,',
    sql: `select currency, tax_minor as minor from counted union all select currency, -tax_minor from given_back`,
  },
  sold: {
    of: ['revenue', 'deferred'],
    rows: 'the net amounts of the invoices that count, less what was given back of them,',
    sql: `select currency, total_minor - tax_minor as minor from counted
      union all select currency, tax_minor - amount_minor from given_back`,
  },
} as const;

type Total = keyof typeof kept;

const credited = Object.entries(accounts)
  .flatMap(([kind, { type }]) => (type === 'liability' || type === 'income' ? `'${kind}'` : []))
  .join(', ');

/** All of it is one statement, so that both sides are of one moment. */
const totals = statement<{ name: Total; currency: string; ledger_minor: number; rows_minor: number }>(
  'billing.ledgerTotals',
  `with counted as (
     select currency, total_minor, tax_minor from invoices where kind not in ('top_up', 'credit_note')
       and (status in ('paid', 'refunded', 'partially_refunded') or status = 'unpaid' and booked_at_issue)),
   given_back as (
     select r.currency, r.amount_minor, r.tax_minor from refunds r join invoices i on i.id = r.invoice_id
     where i.kind <> 'top_up'),
   accounts as (
     select a.kind, a.currency, sum(case when a.kind in (${credited}) then -e.amount_minor else e.amount_minor end) as minor
     from ledger_accounts a join ledger_entries e on e.account_id = a.id where a.kind <> 'credit'
     group by a.kind, a.currency),
   ledger as (
     select w.name, a.currency, sum(a.minor) as minor
     from (values ${membersOf()}) as w(name, kind) join accounts a on a.kind = w.kind group by w.name, a.currency),
   counts as (${Object.entries(kept)
     .map(
       ([name, { sql }]) =>
         `select '${name}' as name, currency, sum(minor) as minor from (${sql}) r group by currency`,
     )
     .join('\n     union all ')})
   select name, currency, coalesce(l.minor, 0)::bigint as ledger_minor, coalesce(c.minor, 0)::bigint as rows_minor
   from ledger l full join counts c using (name, currency)
   where coalesce(l.minor, 0) <> coalesce(c.minor, 0) order by name, currency`,
);

function membersOf(): string {
  return Object.entries(kept)
    .flatMap(([name, { of }]) => of.map((kind) => `('${name}', '${kind}')`))
    .join(', ');
}

/** Accounts that hold another amount than the rows that they stand for. */
export async function totalsThatDiffer(ctx: Context): Promise<Difference[]> {
  const found = await ctx.db.many(totals);
  return found.map(({ name, currency, ledger_minor, rows_minor }) => {
    const { of, rows } = kept[name];
    const [held, counted] = [ledger_minor, rows_minor].map(
      (minor) => `${formatMoney(minor, currency)} ${currency}`,
    );
    const holds = of.length === 1 ? `The account ${of[0]} holds` : `The accounts ${of.join(' and ')} hold`;
    return {
      organizationId: null,
      what: 'total',
      subject: `${name} ${currency}`,
      message: `${holds} ${held}, and ${rows} add up to ${counted}`,
    };
  });
}
