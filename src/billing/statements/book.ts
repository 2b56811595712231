import { fail, statement, type TxContext } from '../../platform/index.ts';
import { inWords } from '../invoices/payable.ts';
import type { NamedPart } from '../payments/split.ts';
import { type BookedTransfer, bookMoney } from '../payments/transfer.ts';
import { notePaidFrom } from '../tax/evidence.ts';

/** Whose an entry may be, and why. */
export interface Proposal {
  organization_id: number;
  /** Empty: nothing particular, so what is due, the oldest first. */
  invoice_ids: number[];
  because: string;
}

export type EntryState = 'waiting' | 'booked' | 'proposed' | 'open' | 'outgoing' | 'dismissed';

/** An entry of a statement, its row locked. */
export interface BankEntryRow {
  id: number;
  statement_id: number;
  organization_id: number | null;
  account: string;
  direction: 'in' | 'out';
  amount_minor: number;
  currency: string;
  booked_on: string;
  reference: string;
  name: string | null;
  iban: string | null;
  text: string;
  is_reversal: boolean;
  state: EntryState;
  proposals: Proposal[];
}

const setState = statement<
  never,
  {
    id: number;
    state: EntryState;
    outcome: string;
    proposals: string;
    organizationId: number | null;
    transferId: number | null;
    userId: number | null;
    now: Date;
  }
>(
  'billing.settleBankEntry',
  `update bank_entries set state = :state, outcome = :outcome, proposals = :proposals::jsonb,
     organization_id = :organizationId, transfer_id = :transferId, user_id = :userId, decided_at = :now
   where id = :id`,
);
const entryOf = statement<BankEntryRow, { id: number; statementId: number }>(
  'billing.lockBankEntry',
  `select id, statement_id, organization_id, account, direction, amount_minor, currency, booked_on, reference, name, iban,
     text, is_reversal, state, proposals
   from bank_entries where id = :id and statement_id = :statementId for update`,
);

/** What an entry has come to, for staff. */
export async function settleEntry(
  tx: TxContext,
  entry: BankEntryRow,
  state: EntryState,
  outcome: string,
  proposals: Proposal[] = [],
  booked: { organizationId: number; transferId: number } | null = null,
): Promise<void> {
  await tx.db.run(setState, {
    id: entry.id,
    state,
    outcome,
    proposals: JSON.stringify(proposals),
    organizationId: booked?.organizationId ?? null,
    transferId: booked?.transferId ?? null,
    userId: tx.actor.userId,
    now: tx.clock.now(),
  });
}

/** Books an entry as a transfer of an organization. Refuses what {@link bookMoney} refuses. */
export async function bookEntry(
  tx: TxContext,
  entry: BankEntryRow,
  organizationId: number,
  invoices?: NamedPart[],
): Promise<void> {
  const booked = await bookMoney(tx, {
    organizationId,
    amountMinor: entry.amount_minor,
    currency: entry.currency,
    reference: entry.reference,
    receivedOn: entry.booked_on,
    ...(invoices && { invoices }),
  });
  const country = entry.iban?.slice(0, 2);
  if (country !== undefined) {
    for (const { invoice } of booked.parts)
      await notePaidFrom(tx, { id: invoice.id, organizationId }, { kind: 'bank', country });
  }
  const transferId = booked.transfer.id;
  await settleEntry(tx, entry, 'booked', outcomeOf(booked), [], { organizationId, transferId });
}

/** What became of the money, in words. */
function outcomeOf({ parts, creditedMinor, transfer: { currency } }: BookedTransfer): string {
  const told = parts.map(({ invoice, amountMinor, leftMinor }) => {
    const amount = inWords(amountMinor, currency);
    if (invoice.status === 'cancelled')
      return `invoice ${invoice.id} was cancelled, so its ${amount} became credit`;
    if (leftMinor === 0) return `paid invoice ${invoice.id}`;
    return `paid ${amount} towards invoice ${invoice.id}, of which ${inWords(leftMinor, currency)} are still due`;
  });
  if (creditedMinor > 0) told.push(`${inWords(creditedMinor, currency)} more than was due became credit`);
  return told.join('; ');
}

/** An entry that waits for staff, locked. `not_found`, and `conflict` for one that is decided. */
export async function requireUndecided(
  tx: TxContext,
  statementId: number,
  id: number,
): Promise<BankEntryRow> {
  const entry = await tx.db.maybe(entryOf, { id, statementId });
  if (entry === null) throw fail('not_found');
  if (entry.state === 'open' || entry.state === 'proposed' || entry.state === 'waiting') return entry;
  throw fail('conflict', { message: `This entry is ${entry.state}; only one that is open can be decided` });
}
