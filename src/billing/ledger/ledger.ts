import {
  type Context,
  fail,
  forMany,
  requireExact,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { accounts, type PostedAccount, type PostingKind } from './accounts.ts';

/**
 * The ledger: double entry, append-only, the only source of a balance. Signs: a debit is positive, so what the
 * provider has (bank, receivable) goes up by positive amounts, and what it owes (credit, parts, deferred, tax) and what
 * it earned (revenue) by negative ones. A customer's credit is written the other way round, as the customer sees it.
 */
export interface Posting {
  kind: PostingKind;
  /** Null for what concerns no single customer, and then moves nobody's credit. */
  organizationId: number | null;
  currency: string;
  invoiceId?: number;
  description: string;
  /** The day it counts for (`YYYY-MM-DD`), where that is not today. */
  countsOn?: string;
  /** Change of the customer's credit; positive when the customer has more afterwards. */
  creditMinor: number;
  /** Debits positive, credits negative; with the credit's change they add up to zero. */
  provider: Partial<Record<PostedAccount, number>>;
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
const newestOfCredit = statement<
  { sequence: number; balance_minor: number; parts_minor: number },
  { organizationId: number; currency: string; withParts: boolean }
>(
  'billing.newestOfCredit',
  `select coalesce(e.sequence, 0) as sequence, coalesce(e.balance_minor, 0) as balance_minor,
     case when :withParts then (select coalesce(sum(i.paid_minor), 0)::bigint from invoices i
       where i.organization_id = :organizationId and i.status = 'unpaid' and i.currency = :currency)
     else 0 end as parts_minor
   from ledger_accounts a
   left join lateral (select n.sequence, n.balance_minor from ledger_entries n
                      where n.account_id = a.id order by n.sequence desc limit 1) e on true
   where a.organization_id = :organizationId and a.kind = 'credit' and a.currency = :currency`,
);

const newestCredit = forMany(
  statement<
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
  ),
  { organizationId: 'bigint', currency: 'text' },
);

// One statement for the transaction and all of its entries, since every payment waits for it. It says which accounts
// were there: the others are made and written afterwards, once in the life of a currency.
const writeTransaction = forMany(
  statement<
    { id: number; written: string[] },
    {
      organizationId: number | null;
      kind: PostingKind;
      invoiceId: number | null;
      description: string;
      countsOn: string | null;
      userId: number | null;
      now: Date;
      currency: string;
      /** The provider's side, as JSON: of each entry its `kind`, `minor`, and whether the account is the organization's `own`. */
      entries: string;
      creditId: number | null;
      creditMinor: number;
      sequence: number;
      balanceMinor: number;
    }
  >(
    'billing.writeLedgerTransaction',
    `with made as (
     insert into ledger_transactions (organization_id, kind, invoice_id, description, counts_on, user_id, created_at)
     values (:organizationId, :kind, :invoiceId, :description, :countsOn::date, :userId, :now) returning id),
   wanted as (select * from jsonb_to_recordset(:entries::jsonb) as w(kind text, minor bigint, own boolean)),
   found as (
     select a.id, a.organization_id, w.kind, w.minor from wanted w join ledger_accounts a
       on a.organization_id is null and a.kind = w.kind and a.currency = :currency where not w.own
     union all
     select a.id, a.organization_id, w.kind, w.minor from wanted w join ledger_accounts a
       on a.organization_id = :organizationId and a.kind = w.kind and a.currency = :currency where w.own),
   entered as (
     insert into ledger_entries (transaction_id, account_id, organization_id, amount_minor, sequence, balance_minor)
     select made.id, found.id, found.organization_id, found.minor, null::bigint, null::bigint from made, found
     union all
     select made.id, :creditId::bigint, :organizationId, -:creditMinor::bigint, :sequence::bigint,
       :balanceMinor::bigint from made where :creditId::bigint is not null)
   select made.id, (select coalesce(array_agg(found.kind), '{}') from found) as written from made`,
  ),
  {
    organizationId: 'bigint',
    kind: 'text',
    invoiceId: 'bigint',
    description: 'text',
    countsOn: 'date',
    userId: 'bigint',
    now: 'timestamptz',
    currency: 'text',
    entries: 'jsonb',
    creditId: 'bigint',
    creditMinor: 'bigint',
    sequence: 'bigint',
    balanceMinor: 'bigint',
  },
  // Their accounts are searched one by one, behind the offset: those of all customers are in the same table.
  (given) => `with given as materialized (select * from ${given}),
   made as (
     insert into ledger_transactions (organization_id, kind, invoice_id, description, counts_on, user_id, created_at)
     select "organizationId", kind, "invoiceId", description, "countsOn", "userId", now from given order by nth_ returning id),
   placed as (select id, row_number() over (order by id) as nth_ from made),
   found as (
     select p.nth_, p.id as transaction_id, a.id, a.organization_id, w.kind, w.minor
     from given g join placed p on p.nth_ = g.nth_
     cross join lateral jsonb_to_recordset(g.entries) as w(kind text, minor bigint, own boolean)
     cross join lateral (
       select id, organization_id from ledger_accounts
       where organization_id is null and kind = w.kind and currency = g.currency and not w.own
       union all
       select id, organization_id from ledger_accounts
       where organization_id = g."organizationId" and kind = w.kind and currency = g.currency and w.own offset 0) a),
   entered as (
     insert into ledger_entries (transaction_id, account_id, organization_id, amount_minor, sequence, balance_minor)
     select transaction_id, id, organization_id, minor, null::bigint, null::bigint from found
     union all
     select p.id, g."creditId", g."organizationId", -g."creditMinor", g.sequence, g."balanceMinor"
     from given g join placed p on p.nth_ = g.nth_ where g."creditId" is not null)
   select id, nth_, (select coalesce(array_agg(f.kind), '{}') from found f where f.nth_ = placed.nth_) as written
   from placed`,
);

const insertEntry = statement<
  never,
  { transactionId: number; accountId: number; organizationId: number | null; amountMinor: number }
>(
  'billing.insertLedgerEntry',
  `insert into ledger_entries (transaction_id, account_id, organization_id, amount_minor)
   values (:transactionId, :accountId, :organizationId, :amountMinor)`,
);

/**
 * Writes one transaction into the ledger and says its id; `insufficient_credit` when the customer has less than is taken,
 * `amount_too_large` for more than can be counted. Two that touch the same customer's credit run one after the other.
 */
export async function post(ctx: TxContext, posting: Posting): Promise<number> {
  const credit = await creditAfter(ctx, posting);
  const entries = entriesOf(posting);
  const { id, written } = await ctx.db.one(writeTransaction, {
    organizationId: posting.organizationId,
    kind: posting.kind,
    invoiceId: posting.invoiceId ?? null,
    description: posting.description,
    countsOn: posting.countsOn ?? null,
    userId: ctx.actor.userId,
    now: ctx.clock.now(),
    currency: posting.currency,
    entries: JSON.stringify(
      entries.map(({ kind, amountMinor: minor }) => ({
        ...{ kind, minor, own: accounts[kind].whose === 'organization' },
      })),
    ),
    creditId: credit?.accountId ?? null,
    creditMinor: posting.creditMinor,
    sequence: credit?.sequence ?? 0,
    balanceMinor: credit?.balanceMinor ?? 0,
  });
  for (const { kind, amountMinor } of entries) {
    if (written.includes(kind)) continue;
    const organizationId = accounts[kind].whose === 'organization' ? posting.organizationId : null;
    const accountId = await accountOf(ctx, organizationId, kind, posting.currency);
    await ctx.db.run(insertEntry, { transactionId: id, accountId, organizationId, amountMinor });
  }
  return id;
}

function entriesOf({ provider }: Posting): { kind: PostedAccount; amountMinor: number }[] {
  return Object.entries(provider)
    .filter(([, amountMinor]) => amountMinor !== 0)
    .map(([kind, amountMinor]) => ({ kind: kind as PostedAccount, amountMinor }));
}

interface CreditAfter {
  accountId: number;
  sequence: number;
  balanceMinor: number;
}

/**
 * The next entry of the customer's credit, its account locked; null when the posting leaves it alone. Whatever a
 * customer's money becomes, it can be counted to the cent: its credit, with all that becomes credit when invoices of
 * which a part is paid are given up. So giving something back never fails for its size.
 */
async function creditAfter(
  ctx: TxContext,
  { organizationId, currency, creditMinor, provider }: Posting,
): Promise<CreditAfter | null> {
  const moreMinor = creditMinor - (provider.parts ?? 0);
  if (organizationId === null || (creditMinor === 0 && moreMinor <= 0)) return null;
  const of = { organizationId, currency };
  const withParts = moreMinor > 0;
  const [locked, seen] = await Promise.all([
    ctx.db.maybe(lockCredit, of),
    ctx.db.maybe(newestOfCredit, { ...of, withParts }),
  ]);
  let [account, newest] = [locked, seen];
  if (account === null || newest === null) {
    await accountOf(ctx, organizationId, 'credit', currency);
    account = await ctx.db.one(lockCredit, of);
    newest = await ctx.db.one(newestOfCredit, { ...of, withParts });
  }
  if (withParts) requireExact(newest.balance_minor + requireExact(newest.parts_minor + moreMinor));
  if (creditMinor === 0) return null;
  const balanceMinor = requireExact(newest.balance_minor + creditMinor);
  if (balanceMinor < 0) throw fail('insufficient_credit');
  return { accountId: account.id, sequence: newest.sequence + 1, balanceMinor };
}

/** What a customer has, its credit locked: nobody else spends it until this transaction ends. */
export async function heldCredit(ctx: TxContext, organizationId: number, currency: string): Promise<number> {
  const of = { organizationId, currency };
  const [, newest] = await Promise.all([
    ctx.db.maybe(lockCredit, of),
    ctx.db.maybe(newestOfCredit, { ...of, withParts: false }),
  ]);
  return newest?.balance_minor ?? 0;
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
