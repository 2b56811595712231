import { type MoneyOfMonth, type Month, moneyFigures, monthOf, monthsLater } from '../../billing/index.ts';
import { type Context, fail, formatMoney, statement } from '../../platform/index.ts';

interface RecurringRow {
  currency: string;
  /** Null: all months before. */
  month: Month | null;
  new: number;
  expanded: number;
  contracted: number;
  lost: number;
}

const recurringByMonth = statement<RecurringRow, { from: string; until: string }>(
  'services.recurringByMonth',
  `select currency, case when counts_on >= :from::date then to_char(counts_on, 'YYYY-MM') end as month,
     coalesce(sum(minor) filter (where kind = 'new'), 0)::bigint as new,
     coalesce(sum(minor) filter (where kind = 'expanded'), 0)::bigint as expanded,
     coalesce(sum(minor) filter (where kind = 'contracted'), 0)::bigint as contracted,
     coalesce(sum(minor) filter (where kind = 'lost'), 0)::bigint as lost
   from recurring_changes where counts_on < :until::date group by 1, 2`,
);

const mostMonths = 36;

/**
 * What the company brings: recurring revenue and how it moved, what was earned, what is owed as service, and money that came
 * and went, by month and currency; and how old is what is open. `invalid_request` for no months or too many.
 */
export async function readFigures(ctx: Context, asked: { from?: Month | undefined; to?: Month | undefined }) {
  const now = ctx.clock.now();
  const to = asked.to ?? monthOf(now);
  const months = monthsBetween(asked.from ?? monthsLater(to, -11), to);
  const [from = to] = months;
  const [rows, money] = await Promise.all([
    ctx.db.many(recurringByMonth, { from: `${from}-01`, until: `${monthsLater(to, 1)}-01` }),
    moneyFigures(ctx, { from, to }),
  ]);
  const currencies = new Set([...rows, ...money.months, ...money.open].map(({ currency }) => currency));
  return {
    from,
    to,
    as_of: now,
    currencies: [...currencies].toSorted().map((currency) => ({
      currency,
      months: viewMonths(currency, months, rows, money.months),
      open: viewOpen(currency, money.open),
    })),
  };
}

function monthsBetween(from: Month, to: Month): Month[] {
  const months: Month[] = [];
  for (let month = from; month <= to && months.length <= mostMonths; month = monthsLater(month, 1))
    months.push(month);
  if (months.length > 0 && months.length <= mostMonths) return months;
  const message =
    months.length === 0
      ? 'must not be before the month in from'
      : `must be at most ${mostMonths} months from it`;
  throw fail('invalid_request', { details: [{ field: 'to', message }] });
}

const noMoves = { new: 0, expanded: 0, contracted: 0, lost: 0 };
const noMoney = { earnedMinor: 0, deferredMinor: 0, cashInMinor: 0, cashOutMinor: 0 };

function viewMonths(currency: string, months: Month[], rows: RecurringRow[], money: MoneyOfMonth[]) {
  const text = (minor: number) => formatMoney(minor, currency);
  const ofMonth = (month: Month | null) =>
    rows.find((row) => row.currency === currency && row.month === month) ?? noMoves;
  const netOf = (row: typeof noMoves) => row.new + row.expanded - row.contracted - row.lost;
  let recurringMinor = netOf(ofMonth(null));
  let deferredMinor = 0;
  return months.map((month) => {
    const row = ofMonth(month);
    const { earnedMinor, cashInMinor, cashOutMinor, ...held } = money.find(
      (each) => each.currency === currency && each.month === month,
    ) ?? { ...noMoney, deferredMinor };
    deferredMinor = held.deferredMinor;
    const startMinor = recurringMinor;
    recurringMinor += netOf(row);
    return {
      month,
      recurring: {
        start: text(startMinor),
        new: text(row.new),
        expanded: text(row.expanded),
        contracted: text(row.contracted),
        lost: text(row.lost),
        end: text(recurringMinor),
      },
      earned: text(earnedMinor),
      deferred: text(deferredMinor),
      cash_in: text(cashInMinor),
      cash_out: text(cashOutMinor),
    };
  });
}

type Open = Awaited<ReturnType<typeof moneyFigures>>['open'][number];

function viewOpen(currency: string, open: Open[]) {
  const found = open.find((each) => each.currency === currency);
  const text = (minor = 0) => formatMoney(minor, currency);
  return {
    invoices: found?.invoices ?? 0,
    total: text(found?.total_minor),
    not_due: text(found?.not_due_minor),
    days_0_30: text(found?.days_0_30_minor),
    days_31_60: text(found?.days_31_60_minor),
    days_61_90: text(found?.days_61_90_minor),
    days_over_90: text(found?.days_over_90_minor),
  };
}
