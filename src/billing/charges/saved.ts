import type { PaymentProvider } from '../../config.ts';
import { type Decline, PaymentError, type PaymentTruth } from '../../drivers/payments/index.ts';
import {
  type Context,
  databaseJob,
  enqueue,
  forMany,
  type NamedJob,
  type Run,
  saga,
  statement,
  type TxContext,
  type TxRun,
} from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import { dueOf, lockInvoice, type Payable } from '../invoices/payable.ts';
import { findCredit } from '../ledger/ledger.ts';
import { methodById } from '../methods/method.ts';
import { payments } from '../payments/settings.ts';
import { numberPaid, payFromCredit, payRest } from '../payments/settle.ts';
import { bookPayment } from './book.ts';
import {
  type Charge,
  chargeById,
  chargesOf,
  newCharge,
  setAmount,
  setReference,
  setState,
} from './charge.ts';
import { customerAt, requireOurAccount } from './customer.ts';
import { askAgain, bookDecline, chargingSaved } from './decline.ts';
import { spendableCredit } from './held.ts';
import { creditPartOf, leastByProvider, reasonAgainstLittle } from './least.ts';
import { providerOutages } from './provider.ts';
import { lookAt } from './receive.ts';
import { enqueueLater, waitsForRelease, wasMadeBefore } from './restored.ts';

/** A saved method that can be charged. */
export interface Chargeable {
  id: number;
  organization_id: number;
  driver: PaymentProvider;
  reference: string;
}

const defaultMethod = forMany(
  statement<Chargeable, { organizationId: number; driver: string }>(
    'billing.defaultMethod',
    `select id, organization_id, driver, reference from payment_methods
   where organization_id = :organizationId and driver = :driver and is_default`,
  ),
  { organizationId: 'bigint', driver: 'text' },
);
/** A charge as the provider is to be asked for it; `customer` is null until the provider knows one that is real for sure. */
const toPrepare = statement<
  Pick<
    Charge,
    | 'id'
    | 'organization_id'
    | 'invoice_id'
    | 'attempt'
    | 'amount_minor'
    | 'currency'
    | 'reference'
    | 'created_at'
  > & {
    method: string;
    removed_at: Date | null;
    customer: string | null;
  },
  { id: number }
>(
  'billing.chargeToPrepare',
  `select c.id, c.organization_id, c.invoice_id, c.attempt, c.amount_minor, c.currency, c.reference, c.created_at,
     m.reference as method,
     m.removed_at, case when not p.is_test then p.reference end as customer
   from charges c join payment_methods m on m.id = c.method_id
   left join provider_customers p on p.organization_id = c.organization_id and p.driver = c.driver
   where c.id = :id`,
);
const toTake = statement<
  Pick<Payable, 'status' | 'total_minor' | 'paid_minor'> & { removed_at: Date | null },
  { id: number }
>(
  'billing.chargeToTake',
  `select i.status, i.total_minor, i.paid_minor, m.removed_at
   from charges c join invoices i on i.id = c.invoice_id join payment_methods m on m.id = c.method_id where c.id = :id`,
);

/**
 * Has what is due of an invoice paid while its customer is away: a renewal from account credit, as far as that reaches, and the
 * rest by the organization's default method (settings, section `payments`). Nothing happens without either, while another charge of
 * the invoice is under way, or when nothing is due. Gives the id of a charge that was begun, or null. What is declined is told
 * to the customer and asked again some days later.
 */
export async function chargeSaved(tx: TxContext, invoiceId: number): Promise<number | null> {
  const invoice = await tx.db.maybe(lockInvoice, { id: invoiceId });
  if (invoice === null || dueOf(invoice) === 0) return null;
  const { organization_id: organizationId } = invoice;
  if (!(await hasCreditFor(tx, invoice))) return chargeMethod(tx, invoice);
  // By a job: other invoices of the organization share its credit, and whoever takes a number keeps the house waiting.
  await enqueue(tx, payingFromCredit, { invoiceId }, { organizationId });
  return null;
}

const payingFromCredit: NamedJob<{ invoiceId: number }> = { name: 'billing.payFromCredit' };

/**
 * Pays an invoice from credit first. Where that is not enough it pays its part at once, before the method is charged: two
 * invoices of one day would otherwise both count on it. Without a method a part would help nobody.
 */
export const payFromCreditJob = databaseJob<{ invoiceId: number }>(
  payingFromCredit.name,
  async (tx, { invoiceId }) => {
    if (await waitsForRelease(tx, payingFromCredit, { invoiceId })) return;
    const invoice = await tx.db.maybe(lockInvoice, { id: invoiceId });
    if (invoice === null || dueOf(invoice) === 0) return;
    const { organization_id: organizationId, currency } = invoice;
    const driver = tx.config.payments;
    if ((await tx.db.one(chargesOf, { invoiceId, driver })).under_way > 0) return;
    const creditMinor = await spendableCredit(tx, organizationId, currency);
    if (creditMinor >= dueOf(invoice)) {
      const nothing = { transferId: null, chargeId: null, reference: null, receivedOn: null };
      const payment = { method: 'credit', ...nothing } as const;
      await payRest(tx, invoice, payment);
      await numberPaid(tx, invoice, payment);
      return;
    }
    const method = await tx.db.maybe(defaultMethod, { organizationId, driver });
    const leastMinor = leastByProvider(tx, currency);
    const partMinor = creditPartOf(creditMinor, dueOf(invoice), { currency, leastMinor });
    if (method !== null && partMinor > 0) await payFromCredit(tx, invoice, partMinor);
    await chargeMethod(tx, invoice);
  },
);

/** Whether there is credit that is to pay this invoice first: a renewal; for anything else its customer chose how to pay (0097). */
async function hasCreditFor(
  tx: TxContext,
  { kind, organization_id: id, currency }: Payable,
): Promise<boolean> {
  if (kind !== 'renewal') return false;
  const heldMinor = (await findCredit(tx, id, currency))?.balanceMinor ?? 0;
  return heldMinor > 0 && (await readSettings(tx, payments)).credit_first;
}

async function chargeMethod(tx: TxContext, invoice: Payable): Promise<number | null> {
  const { id: invoiceId, organization_id: organizationId } = invoice;
  const driver = tx.config.payments;
  const method = await tx.db.maybe(defaultMethod, { organizationId, driver });
  if (method === null) return null;
  const { under_way: underWay, attempts } = await tx.db.one(chargesOf, { invoiceId, driver });
  if (underWay > 0) return null;
  const charge = await wantCharge(tx, invoice, method, {
    amountMinor: dueOf(invoice),
    attempt: attempts + 1,
  });
  return charge.id;
}

/** Begins a charge of a saved method; the invoice's row is locked. */
export async function wantCharge(
  tx: TxContext,
  invoice: Payable,
  method: Chargeable,
  asked: { amountMinor: number; attempt?: number; usesCredit?: boolean },
): Promise<Charge> {
  const { amountMinor, attempt = null, usesCredit = false } = asked;
  const { id: invoiceId, organization_id: organizationId, currency } = invoice;
  const charge = await newCharge(tx, {
    ...{ organization_id: organizationId, invoice_id: invoiceId, driver: method.driver, means: 'saved' },
    ...{
      method_id: method.id,
      attempt,
      amount_minor: amountMinor,
      currency,
      uses_credit: usesCredit,
      reference: null,
    },
  });
  await enqueue(tx, savedCharge, { chargeId: charge.id }, { organizationId });
  return charge;
}

/** Tries again what was declined some days ago, unless it was paid meanwhile. */
export const chargeAgain = databaseJob<{ invoiceId: number }>(askAgain.name, async (tx, { invoiceId }) => {
  if (!(await waitsForRelease(tx, askAgain, { invoiceId }))) await chargeSaved(tx, invoiceId);
});

interface Payload {
  chargeId: number;
}

interface State {
  /** False once it is no longer wanted. */
  isWanted: boolean;
  /** The database was restored since it was wanted, and staff has not said yet that things go on: another job asks again. */
  isHeld: boolean;
  reference: string;
  truth: PaymentTruth;
  /** The provider does not take such a payment at all. */
  refusal: Decline;
}

/**
 * Charges a saved method while its customer is away. The payment is made first, which moves no money, and its name is
 * written down; then it is taken, which happens once however often it is asked; then it is booked. So a crash between any
 * two of these, and an answer that is lost, is found again by asking how the payment stands.
 */
export const savedCharge = saga<Payload, State>({
  name: chargingSaved.name,
  queue: 'charges',
  inStep: true,
  outages: providerOutages,
  steps: [
    { name: 'begin', transactional: true, do: begin },
    { name: 'prepare', do: prepare, recorded: nameCharge, attempts: 8 },
    { name: 'charge', do: charge, attempts: 8 },
    { name: 'book', transactional: true, do: book },
  ],
});

async function begin({ ctx: tx, payload }: TxRun<Payload, State>): Promise<Partial<State>> {
  const { invoice_id: invoiceId, ...row } = await tx.db.one(chargeById, { id: payload.chargeId });
  const invoice = await tx.db.one(lockInvoice, { id: invoiceId });
  const amountMinor = Math.min(row.amount_minor, dueOf(invoice));
  const isWanted = row.state === 'open' && amountMinor > 0;
  if (isWanted) await tx.db.run(setAmount, { id: row.id, amountMinor });
  else if (row.state === 'open')
    await tx.db.run(setState, { id: row.id, state: 'over', now: tx.clock.now() });
  return { isWanted };
}

async function prepare({ ctx, drivers, payload, state }: Run<Payload, State>): Promise<Partial<State>> {
  if (!state.isWanted) return {};
  const row = await ctx.db.one(toPrepare, { id: payload.chargeId });
  if (row.reference !== null) return { reference: row.reference };
  if (await wasMadeBefore(ctx, row.created_at)) return { isHeld: true };
  if (row.removed_at !== null) return { refusal: methodRemoved };
  const leastMinor = drivers.payments.leastMinor(row.currency);
  const tooLittle = reasonAgainstLittle(row.amount_minor, leastMinor, row.currency);
  if (tooLittle !== null) return { refusal: refusal(tooLittle.code, tooLittle.message) };
  try {
    const reference = await drivers.payments.prepareCharge({
      // What we begin ourselves begins once, also for a provider who is asked by a database that has forgotten the first time.
      key: `charge-${row.invoice_id}-${row.attempt ?? row.id}`,
      customer: row.customer ?? (await customerAt(ctx, drivers.payments, row.organization_id)),
      ...{ organizationId: row.organization_id, invoiceId: row.invoice_id },
      ...{ method: row.method, id: row.id, amountMinor: row.amount_minor, currency: row.currency },
      description: `Invoice ${row.invoice_id}`,
    });
    return { reference };
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    if (error.code === 'method_refused') return { refusal: methodRefused(ctx, payload, error) };
    if (error.code !== 'payment_invalid') throw error;
    return { refusal: refusal(error.code, 'Such an amount cannot be charged to it') };
  }
}

async function nameCharge(
  tx: TxContext,
  { chargeId: id }: Payload,
  { reference, isHeld }: Partial<State>,
): Promise<void> {
  if (isHeld) await enqueueLater(tx, chargingSaved, { chargeId: id });
  if (reference !== undefined) await tx.db.run(setReference, { id, reference });
}

async function charge({ ctx, drivers, payload, state }: Run<Payload, State>): Promise<Partial<State>> {
  const { reference } = state;
  if (reference === undefined) return {};
  const look = () => ctx.db.one(toTake, { id: payload.chargeId });
  const seen = await look();
  const isDue = dueOf(seen) > 0;
  let because = methodRemoved;
  if (isDue && seen.removed_at === null) {
    try {
      return { truth: await drivers.payments.confirmCharge(reference) };
    } catch (error) {
      // The provider charges nothing to what it has forgotten; or its owner took it away this moment.
      if (!(error instanceof PaymentError && error.permanent)) throw error;
      if (error.code === 'method_refused') because = methodRefused(ctx, payload, error);
      else if ((await look()).removed_at === null) throw error;
    }
  }
  // Paid in another way this moment, or not to be charged any more. It may have been taken before a crash all the same.
  const about = { kind: 'payment', reference } as const;
  const truth = await drivers.payments.look(about);
  if (truth === null) await requireOurAccount(ctx, drivers.payments, about);
  if (truth?.kind !== 'payment') return {};
  const isTaken = truth.state === 'paid' || truth.state === 'pending';
  return isTaken || !isDue ? { truth } : { refusal: because };
}

async function book({ ctx: tx, payload, state }: TxRun<Payload, State>): Promise<void> {
  if (state.truth !== undefined) await bookPayment(tx, state.truth);
  if (state.truth?.state === 'open')
    await tx.db.run(setState, { id: payload.chargeId, state: 'over', now: tx.clock.now() });
  if (state.refusal === undefined) return;
  await bookDecline(tx, payload.chargeId, state.refusal);
  // It may be gone there, as with a customer who was deleted; then it is to decline no second time.
  const { driver, method_id: id } = await tx.db.one(chargeById, { id: payload.chargeId });
  const method =
    state.refusal.code === 'method_refused' && id !== null ? await tx.db.maybe(methodById, { id }) : null;
  if (method !== null && driver === tx.config.payments)
    await lookAt(tx, { kind: 'method', reference: method.reference });
}

/** It would be refused tomorrow as well, so this is no outage: its customer has to do something, and the calendar goes on. */
function methodRefused(ctx: Context, { chargeId }: Payload, error: PaymentError): Decline {
  ctx.log.warn(
    { charge: chargeId, err: error },
    'the payment provider does not take a saved method any more',
  );
  return refusal(error.code, 'The payment provider does not take this method any more; please save it anew.');
}

const methodRemoved = refusal('method_removed', 'The saved method was removed.');

function refusal(code: string, message: string): Decline {
  return { code, message, needsCustomer: false, mayRetry: false };
}
