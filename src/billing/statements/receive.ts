import { createHash } from 'node:crypto';
import { record } from '../../events/index.ts';
import {
  type Context,
  enqueue,
  fail,
  newId,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import { bookkeeping } from '../bookkeeping/settings.ts';
import { company } from '../documents/company.ts';
import { bankStatementReceived } from '../events.ts';
import { type BankEntry, type BankStatement, readCamt } from './camt.ts';
import { matchStatement } from './match.ts';
import { summariesOf } from './read.ts';

const insertStatement = statement<
  { id: number },
  {
    id: number;
    account: string;
    name: string;
    digest: Buffer;
    userId: number | null;
    now: Date;
  }
>(
  'billing.insertStatement',
  `insert into bank_statements (id, account, name, digest, known_entries, user_id, created_at)
   values (:id, :account, :name, :digest, 0, :userId, :now)
   on conflict on constraint bank_statements_digest do nothing returning id`,
);
const statementByDigest = statement<{ id: number }, { digest: Buffer }>(
  'billing.statementByDigest',
  'select id from bank_statements where digest = :digest',
);
const insertEntries = statement<never, { statementId: number; account: string; entries: string }>(
  'billing.insertBankEntries',
  `insert into bank_entries (id, statement_id, ordinal, fingerprint, account, direction, amount_minor, currency, booked_on,
     reference, name, iban, text, is_reversal, state)
   select e.id, :statementId, e.ordinal, decode(e.fingerprint, 'hex'), :account, e.direction, e.amount_minor, e.currency,
     e.booked_on, e.reference, e.name, e.iban, e.text, e.is_reversal,
     case e.direction when 'in' then 'waiting' else 'outgoing' end
   from jsonb_to_recordset(:entries::jsonb) as e(id bigint, ordinal int, fingerprint text, direction text,
     amount_minor bigint, currency text, booked_on date, reference text, name text, iban text, text text,
     is_reversal boolean)
   on conflict on constraint bank_entries_fingerprint do nothing`,
);
const setKnown = statement<never, { id: number; known: number }>(
  'billing.setKnownEntries',
  'update bank_statements set known_entries = :known where id = :id',
);

/** So many rows go to the database at once. */
const batch = 1_000;

/**
 * Keeps what a bank's file says and has it matched with invoices in the background. What was in an earlier file has
 * no second effect: neither the same statement nor an entry that two statements share. `invalid_statement`.
 */
export async function receiveStatements(ctx: Context, bytes: Buffer) {
  const read = await readCamt(bytes);
  await requireOurs(ctx, read);
  return transaction(ctx, 'billing.receiveStatements', async (tx) => {
    const ids: number[] = [];
    for (const each of read) ids.push(await receive(tx, each));
    return { statements: await summariesOf(tx, ids) };
  });
}

/** Money on somebody else's account pays none of our invoices. Where no account is set any statement is taken. */
async function requireOurs(ctx: Context, read: readonly BankStatement[]): Promise<void> {
  const [{ iban }, { bank_accounts: others }] = await Promise.all([
    readSettings(ctx, company),
    readSettings(ctx, bookkeeping),
  ]);
  if (iban === null) return;
  const ours = new Set([iban, ...others].map(plainAccount));
  const strange = read.find(({ account }) => !ours.has(plainAccount(account)));
  if (strange === undefined) return;
  throw fail('invalid_statement', {
    message: `This is a statement of ${strange.account.slice(0, 40)}, which is none of the company's accounts; add it to \`bank_accounts\` in the settings \`bookkeeping\` if it is one`,
  });
}

function plainAccount(account: string): string {
  return account.replace(/\s+/g, '').toUpperCase();
}

async function receive(tx: TxContext, { account, name, entries }: BankStatement): Promise<number> {
  const digest = digestOf([account, name, entries.map(identityOf)]);
  const given = { id: newId(), account, name: name.slice(0, 140), digest };
  const made = await tx.db.maybe(insertStatement, { ...given, userId: tx.actor.userId, now: tx.clock.now() });
  // One that is received at this moment was waited for.
  if (made === null) return (await tx.db.one(statementByDigest, { digest })).id;
  const rows = rowsOf(account, entries);
  let written = 0;
  for (let at = 0; at < rows.length; at += batch) {
    const json = JSON.stringify(rows.slice(at, at + batch));
    written += await tx.db.run(insertEntries, { statementId: made.id, account, entries: json });
  }
  await tx.db.run(setKnown, { id: made.id, known: rows.length - written });
  await record(tx, bankStatementReceived, {
    subject: { type: 'bank_statement', id: made.id },
    organizationId: null,
    data: { account, entries: rows.length, known: rows.length - written },
  });
  await enqueue(tx, matchStatement, { statementId: made.id });
  return made.id;
}

/** What an entry is known by again. What is in here must not change: all that was received before would be new. */
function identityOf({ isCount: _, ...identity }: BankEntry) {
  return identity;
}

/** Entries that are alike are told apart by being the first, second … of their kind on that day. */
function rowsOf(account: string, entries: BankEntry[]) {
  const counts = new Map<string, number>();
  const nth = (what: string): number => {
    const count = (counts.get(what) ?? 0) + 1;
    counts.set(what, count);
    return count;
  };
  return entries.map((entry, index) => {
    const identity = identityOf(entry);
    const alike = digestOf([account, identity]);
    const fingerprint = digestOf([account, identity, nth(alike.toString('hex'))]).toString('hex');
    return {
      id: newId(),
      ordinal: index + 1,
      fingerprint,
      direction: entry.direction,
      amount_minor: entry.amountMinor,
      currency: entry.currency,
      booked_on: entry.bookedOn,
      reference: referenceOf(entry, fingerprint, nth),
      name: entry.name,
      iban: entry.iban,
      text: entry.text,
      is_reversal: entry.isReversal,
    };
  });
}

/** What the transfer is booked under, once: the bank's reference, or a name made of what the entry is. */
function referenceOf(
  { reference, isCount, bookedOn }: BankEntry,
  fingerprint: string,
  nth: (what: string) => number,
): string {
  if (reference === null || isCount) return `${bookedOn} ${fingerprint.slice(0, 16)}`;
  const count = nth(`reference ${reference}`);
  return `${reference.slice(0, 120)}${count === 1 ? '' : ` /${count}`}`;
}

function digestOf(what: unknown): Buffer {
  return createHash('sha256').update(JSON.stringify(what)).digest();
}
