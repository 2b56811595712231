import { type Context, fail, requireExact, statement, type TxContext } from '../../platform/index.ts';

/**
 * The ledger: double entry, append-only, the only source of a balance. Signs: a debit is positive, so what the
 * provider owes a customer (credit, and parts of invoices that are not paid in full) and what it earned (revenue) go up
 * by negative amounts. A customer's
 * balance is written the other way round, as the customer sees it.
 */
export type ProviderAccount =
  | 'bank'
  | 'revenue'
  | 'tax'
  | 'goodwill'
  | 'parts'
  /** What lies at the payment provider, and what it keeps for its work. */
  | 'provider'
  | 'fees'
  /** What a bank took back until it is decided whose it is. */
  | 'disputes';

type PostingKind =
  | 'invoice_paid'
  | 'invoice_part_paid'
  | 'part_returned'
  | 'invoice_refunded'
  | 'credit_granted'
  | 'transfer_credited'
  | 'charge_credited'
  | 'provider_fee';

export interface Posting {
  kind: PostingKind;
  organizationId: number;
  currency: string;
  invoiceId?: number;
  description: string;
  /** Change of the customer's credit; positive when the customer has more afterwards. */
  creditMinor: number;
  /** Debits positive, credits negative; with the credit's change they add up to zero. */
  provider: Partial<Record<ProviderAccount, number>>;
}

const findOrMakeAccount = statement<
  { id: number },
  { organizationId: number | null; kind: string; currency: string }
>(
  'billing.findOrMakeAccount',
  `with found as (select id from ledger_accounts
                  where organization_id is not distinct from :organizationId and kind = :kind
                    and currency = :currency),
   made as (insert into ledger_accounts (organization_id, kind, currency) select :organizationId, :kind,
     :currency
            where not exists (select 1 from found) on conflict do nothing returning id)
   select id from found union all select id from made`,
);

// The account's row is the lock under which its entries get their sequence and balance. Two statements, because
// the newest entry has to be read with a snapshot that begins after the lock is ours.
const lockCredit = statement<{ id: number }, { organizationId: number; currency: string }>(
  'billing.lockCredit',
  `select id from ledger_accounts where organization_id = :organizationId and kind = 'credit'
     and currency = :currency
   for no key update`,
);
const newestEntry = statement<{ sequence: number; balance_minor: number }, { accountId: number }>(
  'billing.newestEntry',
  `select sequence, balance_minor from ledger_entries where account_id = :accountId
   order by sequence desc limit 1`,
);

const partsPaid = statement<{ minor: number }, { organizationId: number; currency: string }>(
  'billing.partsPaid',
  `select coalesce(sum(paid_minor), 0)::bigint as minor from invoices
   where organization_id = :organizationId and status = 'unpaid' and currency = :currency`,
);

const newestCredit = statement<
  {
    balance_minor: number;
    amount_minor: number;
    description: string;
    created_at: Date;
    currency: string;
  },
  { organizationId: number; currency: string | null }
>(
  'billing.newestCredit',
  `select e.balance_minor, e.amount_minor, t.description, t.created_at, a.currency
   from ledger_accounts a
   cross join lateral (
     select n.transaction_id, n.amount_minor, n.balance_minor from ledger_entries n
     where n.account_id = a.id order by n.sequence desc limit 1) e
   join ledger_transactions t on t.id = e.transaction_id
   where a.organization_id = :organizationId and a.kind = 'credit'
     and (:currency::text is null or a.currency = :currency)
   order by a.id`,
);

const insertTransaction = statement<
  { id: number },
  {
    organizationId: number;
    kind: PostingKind;
    invoiceId: number | null;
    description: string;
    userId: number | null;
    now: Date;
  }
>(
  'billing.insertLedgerTransaction',
  `insert into ledger_transactions (organization_id, kind, invoice_id, description, user_id, created_at)
   values (:organizationId, :kind, :invoiceId, :description, :userId, :now) returning id`,
);

const insertEntry = statement<
  never,
  {
    transactionId: number;
    accountId: number;
    organizationId: number | null;
    amountMinor: number;
    sequence: number | null;
    balanceMinor: number | null;
  }
>(
  'billing.insertLedgerEntry',
  `insert into ledger_entries (transaction_id, account_id, organization_id, amount_minor, sequence, balance_minor)
   values (:transactionId, :accountId, :organizationId, :amountMinor, :sequence, :balanceMinor)`,
);

/**
 * Writes one transaction into the ledger; `insufficient_credit` when the customer has less than is taken,
 * `amount_too_large` for more than can be counted. Two that touch the same customer's credit run one after the other.
 */
export async function post(ctx: TxContext, posting: Posting): Promise<void> {
  await requireCountable(ctx, posting);
  const { id } = await ctx.db.one(insertTransaction, {
    organizationId: posting.organizationId,
    kind: posting.kind,
    invoiceId: posting.invoiceId ?? null,
    description: posting.description,
    userId: ctx.actor.userId,
    now: ctx.clock.now(),
  });
  if (posting.creditMinor !== 0) await postCredit(ctx, id, posting);
  for (const [kind, amountMinor] of Object.entries(posting.provider)) {
    if (amountMinor === 0) continue;
    const account = await accountOf(ctx, null, kind, posting.currency);
    await ctx.db.run(insertEntry, {
      transactionId: id,
      accountId: account,
      organizationId: null,
      amountMinor,
      sequence: null,
      balanceMinor: null,
    });
  }
}

/**
 * Whatever a customer's money becomes, it can be counted to the cent: its credit, with all that becomes credit when
 * invoices of which a part is paid are given up. So giving something back never fails for its size.
 */
async function requireCountable(
  ctx: TxContext,
  { organizationId, currency, ...posting }: Posting,
): Promise<void> {
  const moreMinor = posting.creditMinor - (posting.provider.parts ?? 0);
  if (moreMinor <= 0) return;
  const account = await lockedCredit(ctx, organizationId, currency);
  const newest = await ctx.db.maybe(newestEntry, { accountId: account.id });
  const { minor } = await ctx.db.one(partsPaid, { organizationId, currency });
  requireExact((newest?.balance_minor ?? 0) + requireExact(minor + moreMinor));
}

/** What a customer has, its credit locked: nobody else spends it until this transaction ends. */
export async function heldCredit(ctx: TxContext, organizationId: number, currency: string): Promise<number> {
  const account = await lockedCredit(ctx, organizationId, currency);
  return (await ctx.db.maybe(newestEntry, { accountId: account.id }))?.balance_minor ?? 0;
}

async function lockedCredit(
  ctx: TxContext,
  organizationId: number,
  currency: string,
): Promise<{ id: number }> {
  const account = await ctx.db.maybe(lockCredit, { organizationId, currency });
  if (account !== null) return account;
  await accountOf(ctx, organizationId, 'credit', currency);
  return ctx.db.one(lockCredit, { organizationId, currency });
}

async function postCredit(ctx: TxContext, transactionId: number, posting: Posting): Promise<void> {
  const { organizationId, currency, creditMinor } = posting;
  const account = await lockedCredit(ctx, organizationId, currency);
  const newest = await ctx.db.maybe(newestEntry, { accountId: account.id });
  const balanceMinor = (newest?.balance_minor ?? 0) + creditMinor;
  if (balanceMinor < 0) throw fail('insufficient_credit');
  requireExact(balanceMinor);
  const sequence = (newest?.sequence ?? 0) + 1;
  await ctx.db.run(insertEntry, {
    transactionId,
    accountId: account.id,
    organizationId,
    amountMinor: -creditMinor,
    sequence,
    balanceMinor,
  });
}

async function accountOf(ctx: TxContext, organizationId: number | null, kind: string, currency: string) {
  const found = await ctx.db.maybe(findOrMakeAccount, { organizationId, kind, currency });
  // Null only when another transaction made it this moment and has committed since: it is there now.
  return (found ?? (await ctx.db.one(findOrMakeAccount, { organizationId, kind, currency }))).id;
}

export interface CreditState {
  balanceMinor: number;
  currency: string;
  last: { amountMinor: number; description: string; createdAt: Date };
}

/**
 * What an organization has, and the newest entry; null when it never had any credit. Each currency has an account
 * of its own; when none is named, it is the first that the organization had.
 */
export async function findCredit(
  ctx: Context,
  organizationId: number,
  currency: string | null = null,
): Promise<CreditState | null> {
  return (await listCredit(ctx, organizationId, currency))[0] ?? null;
}

/** The same for each currency, the first that the organization had first. */
export async function listCredit(
  ctx: Context,
  organizationId: number,
  currency: string | null = null,
): Promise<CreditState[]> {
  const rows = await ctx.db.many(newestCredit, { organizationId, currency });
  return rows.map((row) => ({
    balanceMinor: row.balance_minor,
    currency: row.currency,
    last: { amountMinor: -row.amount_minor, description: row.description, createdAt: row.created_at },
  }));
}

/** Gives an organization credit that it did not pay for. */
export async function grantCredit(
  ctx: TxContext,
  organizationId: number,
  amountMinor: number,
  currency: string,
  description: string,
): Promise<void> {
  await post(ctx, {
    kind: 'credit_granted',
    organizationId,
    currency,
    description,
    creditMinor: amountMinor,
    provider: { goodwill: amountMinor },
  });
}
