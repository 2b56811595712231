import { type Context, formatMoney, statement } from '../../platform/index.ts';
import type { AccountKind } from './accounts.ts';

/** Something that is shown and is not what the entries say. */
export interface Difference {
  organizationId: number | null;
  what: string;
  /** Tells it from others of its kind, the same in every check. */
  subject: string;
  message: string;
}

interface Totals {
  kind: AccountKind;
  currency: string;
  ledger_minor: number;
  rows_minor: number;
}

/**
 * What the provider's accounts hold, and what the rows that say the same add up to: one statement, so both are of one
 * moment. Assets are what was debited, the others what was credited.
 */
const totals = statement<Totals>(
  'billing.ledgerTotals',
  `with ledger as (
     select a.kind, a.currency, sum(case when a.kind = 'bank' then e.amount_minor else -e.amount_minor end)::bigint as minor
     from ledger_accounts a join ledger_entries e on e.account_id = a.id
     where a.organization_id is null and a.kind in ('bank', 'parts', 'deferred') group by a.kind, a.currency),
   counted as (
     select 'bank' as kind, currency, sum(amount_minor)::bigint as minor from transfers
       where taken_back_at is null group by currency
     union all
     select 'parts', currency, sum(paid_minor)::bigint from invoices where status = 'unpaid' group by currency
     union all
     select 'deferred', currency, sum(amount_minor - earned_minor - returned_minor)::bigint from deferrals group by currency)
   select kind, currency, coalesce(l.minor, 0) as ledger_minor, coalesce(c.minor, 0) as rows_minor
   from ledger l full join counted c using (kind, currency)
   where coalesce(l.minor, 0) <> coalesce(c.minor, 0)`,
);

const rowsOf: Partial<Record<AccountKind, string>> = {
  bank: 'the transfers that were booked',
  parts: 'what was paid towards open invoices',
  deferred: 'what is left to be earned of each service',
};

/** Accounts that hold another amount than the rows that they stand for. */
export async function totalsThatDiffer(ctx: Context): Promise<Difference[]> {
  const found = await ctx.db.many(totals);
  return found.map(({ kind, currency, ledger_minor, rows_minor }) => ({
    organizationId: null,
    what: 'total',
    subject: `${kind} ${currency}`,
    message:
      `The account ${kind} holds ${formatMoney(ledger_minor, currency)} ${currency}, and ${rowsOf[kind] ?? 'its rows'} add up to ` +
      `${formatMoney(rows_minor, currency)} ${currency}`,
  }));
}
