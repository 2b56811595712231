import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type Context, fail, statement } from '../../platform/index.ts';
import type { Month } from './month.ts';

interface PeriodRow {
  month: Month;
  state: 'closing' | 'closed';
  transactions: number;
  closed_at: Date | null;
}

const columns = `to_char(t.month, 'YYYY-MM') as month, t.state, t.transactions, t.closed_at`;

const periods = pagedList<PeriodRow>({
  name: 'billing.periods',
  from: 'ledger_periods t',
  select: `select ${columns} from ledger_periods t`,
  key: { by: `to_char(t.month, 'YYYY-MM')`, type: 'text', of: (row) => row.month },
  sorts: { month: null },
  order: '-month',
});
const periodOf = statement<PeriodRow, { month: string }>(
  'billing.period',
  `select ${columns} from ledger_periods t where t.month = :month::date`,
);

/** The months whose books are closed, or are being closed, newest first. */
export async function listPeriods(ctx: Context, query: ListRequest) {
  const { rows, at } = await periods(ctx, query);
  return listData('periods', rows, at);
}

/** `period_open` unless the books of a month are closed. */
export async function requireClosed(ctx: Context, month: Month): Promise<void> {
  const period = await ctx.db.maybe(periodOf, { month: `${month}-01` });
  if (period?.state !== 'closed') throw fail('period_open');
}
