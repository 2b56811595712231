import { statement, type TxContext } from '../../platform/index.ts';
import { type BankEntryRow, settleEntry } from '../statements/book.ts';
import type { Payout } from './payout.ts';

/** Banks are this many days earlier or later than a provider says. */
const daysApart = 7;

const payoutLike = statement<
  Pick<Payout, 'id' | 'driver' | 'reference' | 'arrives_on'>,
  { amountMinor: number; currency: string; bookedOn: string; days: number }
>(
  'billing.payoutLikeEntry',
  `select id, driver, reference, arrives_on from payouts
   where bank_entry_id is null and currency = :currency and amount_minor = :amountMinor and state in ('pending', 'paid')
     and abs(arrives_on - :bookedOn::date) <= :days
   order by abs(arrives_on - :bookedOn::date), id limit 1 for update`,
);
// What is looked at this moment by somebody else finds the payout by itself, or is found in the night.
const entriesLike = statement<
  BankEntryRow,
  { amountMinor: number; currency: string; arrivesOn: string; days: number }
>(
  'billing.entriesLikePayout',
  `select id, statement_id, organization_id, account, direction, amount_minor, currency, booked_on, reference, name, iban,
     text, is_reversal, state, proposals
   from bank_entries
   where state in ('open', 'proposed') and direction = 'in' and not is_reversal and currency = :currency
     and amount_minor = :amountMinor and abs(booked_on - :arrivesOn::date) <= :days
   order by abs(booked_on - :arrivesOn::date), id for update skip locked`,
);
const setEntry = statement<never, { id: number; entryId: number }>(
  'billing.setEntryOfPayout',
  'update payouts set bank_entry_id = :entryId where id = :id',
);

/** What an entry of a bank statement has to do with payouts of the payment provider. */
export interface Likeness {
  /** It is one, and that is written down. */
  isMatched: boolean;
  /** What a person should know of it, who decides about an entry that is none. */
  hint: string | null;
}

/**
 * Says that money at the bank is a payout, when the provider's name stands in it and as much was sent: it was booked when the
 * provider told of it, and counts once. The entry is locked.
 */
export async function matchPayout(tx: TxContext, entry: BankEntryRow): Promise<Likeness> {
  const driver = tx.config.payments;
  const isNamed = names(entry, driver, null);
  const { amount_minor: amountMinor, currency, booked_on: bookedOn } = entry;
  const payout = await tx.db.maybe(payoutLike, { amountMinor, currency, bookedOn, days: daysApart });
  if (payout !== null && (isNamed || names(entry, payout.driver, payout.reference))) {
    await settle(tx, entry, payout);
    return { isMatched: true, hint: null };
  }
  if (payout !== null) {
    const hint = `as much is payout ${payout.reference} of ${payout.driver}: dismiss it if it is that`;
    return { isMatched: false, hint };
  }
  const hint = `it names ${driver}, and no payout of as much is known yet: it is dismissed once one is`;
  return { isMatched: false, hint: isNamed ? hint : null };
}

/** The same the other way round: a payout whose money is at the bank already. Its row is locked. */
export async function matchEntryOf(tx: TxContext, payout: Payout): Promise<void> {
  if (payout.state === 'failed' || payout.state === 'over') return;
  const { amount_minor: amountMinor, currency, arrives_on: arrivesOn } = payout;
  const found = await tx.db.many(entriesLike, { amountMinor, currency, arrivesOn, days: daysApart });
  const entry = found.find((each) => names(each, payout.driver, payout.reference));
  if (entry !== undefined) await settle(tx, entry, payout);
}

function settle(tx: TxContext, entry: BankEntryRow, payout: Pick<Payout, 'id' | 'driver' | 'reference'>) {
  const outcome = `It is payout ${payout.reference} of ${payout.driver}, which is booked by itself`;
  return Promise.all([
    settleEntry(tx, entry, 'dismissed', outcome),
    tx.db.run(setEntry, { id: payout.id, entryId: entry.id }),
  ]);
}

/** Whether the bank's words name the provider or its payout. `none` is nobody's name. */
function names({ name, text }: BankEntryRow, driver: string, reference: string | null): boolean {
  if (driver === 'none') return false;
  const words = `${name ?? ''} ${text}`.toLowerCase();
  return (
    words.includes(driver.toLowerCase()) || (reference !== null && words.includes(reference.toLowerCase()))
  );
}
