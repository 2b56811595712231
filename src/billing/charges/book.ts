import type { About, Decline, Fee, PaymentTruth } from '../../drivers/payments/index.ts';
import { enqueue, type NamedJob, type TxContext } from '../../platform/index.ts';
import { lockForCorrection } from '../invoices/creditNote.ts';
import { dueOf, lockInvoice, type Payable } from '../invoices/payable.ts';
import { post } from '../ledger/ledger.ts';
import {
  closePages,
  creditSurplus,
  keepAsCredit,
  numberPaid,
  type Payment,
  payFromCredit,
  payPart,
  payRest,
} from '../payments/settle.ts';
import { notePaidFrom } from '../tax/evidence.ts';
import { adoptPayment } from './adopt.ts';
import {
  addCredited,
  type Charge,
  chargeOfPayment,
  chargesOf,
  newCharge,
  setDecline,
  setFee,
  setPaid,
  setPending,
  setReference,
  setState,
} from './charge.ts';
import { bookDecline, giveUpForgotten } from './decline.ts';
import { bookDispute } from './disputes.ts';
import { spendableCredit } from './held.ts';
import { bookRefund } from './sendBack.ts';

const forgottenMs = 86_400_000;

/**
 * Books how a payment stands at the provider, as far as it is not booked yet: any truth, in any order, any number of times.
 * The invoice's row is the lock. A payment that is none of ours changes nothing; one of ours that is in no row is taken on.
 */
export async function bookPayment(tx: TxContext, truth: PaymentTruth): Promise<void> {
  const driver = tx.config.payments;
  const told = { driver, reference: truth.reference, id: truth.id };
  const known = await tx.db.maybe(chargeOfPayment, told);
  if (known === null && !(await adoptPayment(tx, truth))) return;
  const found = known ?? (await tx.db.one(chargeOfPayment, told));
  // In the order of every invoice: the organization first, whose documents are numbered when money goes back.
  if (truth.refunds.length + truth.disputes.length > 0) await lockForCorrection(tx, found.invoice_id);
  const invoice = await tx.db.one(lockInvoice, { id: found.invoice_id });
  const charge = await named(tx, await tx.db.one(chargeOfPayment, told), truth);
  if (charge.currency !== truth.currency) {
    const message = `payment ${truth.reference} is in ${truth.currency}, and its charge in ${charge.currency}`;
    throw Object.assign(new Error(message), { permanent: true });
  }
  const isTaken = truth.state === 'paid' && charge.state !== 'paid';
  const payment = paymentOf(charge, truth);
  const isInFull = isTaken && (await take(tx, invoice, charge, payment, truth.amountMinor));
  // A truth that an earlier version wrote down does not say it.
  if (isTaken && truth.paidFrom)
    await notePaidFrom(tx, { id: invoice.id, organizationId: invoice.organization_id }, truth.paidFrom);
  if (truth.state !== 'paid') await follow(tx, invoice, charge, truth);
  else await bookReturns(tx, charge, truth);
  if (truth.fee !== null) await bookFee(tx, charge, truth.fee);
  // Last: every payment of the house waits for the invoice's number.
  if (isInFull) await numberPaid(tx, invoice, payment);
}

/**
 * The charge with the payment's name. Of two pages of one charge both can be paid, by two people at once: the second
 * payment is a charge of its own.
 */
async function named(tx: TxContext, charge: Charge, { reference }: PaymentTruth): Promise<Charge> {
  if (charge.reference === reference) return charge;
  if (charge.reference !== null) return newCharge(tx, { ...charge, reference });
  await tx.db.run(setReference, { id: charge.id, reference });
  return { ...charge, reference };
}

function paymentOf(charge: Charge, { reference }: PaymentTruth): Payment {
  return { method: charge.driver, transferId: null, chargeId: charge.id, reference, receivedOn: null };
}

/** Books money that came; says whether it paid the invoice in full. */
async function take(
  tx: TxContext,
  invoice: Payable,
  charge: Charge,
  payment: Payment,
  amountMinor: number,
): Promise<boolean> {
  await tx.db.run(setPaid, { id: charge.id, amountMinor, now: tx.clock.now() });
  const surplusMinor = amountMinor - dueOf(invoice);
  if (surplusMinor === amountMinor) {
    await tx.db.run(addCredited, { id: charge.id, amountMinor });
    await keepAsCredit(tx, invoice, amountMinor, payment);
    return false;
  }
  if (surplusMinor >= 0) {
    if (surplusMinor > 0) {
      await tx.db.run(addCredited, { id: charge.id, amountMinor: surplusMinor });
      await creditSurplus(tx, invoice, surplusMinor, payment);
    }
    await payRest(tx, invoice, payment);
    return true;
  }
  // What was to come from credit may be gone by now; then the invoice stays open for it.
  const shortMinor = -surplusMinor;
  const { organization_id: organizationId, currency } = invoice;
  const isThere = charge.uses_credit && (await spendableCredit(tx, organizationId, currency)) >= shortMinor;
  if (!isThere) {
    await payPart(tx, invoice, amountMinor, payment);
    return false;
  }
  await payFromCredit(tx, invoice, shortMinor);
  await payRest(tx, invoice, payment);
  return true;
}

/**
 * Books what went back of a payment that is booked. The number of an invoice that this very truth pays comes later, so what
 * went back by then waits for the next look, which every refund and dispute has of its own.
 */
async function bookReturns(tx: TxContext, charge: Charge, truth: PaymentTruth): Promise<void> {
  if (charge.state !== 'paid') {
    const more = truth.refunds.length + truth.disputes.length;
    if (more > 0) await enqueue(tx, lookAgain, { about: { kind: 'payment', reference: truth.reference } });
    return;
  }
  // Ours first: what the provider has of them is not given up for what went back at its desk.
  const ours = truth.refunds.filter(({ id }) => id !== null);
  const others = truth.refunds.filter(({ id }) => id === null);
  for (const refund of [...ours, ...others]) await bookRefund(tx, charge, refund);
  for (const dispute of truth.disputes) await bookDispute(tx, charge, dispute);
}

/** Looks at a payment; see `follow.ts`. */
const lookAgain: NamedJob<{ about: About }> = { name: 'billing.followProvider' };

/** Follows a payment that is not paid. */
async function follow(
  tx: TxContext,
  invoice: Payable,
  charge: Charge,
  { state, decline }: PaymentTruth,
): Promise<void> {
  if (charge.state === 'paid') return;
  const { id } = charge;
  // Prepared and never taken, for a day: whoever wanted it has given up.
  const isForgotten =
    charge.means === 'saved' && tx.clock.now().getTime() - charge.created_at.getTime() > forgottenMs;
  if (state === 'open' && charge.state === 'open' && isForgotten) await giveUpForgotten(tx, charge);
  if (charge.state === state) return;
  if (state === 'pending') {
    await tx.db.run(setPending, { id, now: tx.clock.now() });
    // On a page that is open in another window they would pay a second time.
    const { open_pages: pages } = await tx.db.one(chargesOf, {
      invoiceId: invoice.id,
      driver: charge.driver,
    });
    if (pages > 0) await closePages(tx, invoice);
  }
  if (state === 'over' && charge.state === 'open')
    await tx.db.run(setState, { id, state, now: tx.clock.now() });
  if (state !== 'failed' || charge.state === 'failed') return;
  const why: Decline = decline ?? {
    code: 'failed',
    message: 'It was declined.',
    needsCustomer: false,
    mayRetry: false,
  };
  // On a page the customer sees it and takes another card; a debit that was on its way comes back days later.
  const { code, message, needsCustomer } = why;
  if (charge.means === 'page' && charge.state === 'open')
    await tx.db.run(setDecline, { id, code, message, needsCustomer });
  else await bookDecline(tx, id, why);
}

/** What the provider kept for its work is ours to bear. */
async function bookFee(tx: TxContext, charge: Charge, { minor, currency }: Fee): Promise<void> {
  const moreMinor = minor - charge.fee_minor;
  if (moreMinor === 0) return;
  await tx.db.run(setFee, { id: charge.id, feeMinor: minor, currency });
  await post(tx, {
    kind: 'provider_fee',
    organizationId: charge.organization_id,
    currency,
    invoiceId: charge.invoice_id,
    description: `Fee for ${charge.reference ?? 'a payment'}`,
    creditMinor: 0,
    provider: { fees: moreMinor, provider: -moreMinor },
  });
}
