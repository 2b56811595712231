import {
  AppError,
  attempt,
  type Context,
  job,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { daysApart } from '../payments/transfer.ts';
import { matchPayout } from '../payouts/match.ts';
import { type BankEntryRow, bookEntry, type Proposal, settleEntry } from './book.ts';
import { proposalsFor } from './propose.ts';
import { referencesIn } from './references.ts';

const lockNextWaiting = statement<BankEntryRow, { statementId: number }>(
  'billing.lockNextWaitingEntry',
  `select id, statement_id, organization_id, account, direction, amount_minor, currency, booked_on, reference, name, iban,
     text, is_reversal, state, proposals
   from bank_entries where statement_id = :statementId and state = 'waiting'
   order by ordinal limit 1 for update`,
);

interface Named {
  id: number;
  organization_id: number;
  position: number;
  currency: string;
  status: string;
  due_minor: number;
  by_id: boolean;
}

const namedInvoices = statement<Named, { ids: number[]; numbers: string[]; amountMinor: number }>(
  'billing.namedInvoices',
  `select id, organization_id, position, currency, status, total_minor - paid_minor as due_minor, true as by_id
   from invoices where id = any(:ids::bigint[])
   union
   select id, organization_id, position, currency, status, total_minor - paid_minor, false
   from invoices where number = any(:numbers::text[]) and status = 'unpaid'
     and total_minor - paid_minor = :amountMinor and not id = any(:ids::bigint[])
   order by position`,
);
const bookedByHand = statement<
  { reference: string; received_on: string },
  { organizationId: number; amountMinor: number; currency: string; day: string; reference: string }
>(
  'billing.bookedByHand',
  `select t.reference, t.received_on from transfers t
   where t.organization_id = :organizationId and t.amount_minor = :amountMinor and t.currency = :currency
     and t.taken_back_at is null and abs(t.received_on - :day::date) <= ${daysApart} and t.reference <> :reference
     and not exists (select 1 from bank_entries e where e.transfer_id = t.id)
   order by t.created_at desc limit 1`,
);

// The bank gave it no name of its own, and only its place in the file tells it from one that is alike.
const alike = statement<{ statement: string }, { id: number }>(
  'billing.entryAlike',
  `select s.name as statement from bank_entries e join bank_entries o on o.account = e.account
     and o.booked_on = e.booked_on and o.amount_minor = e.amount_minor and o.currency = e.currency
     and o.direction = e.direction and o.text = e.text and o.name is not distinct from e.name
     and o.iban is not distinct from e.iban and o.statement_id <> e.statement_id
   join bank_statements s on s.id = o.statement_id join bank_statements n on n.id = e.statement_id
   where e.id = :id and e.reference ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9a-f]{16}$' and s.created_at < n.created_at
   order by s.created_at, o.id limit 1`,
);

/**
 * Looks at each entry of a statement once, in a transaction of its own: paying takes the number of the invoice last
 * before its commit, which two payments in one transaction could not. An entry that was looked at waits no more, so
 * doing it again goes on where it ended.
 */
export const matchStatement = job<{ statementId: number }>(
  'billing.matchStatement',
  async ({ ctx, payload: { statementId }, signal }) => {
    while (!signal.aborted && (await matchNext(ctx, statementId)));
  },
);

/** Whether there was one. */
function matchNext(ctx: Context, statementId: number): Promise<boolean> {
  return transaction(ctx, 'billing.matchEntry', async (tx) => {
    const entry = await tx.db.maybe(lockNextWaiting, { statementId });
    if (entry === null) return false;
    await matchEntry(tx, entry);
    return true;
  });
}

async function matchEntry(tx: TxContext, entry: BankEntryRow): Promise<void> {
  if (entry.is_reversal)
    return settleEntry(tx, entry, 'open', 'The bank takes back an earlier entry with it');
  if (entry.amount_minor === 0) return settleEntry(tx, entry, 'dismissed', 'It is of nothing');
  const { isMatched, hint } = await matchPayout(tx, entry);
  if (isMatched) return;
  const { ids, numbers } = referencesIn(entry.text);
  const named = await tx.db.many(namedInvoices, { ids, numbers, amountMinor: entry.amount_minor });
  if (named.length === 0) {
    const why = hint === null ? 'It names no invoice' : `It names no invoice; ${hint}`;
    return propose(tx, entry, hint === null ? await proposalsFor(tx, entry) : [], why);
  }
  const payers = [...new Set(named.map((invoice) => invoice.organization_id))];
  const [payer] = payers;
  if (payer === undefined || payers.length > 1) {
    return propose(tx, entry, named.map(asProposal), 'It names invoices of several organizations');
  }
  const strange = named.find(({ currency }) => currency !== entry.currency);
  if (strange !== undefined) {
    const why = `It is in ${entry.currency}, and invoice ${strange.id} in ${strange.currency}`;
    return propose(tx, entry, [], why);
  }
  const { amount_minor: amountMinor, currency, booked_on: day, reference } = entry;
  const before = await tx.db.maybe(bookedByHand, {
    organizationId: payer,
    amountMinor,
    currency,
    day,
    reference,
  });
  if (before !== null) {
    const why = `As much of ${before.received_on} is booked by hand as ${before.reference}: is it the same?`;
    return propose(tx, entry, named.map(asProposal), why);
  }
  const same = await tx.db.maybe(alike, { id: entry.id });
  if (same !== null) {
    const why = `The bank gives it no reference, and statement ${same.statement} has one like it: is it the same?`;
    return propose(tx, entry, named.map(asProposal), why);
  }
  const invoices = payable(named, entry.amount_minor).map((invoice) => ({ invoice_id: invoice.id }));
  try {
    await attempt(tx, (inner) => bookEntry(inner, entry, payer, invoices));
  } catch (error) {
    // What billing refuses, a person has to see; anything else, and what somebody else is at, is tried again.
    if (!(error instanceof AppError) || error.status >= 500 || error.code === 'busy') throw error;
    await propose(tx, entry, named.map(asProposal), error.message);
  }
}

function propose(tx: TxContext, entry: BankEntryRow, proposals: Proposal[], why: string): Promise<void> {
  const some = proposals.slice(0, 5);
  return settleEntry(tx, entry, some.length > 0 ? 'proposed' : 'open', why, some);
}

function asProposal({ organization_id, id, by_id }: Named): Proposal {
  return {
    organization_id,
    invoice_ids: [id],
    because: by_id ? 'it names the invoice' : 'it has the number',
  };
}

/** As far as the money goes: what was paid already becomes credit. */
function payable(named: Named[], amountMinor: number): Named[] {
  let leftMinor = amountMinor;
  return named.filter(({ status, due_minor }) => {
    if ((status !== 'unpaid' && status !== 'cancelled') || leftMinor <= 0) return false;
    leftMinor -= due_minor;
    return true;
  });
}
