import { type Context, statement } from '../../platform/index.ts';
import { type Month, monthsLater } from '../bookkeeping/month.ts';
import type { AccountKind, PostingKind } from '../ledger/accounts.ts';

interface SumRow {
  month: Month;
  kind: PostingKind;
  account: AccountKind;
  currency: string;
  debit_minor: number;
  credit_minor: number;
}

const accountsSeen = `'bank', 'provider', 'disputes', 'revenue', 'deferred'`;

// Of closed months the sums stand there. What is written since is added up here, by the day; it belongs to the first month that is
// open where its day is earlier.
const sums = statement<SumRow, { until: string }>(
  'billing.sumsByMonth',
  `with newest as (select max(month) as month from ledger_periods where state = 'closed'),
   open as (
     select greatest(coalesce(t.counts_on, (t.created_at at time zone 'UTC')::date),
         (select (month + interval '1 month')::date from newest)) as day, t.kind, a.kind as account, a.currency,
       coalesce(sum(e.amount_minor) filter (where e.amount_minor > 0), 0) as debit_minor,
       coalesce(-sum(e.amount_minor) filter (where e.amount_minor < 0), 0) as credit_minor
     from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
       join ledger_accounts a on a.id = e.account_id and a.organization_id is null and a.kind in (${accountsSeen})
     where t.created_at >= coalesce((select month::timestamp at time zone 'UTC' from newest), '-infinity')
       and not exists (select 1 from ledger_period_transactions p
         where p.transaction_id = t.id and p.month <= (select month from newest))
     group by 1, 2, 3, 4)
   select to_char(s.month, 'YYYY-MM') as month, s.kind, s.account, s.currency, s.debit_minor::bigint, s.credit_minor::bigint
   from ledger_period_sums s where s.account in (${accountsSeen}) and s.month < :until::date
   union all
   select to_char(day, 'YYYY-MM'), kind, account, currency, debit_minor::bigint, credit_minor::bigint from open
   where day < :until::date`,
);

const open = statement<
  {
    currency: string;
    invoices: number;
    total_minor: number;
    not_due_minor: number;
    days_0_30_minor: number;
    days_31_60_minor: number;
    days_61_90_minor: number;
    days_over_90_minor: number;
  },
  { now: Date }
>(
  'billing.openByAge',
  `select currency, count(*)::int as invoices, sum(minor)::bigint as total_minor,
     coalesce(sum(minor) filter (where days is null), 0)::bigint as not_due_minor,
     coalesce(sum(minor) filter (where days <= 30), 0)::bigint as days_0_30_minor,
     coalesce(sum(minor) filter (where days between 31 and 60), 0)::bigint as days_31_60_minor,
     coalesce(sum(minor) filter (where days between 61 and 90), 0)::bigint as days_61_90_minor,
     coalesce(sum(minor) filter (where days > 90), 0)::bigint as days_over_90_minor
   from (select currency, total_minor - paid_minor as minor, case when expires_at <= :now
           then floor(extract(epoch from :now::timestamptz - expires_at) / 86400)::int end as days
         from invoices where status = 'unpaid' and kind <> 'top_up') i
   group by currency`,
);

export interface MoneyOfMonth {
  month: Month;
  currency: string;
  /** Revenue, less what was given back of it. */
  earnedMinor: number;
  /** Owed as service at the end of the month. */
  deferredMinor: number;
  /** What customers paid, but for what was credit before, and what went back to where it came from. */
  cashInMinor: number;
  cashOutMinor: number;
}

/** Which postings bring customers' money or give it back, on the accounts where money lies. Others move it among us. */
const flows: Readonly<Record<PostingKind, 'in' | 'out' | null>> = {
  ...{ invoice_issued: null, invoice_taken_back: null, part_returned: null, revenue_earned: null },
  ...{ invoice_paid: 'in', invoice_part_paid: 'in', transfer_credited: 'in', charge_credited: 'in' },
  ...{ invoice_refunded: 'out', charge_taken_back: 'out', transfer_taken_back: 'out', refund_failed: 'out' },
  ...{ refund_undone: 'out', credit_returned: 'out' },
  ...{ credit_granted: null, credit_given_up: null, provider_payout: null, provider_fee: null },
  ...{ dispute_opened: null, dispute_won: null },
};
const money: ReadonlySet<AccountKind> = new Set<AccountKind>(['bank', 'provider', 'disputes']);

/**
 * What the ledger says of each month, both included, by currency, and how old what is open is now. A currency in which
 * nothing was ever posted is not in it.
 */
export async function moneyFigures(ctx: Context, { from, to }: { from: Month; to: Month }) {
  const [rows, aged] = await Promise.all([
    ctx.db.many(sums, { until: `${monthsLater(to, 1)}-01` }),
    ctx.db.many(open, { now: ctx.clock.now() }),
  ]);
  const byCurrency = [...Map.groupBy(rows, ({ currency }) => currency)];
  return { months: byCurrency.flatMap(([currency, ofIt]) => monthsOf(currency, ofIt, from, to)), open: aged };
}

function monthsOf(currency: string, rows: SumRow[], from: Month, to: Month): MoneyOfMonth[] {
  const byMonth = Map.groupBy(rows, ({ month }) => (month < from ? '' : month));
  const sum = (ofMonth: SumRow[], of: (row: SumRow) => number) =>
    ofMonth.reduce((all, row) => all + of(row), 0);
  const grown = (row: SumRow) => row.credit_minor - row.debit_minor;
  let deferredMinor = 0;
  const found: MoneyOfMonth[] = [];
  for (let month = ''; month <= to; month = month === '' ? from : monthsLater(month, 1)) {
    const ofMonth = byMonth.get(month) ?? [];
    deferredMinor += sum(ofMonth, (row) => (row.account === 'deferred' ? grown(row) : 0));
    if (month === '') continue;
    found.push({
      month,
      currency,
      earnedMinor: sum(ofMonth, (row) => (row.account === 'revenue' ? grown(row) : 0)),
      deferredMinor,
      cashInMinor: sum(ofMonth, (row) => (isFlow(row, 'in') ? -grown(row) : 0)),
      cashOutMinor: sum(ofMonth, (row) => (isFlow(row, 'out') ? grown(row) : 0)),
    });
  }
  return found;
}

function isFlow({ account, kind }: SumRow, way: 'in' | 'out'): boolean {
  return money.has(account) && flows[kind] === way;
}
