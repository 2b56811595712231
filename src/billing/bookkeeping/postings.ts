import { type Context, statement } from '../../platform/index.ts';
import type { AccountKind, PostingKind } from '../ledger/accounts.ts';
import { firstDayOf, type Month, monthsLater } from './month.ts';

/** A posting of a closed month, with nothing in it that can change any more. */
export interface PostingRow {
  id: number;
  kind: PostingKind;
  description: string;
  organization_id: number | null;
  invoice_id: number | null;
  /** The day it counts for, which may lie before the month when it was written late. */
  day: string;
  created_at: Date;
  /** The number of its invoice and whom that is made out to, if it had one by the end of the month. */
  number: string | null;
  customer: string | null;
  currency: string;
  /** Debits positive. */
  entries: { account: AccountKind; minor: number }[];
}

const postings = statement<
  PostingRow,
  { month: string; until: string; currency: string | null; after: number; limit: number }
>(
  'billing.postingsOfPeriod',
  `select t.id, t.kind, t.description, t.organization_id, t.invoice_id, t.created_at,
     to_char(coalesce(t.counts_on, (t.created_at at time zone 'UTC')::date), 'YYYY-MM-DD') as day,
     i.number, i.customer, e.currency, e.entries
   from ledger_period_transactions p join ledger_transactions t on t.id = p.transaction_id
   cross join lateral (
     select min(a.currency) as currency,
       jsonb_agg(jsonb_build_object('account', a.kind, 'minor', n.amount_minor) order by a.kind) as entries
     from ledger_entries n join ledger_accounts a on a.id = n.account_id where n.transaction_id = t.id) e
   left join lateral (
     select v.number, v.buyer->>'name' as customer from invoices v
     where v.id = t.invoice_id and v.issued_at < :until::date::timestamp at time zone 'UTC') i on true
   where p.month = :month::date and p.transaction_id > :after and (:currency::text is null or e.currency = :currency)
   order by p.transaction_id limit :limit`,
);

const batch = 500;

/** All postings of a closed month in the order in which they were written, a batch in memory at a time. */
export async function* postingsOf(
  ctx: Context,
  month: Month,
  currency: string | null = null,
): AsyncGenerator<PostingRow> {
  const period = { month: firstDayOf(month), until: firstDayOf(monthsLater(month, 1)) };
  for (let after = 0; ; ) {
    const rows = await ctx.db.many(postings, { ...period, currency, after, limit: batch });
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < batch) return;
    after = last.id;
  }
}
