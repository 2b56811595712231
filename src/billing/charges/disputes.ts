import type { DisputeTruth } from '../../drivers/payments/index.ts';
import { record } from '../../events/index.ts';
import { formatMoney, newId, statement, type TxContext } from '../../platform/index.ts';
import { disputeClosed, disputeOpened } from '../events.ts';
import { post } from '../ledger/ledger.ts';
import type { Charge } from './charge.ts';
import { giveAgain } from './giveAgain.ts';
import { takeBack } from './takeBack.ts';

interface DisputeRow {
  id: number;
  state: DisputeTruth['state'];
  fee_minor: number;
}

const disputeOf = statement<DisputeRow, { driver: string; reference: string }>(
  'billing.disputeOf',
  'select id, state, fee_minor from disputes where driver = :driver and reference = :reference',
);
const insertDispute = statement<
  DisputeRow,
  { id: number; charge: object; truth: object; now: Date; answerBy: Date | null }
>(
  'billing.insertDispute',
  `insert into disputes (id, organization_id, invoice_id, charge_id, driver, reference, state, amount_minor, currency,
     reason, answer_by, opened_at)
   select :id, c.organization_id, c.invoice_id, c.id, c.driver, t.reference, 'asked', t."amountMinor", t.currency,
     t.reason, :answerBy, :now
   from jsonb_to_record(:charge::jsonb) as c(id bigint, organization_id bigint, invoice_id bigint, driver text),
     jsonb_to_record(:truth::jsonb) as t(reference text, "amountMinor" bigint, currency text, reason text)
   returning id, state, fee_minor`,
);
const setDispute = statement<
  never,
  {
    id: number;
    state: DisputeTruth['state'];
    feeMinor: number;
    feeCurrency: string | null;
    answerBy: Date | null;
    closedAt: Date | null;
  }
>(
  'billing.setDispute',
  `update disputes set state = :state, fee_minor = :feeMinor,
     fee_currency = coalesce(:feeCurrency, fee_currency), answer_by = :answerBy,
     closed_at = case when state = :state then coalesce(closed_at, :closedAt) else :closedAt end
   where id = :id`,
);

/**
 * Books how a dispute of a charge stands; the invoice's row is locked. What is decided stays so, unless the provider corrects
 * itself and says that it was decided otherwise.
 */
export async function bookDispute(tx: TxContext, charge: Charge, truth: DisputeTruth): Promise<void> {
  const { driver } = charge;
  const { reference, state, amountMinor, currency } = truth;
  const answerBy = truth.answerBy === null ? null : new Date(truth.answerBy);
  const now = tx.clock.now();
  const known = await tx.db.maybe(disputeOf, { driver, reference });
  const before = known ?? (await tx.db.one(insertDispute, { id: newId(), charge, truth, now, answerBy }));
  if (known === null) await tell(tx, charge, truth);
  const isClosed = isDecided(before.state);
  const feeMinor = await bookFee(tx, charge, truth, before.fee_minor);
  const cost = { feeMinor, feeCurrency: truth.fee?.currency ?? null };
  if (isClosed && (before.state === state || !isDecided(state))) {
    await tx.db.run(setDispute, { ...cost, id: before.id, state: before.state, answerBy, closedAt: now });
    return;
  }
  const move = { kind: 'dispute_opened', organizationId: charge.organization_id, currency } as const;
  const about = { invoiceId: charge.invoice_id, description: `Dispute ${reference}`, creditMinor: 0 };
  const isTaken = before.state === 'open';
  if (before.state === 'lost') await giveAgain(tx, charge.id, reference);
  if (!isTaken && (state === 'open' || state === 'lost'))
    await post(tx, { ...move, ...about, provider: { disputes: amountMinor, provider: -amountMinor } });
  if (isTaken && state === 'won')
    await post(tx, {
      ...move,
      kind: 'dispute_won',
      ...about,
      provider: { disputes: -amountMinor, provider: amountMinor },
    });
  if (state === 'lost') {
    const reason = `Disputed at your bank: ${truth.reason}`;
    await takeBack(tx, charge.id, amountMinor, { method: 'dispute', reason, reference });
    // The bank has it: nobody decides any more whose it is.
    await tx.db.run(nothingUnclear, { id: before.id });
  }
  const closedAt = isDecided(state) ? now : null;
  await tx.db.run(setDispute, { ...cost, id: before.id, state, answerBy, closedAt });
  if (isDecided(state)) {
    await record(tx, disputeClosed, {
      ...subjectOf(before.id, charge),
      data: { ...wordsOf(charge, truth), outcome: state },
    });
  }
}

const nothingUnclear = statement<never, { id: number }>(
  'billing.nothingUnclear',
  'update disputes set unclear_minor = 0 where id = :id',
);

function isDecided(state: DisputeTruth['state']): state is 'won' | 'lost' {
  return state === 'won' || state === 'lost';
}

async function tell(tx: TxContext, charge: Charge, truth: DisputeTruth): Promise<void> {
  const { id } = await tx.db.one(disputeOf, { driver: charge.driver, reference: truth.reference });
  await record(tx, disputeOpened, {
    ...subjectOf(id, charge),
    data: { ...wordsOf(charge, truth), reason: truth.reason, answer_by: truth.answerBy },
  });
}

function subjectOf(id: number, { organization_id: organizationId }: Charge) {
  return { subject: { type: 'dispute', id }, organizationId };
}

function wordsOf({ invoice_id }: Charge, { amountMinor, currency }: DisputeTruth) {
  return { invoice_id, amount: formatMoney(amountMinor, currency), currency };
}

/** What a dispute cost us by now; given back by some when we win. */
async function bookFee(tx: TxContext, charge: Charge, { fee, reference }: DisputeTruth, bookedMinor: number) {
  if (fee === null || fee.minor === bookedMinor) return bookedMinor;
  const moreMinor = fee.minor - bookedMinor;
  await post(tx, {
    kind: 'provider_fee',
    ...{ organizationId: charge.organization_id, currency: fee.currency, invoiceId: charge.invoice_id },
    description: `Fee for dispute ${reference}`,
    creditMinor: 0,
    provider: { fees: moreMinor, provider: -moreMinor },
  });
  return fee.minor;
}
