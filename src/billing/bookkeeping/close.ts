import { type PeriodicJob, statement, type TxContext } from '../../platform/index.ts';
import { firstDayOf, type Month, monthOf, monthsLater } from './month.ts';

interface Period {
  month: Month;
  state: 'closing' | 'closed';
  reached: number;
}

const lockNewest = statement<Period>(
  'billing.lockNewestPeriod',
  `select to_char(month, 'YYYY-MM') as month, state, reached from ledger_periods order by ledger_periods.month desc limit 1
   for update`,
);
/** A posting counts for a day that it names, or for that on which it was written. */
const dayOf = `coalesce(t.counts_on, (t.created_at at time zone 'UTC')::date)`;
const oldestMonth = statement<{ month: Month | null }>(
  'billing.oldestMonth',
  `select to_char(${dayOf}, 'YYYY-MM') as month from ledger_transactions t order by t.id limit 1`,
);
const leftToEarn = statement<{ left: boolean }, { following: string }>(
  'billing.leftToEarn',
  'select exists (select 1 from deferrals where earns_on <= :following::date) as left',
);
// What was written down late, of the month before, is looked for as well.
const beginPeriod = statement<never, { month: string; before: string }>(
  'billing.beginPeriod',
  `insert into ledger_periods (month, state, reached)
   select :month::date, 'closing', coalesce((select min(id) - 1 from ledger_transactions
     where created_at >= :before::date::timestamp at time zone 'UTC'), 0)`,
);
const takeIn = statement<
  { seen: number; taken: number; last: number },
  { month: string; following: string; until: string; reached: number; limit: number }
>(
  'billing.takeIntoPeriod',
  `with batch as (
     select t.id, ${dayOf} as day from ledger_transactions t where t.id > :reached
       and t.created_at < :until::date::timestamp at time zone 'UTC' order by t.id limit :limit),
   taken as (
     insert into ledger_period_transactions (month, transaction_id)
     select :month::date, b.id from batch b where b.day < :following::date
       and not exists (select 1 from ledger_period_transactions p where p.transaction_id = b.id) order by b.id
     returning transaction_id)
   select (select count(*)::int from batch) as seen, (select count(*)::int from taken) as taken,
     coalesce((select max(id) from batch), 0)::bigint as last`,
);
const goOn = statement<never, { month: string; reached: number; taken: number }>(
  'billing.goOnWithPeriod',
  'update ledger_periods set reached = :reached, transactions = transactions + :taken where month = :month::date',
);
const close = statement<never, { month: string; now: Date }>(
  'billing.closePeriod',
  `with sums as (
     insert into ledger_period_sums (month, kind, account, currency, debit_minor, credit_minor)
     select p.month, t.kind, a.kind, a.currency, coalesce(sum(e.amount_minor) filter (where e.amount_minor > 0), 0),
       coalesce(-sum(e.amount_minor) filter (where e.amount_minor < 0), 0)
     from ledger_period_transactions p join ledger_transactions t on t.id = p.transaction_id
       join ledger_entries e on e.transaction_id = t.id join ledger_accounts a on a.id = e.account_id
     where p.month = :month::date group by p.month, t.kind, a.kind, a.currency)
   update ledger_periods set state = 'closed', closed_at = :now where month = :month::date`,
);

const atOnce = 20_000;
/** After the end of a month, so that what was written in its last seconds is there. */
const pauseMs = 3_600_000;

/**
 * Closes the books of a month once it is over and all of it is earned, the oldest first, a batch at a time. What a month
 * holds is written down then and never changes: a posting for one of its days that comes later belongs to the month that
 * is closed next.
 */
export const closing: PeriodicJob = { name: 'billing.closeBooks', intervalMs: 600_000, work: closeBooks };

async function closeBooks(tx: TxContext): Promise<'more' | 'done'> {
  const newest = await tx.db.maybe(lockNewest);
  if (newest?.state === 'closing') return takeBatch(tx, newest);
  const month = newest === null ? await firstMonth(tx) : monthsLater(newest.month, 1);
  if (month === null || !(await mayClose(tx, month))) return 'done';
  await tx.db.run(beginPeriod, {
    month: firstDayOf(month),
    before: firstDayOf(monthsLater(month, -1)),
  });
  return 'more';
}

async function firstMonth(tx: TxContext): Promise<Month | null> {
  return (await tx.db.maybe(oldestMonth))?.month ?? null;
}

async function mayClose(tx: TxContext, month: Month): Promise<boolean> {
  const following = firstDayOf(monthsLater(month, 1));
  const now = tx.clock.now();
  if (month >= monthOf(now) || now.getTime() < Date.parse(`${following}T00:00:00Z`) + pauseMs) return false;
  return !(await tx.db.one(leftToEarn, { following })).left;
}

async function takeBatch(tx: TxContext, { month, reached }: Period): Promise<'more'> {
  const day = firstDayOf(month);
  const { seen, taken, last } = await tx.db.one(takeIn, {
    ...{ month: day, following: firstDayOf(monthsLater(month, 1)), reached, limit: atOnce },
    // In installations that close years at once, each month looks at its own and what came soon after.
    until: firstDayOf(monthsLater(month, 3)),
  });
  await tx.db.run(goOn, { month: day, reached: Math.max(reached, last), taken });
  if (seen < atOnce) await tx.db.run(close, { month: day, now: tx.clock.now() });
  return 'more';
}
