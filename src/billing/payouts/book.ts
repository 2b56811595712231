import type { PayoutTruth } from '../../drivers/payments/index.ts';
import { newId, statement, type TxContext } from '../../platform/index.ts';
import { post } from '../ledger/ledger.ts';
import { matchEntryOf } from './match.ts';
import type { Payout, PayoutState } from './payout.ts';

const keepPayout = statement<
  never,
  {
    id: number;
    driver: string;
    reference: string;
    amountMinor: number;
    currency: string;
    arrivesOn: string;
    now: Date;
  }
>(
  'billing.keepPayout',
  `insert into payouts (id, driver, reference, state, amount_minor, currency, arrives_on, seen_at)
   values (:id, :driver, :reference, 'pending', :amountMinor, :currency, :arrivesOn, :now)
   on conflict on constraint payouts_reference do nothing`,
);
const lockPayout = statement<Payout, { driver: string; reference: string }>(
  'billing.lockPayout',
  `select id, driver, reference, state, amount_minor, currency, arrives_on, booked_minor, fee_minor, bank_entry_id
   from payouts where driver = :driver and reference = :reference for update`,
);
const setPayout = statement<
  never,
  {
    id: number;
    state: PayoutState;
    arrivesOn: string;
    failure: string | null;
    bookedMinor: number;
    feeMinor: number;
    feeCurrency: string | null;
  }
>(
  'billing.setPayout',
  `update payouts set state = :state, arrives_on = :arrivesOn, failure = :failure, booked_minor = :bookedMinor,
     fee_minor = :feeMinor, fee_currency = coalesce(:feeCurrency, fee_currency)
   where id = :id`,
);

/** A payout goes this way only: one that was looked at a while ago does not undo what was seen since. */
const rank: Readonly<Record<PayoutState, number>> = { pending: 0, paid: 1, failed: 2, over: 2 };

/**
 * Books how a payout stands at the provider, as far as it is not booked yet: any truth, in any order, any number of times.
 * Once it has arrived the money is at the bank, and no longer at the provider; one that fails after that is taken back.
 */
export async function bookPayout(tx: TxContext, truth: PayoutTruth): Promise<void> {
  const driver = tx.config.payments;
  const { reference, amountMinor, currency, arrivesOn, failure } = truth;
  const now = tx.clock.now();
  await tx.db.run(keepPayout, { id: newId(), driver, reference, amountMinor, currency, arrivesOn, now });
  const payout = await tx.db.one(lockPayout, { driver, reference });
  if (rank[truth.state] < rank[payout.state]) return;
  const wantedMinor = truth.state === 'paid' ? payout.amount_minor : 0;
  await move(tx, payout, wantedMinor - payout.booked_minor);
  const fee = truth.fee ?? { minor: payout.fee_minor, currency: null };
  if (fee.currency !== null) await bookFee(tx, payout, fee.minor - payout.fee_minor, fee.currency);
  await tx.db.run(setPayout, {
    ...{ id: payout.id, state: truth.state, arrivesOn, failure, bookedMinor: wantedMinor },
    ...{ feeMinor: fee.minor, feeCurrency: fee.currency },
  });
  // The bank's statement may have come before.
  if (payout.bank_entry_id === null) await matchEntryOf(tx, { ...payout, arrives_on: arrivesOn });
}

/** Moves money from the provider to the bank; a negative amount moves it back. */
async function move(tx: TxContext, { reference, currency }: Payout, amountMinor: number): Promise<void> {
  if (amountMinor === 0) return;
  await post(tx, {
    kind: 'provider_payout',
    organizationId: null,
    currency,
    description: amountMinor > 0 ? `Payout ${reference}` : `Payout ${reference}, taken back`,
    creditMinor: 0,
    provider: { bank: amountMinor, provider: -amountMinor },
  });
}

/** What the provider kept for sending it is ours to bear. */
async function bookFee(tx: TxContext, { reference }: Payout, moreMinor: number, currency: string) {
  if (moreMinor === 0) return;
  await post(tx, {
    kind: 'provider_fee',
    organizationId: null,
    currency,
    description: `Fee for payout ${reference}`,
    creditMinor: 0,
    provider: { fees: moreMinor, provider: -moreMinor },
  });
}
