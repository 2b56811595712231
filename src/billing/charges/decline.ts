import type { Decline } from '../../drivers/payments/index.ts';
import { record } from '../../events/index.ts';
import {
  enqueue,
  formatMoney,
  isJobOpenAbout,
  msPerDay,
  type NamedJob,
  type TxContext,
} from '../../platform/index.ts';
import { paymentConfirmationWanted, paymentDeclined } from '../events.ts';
import { dueOf, lockInvoice, type Payable } from '../invoices/payable.ts';
import { type Charge, chargeById, setDecline, setState } from './charge.ts';
import { wantPage } from './page.ts';

/** Charges the default method for an invoice again; see `saved.ts`. */
export const askAgain: NamedJob<{ invoiceId: number }> = { name: 'billing.chargeAgain' };

/** Charges a saved method; see `saved.ts`. */
export const chargingSaved: NamedJob<{ chargeId: number }> = { name: 'billing.chargeSaved' };

/**
 * Gives up a charge of a saved method that came to nothing for a day without an answer, and asks anew for what is due;
 * one whose job is still to be done, or at it, is left alone, so that nobody is charged twice. The invoice's row is locked.
 */
export async function giveUpForgotten(tx: TxContext, { id, invoice_id: invoiceId }: ChargeOf): Promise<void> {
  if (await isJobOpenAbout(tx, chargingSaved, { chargeId: id })) return;
  await tx.db.run(setState, { id, state: 'over', now: tx.clock.now() });
  await enqueue(tx, askAgain, { invoiceId });
}

type ChargeOf = Pick<Charge, 'id' | 'invoice_id'>;

/** Days after which we ask again for what was declined; then it is the customer's turn. */
const pauseDays = [1, 3, 5];
/** Ends a charge that the provider or the bank did not take, and tells the customer what to do. */
export async function bookDecline(tx: TxContext, chargeId: number, decline: Decline): Promise<void> {
  const { invoice_id: id } = await tx.db.one(chargeById, { id: chargeId });
  const invoice = await tx.db.one(lockInvoice, { id });
  const charge = await tx.db.one(chargeById, { id: chargeId });
  if (charge.state !== 'open' && charge.state !== 'pending') return;
  const { code, message, needsCustomer } = decline;
  await tx.db.run(setDecline, { id: chargeId, code, message, needsCustomer });
  await tx.db.run(setState, { id: chargeId, state: 'failed', now: tx.clock.now() });
  // Paid in another way meanwhile: there is nothing to tell, and nothing to ask for.
  if (dueOf(invoice) > 0) await tell(tx, invoice, charge, decline);
}

async function tell(tx: TxContext, invoice: Payable, charge: Charge, decline: Decline): Promise<void> {
  const again = decline.mayRetry ? nextTry(tx, charge) : null;
  const { id: invoiceId, organization_id: organizationId, currency } = invoice;
  const { link } = await wantPage(tx, invoice, { amountMinor: dueOf(invoice), usesCredit: false });
  const data = {
    user_id: invoice.user_id,
    charge_id: charge.id,
    currency,
    amount: formatMoney(charge.amount_minor, currency),
    pay_url: link,
  };
  const about = { subject: { type: 'invoice', id: invoiceId }, organizationId };
  if (decline.needsCustomer) {
    await record(tx, paymentConfirmationWanted, { ...about, data });
    return;
  }
  if (again !== null) await enqueue(tx, askAgain, { invoiceId }, { organizationId, runAt: again });
  const { message: reason } = decline;
  const nextTryOn = again?.toISOString().slice(0, 10) ?? null;
  await record(tx, paymentDeclined, { ...about, data: { ...data, reason, next_try_on: nextTryOn } });
}

/** When we ask again; null when we do not. */
function nextTry(tx: TxContext, { attempt }: Charge): Date | null {
  const days = attempt === null ? undefined : pauseDays[attempt - 1];
  return days === undefined ? null : new Date(tx.clock.now().getTime() + days * msPerDay);
}
