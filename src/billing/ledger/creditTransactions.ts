import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { formatMoney, type OrganizationContext, statement } from '../../platform/index.ts';
import type { PostingKind } from './accounts.ts';
import { listCredit } from './ledger.ts';

interface CreditEntryRow {
  sequence: number;
  amount_minor: number;
  balance_minor: number;
  currency: string;
  kind: PostingKind;
  description: string;
  invoice_id: number | null;
  created_at: Date;
}

const entries = pagedList<CreditEntryRow>({
  name: 'billing.creditEntries',
  from: 'ledger_entries e',
  select: `select e.sequence, -e.amount_minor as amount_minor, e.balance_minor, a.currency, t.kind, t.description, t.invoice_id,
      t.created_at
    from ledger_entries e join ledger_transactions t on t.id = e.transaction_id join ledger_accounts a on a.id = e.account_id`,
  within: 'e.account_id = :accountId',
  key: { by: 'e.sequence', type: 'bigint', of: (row) => row.sequence },
  sorts: { created_at: null },
  order: '-created_at',
  numbered: true,
});

// The first one that the organization had is the one whose balance its list of invoices begins with.
const creditAccount = statement<{ id: number }, { organizationId: number; currency: string | null }>(
  'billing.creditAccount',
  `select id from ledger_accounts where organization_id = :organizationId and kind = 'credit'
     and (:currency::text is null or currency = :currency)
   order by id limit 1`,
);

/**
 * Everything that changed the organization's credit in one currency, newest first unless sorted, each with the balance
 * after it. Without a currency it is the first that there was.
 */
export async function listCreditTransactions(
  ctx: OrganizationContext,
  query: ListRequest & { currency?: string | undefined },
) {
  const { organizationId } = ctx;
  const account = await ctx.db.maybe(creditAccount, { organizationId, currency: query.currency ?? null });
  // No account has the id 0, so a list without one is empty, and a cursor is held to its shape all the same.
  const { rows, at } = await entries(ctx, query, { accountId: account?.id ?? 0 });
  const all = await listCredit(ctx, organizationId);
  const shown = rows.map((row) => ({
    number: row.sequence,
    kind: row.kind,
    amount: formatMoney(row.amount_minor, row.currency),
    balance: formatMoney(row.balance_minor, row.currency),
    currency: row.currency,
    description: row.description,
    invoice_id: row.invoice_id,
    created_at: row.created_at,
  }));
  return {
    ...listData('transactions', shown, at),
    credits: all.map(({ balanceMinor, currency }) => ({
      balance: formatMoney(balanceMinor, currency),
      currency,
    })),
  };
}
