import { PaymentError, type RefundTruth } from '../../drivers/payments/index.ts';
import { record } from '../../events/index.ts';
import {
  type Context,
  enqueue,
  formatMoney,
  type Run,
  saga,
  statement,
  type TxContext,
  type TxRun,
} from '../../platform/index.ts';
import { creditGranted } from '../events.ts';
import { lockForCorrection } from '../invoices/creditNote.ts';
import { lockInvoice } from '../invoices/payable.ts';
import { post } from '../ledger/ledger.ts';
import { type GoingBack, moveBack, type RefundableRow, type Sum, shareOfTax } from '../payments/refund.ts';
import { addCredited, addReturned, type Charge, chargeById } from './charge.ts';
import { providerOutages } from './provider.ts';
import { takeBack } from './takeBack.ts';

const sendable = statement<{ id: number; left_minor: number }, { invoiceId: number }>(
  'billing.sendableCharges',
  // What a bank has taken back, or may keep, cannot go back a second time.
  `select c.id, c.amount_minor - c.credited_minor - c.returned_minor as left_minor from charges c
   where c.invoice_id = :invoiceId and c.state = 'paid' and c.amount_minor > c.credited_minor + c.returned_minor
     and not exists (select 1 from disputes d where d.charge_id = c.id and d.state in ('open', 'lost'))
   order by c.id desc for no key update of c`,
);

const sendableSum = statement<{ minor: number }, { invoiceId: number }>(
  'billing.sendableOf',
  `select coalesce(sum(c.amount_minor - c.credited_minor - c.returned_minor), 0)::bigint as minor from charges c
   where c.invoice_id = :invoiceId and c.state = 'paid' and c.amount_minor > c.credited_minor + c.returned_minor
     and not exists (select 1 from disputes d where d.charge_id = c.id and d.state in ('open', 'lost'))`,
);

/** How much of an invoice can go back by the payment provider to where it came from. */
export async function sendableOf(ctx: Context, invoiceId: number): Promise<number> {
  return (await ctx.db.one(sendableSum, { invoiceId })).minor;
}

interface RefundRow {
  id: number;
  invoice_id: number;
  organization_id: number;
  charge_id: number;
  amount_minor: number;
  currency: string;
  /** What of it had been credit that was given up. */
  given_up_minor: number;
  state: 'pending' | 'done' | 'failed';
  /** Null until the provider has it. */
  reference: string | null;
}

const columns =
  'id, invoice_id, organization_id, charge_id, amount_minor, currency, given_up_minor, state, reference';
const refundById = statement<RefundRow, { id: number }>(
  'billing.refundById',
  `select ${columns} from refunds where id = :id and charge_id is not null`,
);
const refundOf = statement<RefundRow, { reference: string; id: number | null; chargeId: number }>(
  'billing.refundOfProvider',
  `select ${columns} from refunds where charge_id = :chargeId and (reference = :reference or id = :id) limit 1`,
);
const unsentOf = statement<RefundRow, { chargeId: number }>(
  'billing.unsentRefunds',
  `select ${columns} from refunds where charge_id = :chargeId and state = 'pending' and reference is null
   order by created_at desc, id desc`,
);
// A refund that was made at the provider's desk stands in both tables.
const goneOf = statement<{ minor: number; is_known: boolean }, { chargeId: number; reference: string }>(
  'billing.goneOfCharge',
  `select (select coalesce(sum(g.amount_minor), 0) from charge_returns g where g.charge_id = :chargeId)::bigint
     + (select coalesce(sum(r.amount_minor), 0) from refunds r where r.charge_id = :chargeId and r.state <> 'failed'
         and not exists (select 1 from charge_returns g where g.charge_id = r.charge_id and g.reference = r.reference))::bigint
       as minor,
     exists (select 1 from charge_returns g where g.charge_id = :chargeId and g.reference = :reference) as is_known`,
);
const setRefund = statement<never, { id: number; state: RefundRow['state']; reference: string | null }>(
  'billing.setRefund',
  'update refunds set state = :state, reference = coalesce(reference, :reference) where id = :id',
);

/**
 * Has the payment provider give back as much of a sum as it brought for an invoice, whose row is locked, the newest charge
 * first. Gives what is left. The credit note is the caller's.
 */
export async function sendBack(
  tx: TxContext,
  invoice: RefundableRow,
  sum: Sum,
  why: Pick<GoingBack, 'reason' | 'services'>,
): Promise<Sum> {
  let left = sum;
  let refundedMinor = invoice.refunded_minor;
  for (const charge of await tx.db.many(sendable, { invoiceId: invoice.id })) {
    const amountMinor = Math.min(left.amountMinor, charge.left_minor);
    if (amountMinor === 0) break;
    const part = { amountMinor, taxMinor: shareOfTax(left, amountMinor) };
    const back = { ...why, method: 'original', chargeId: charge.id } as const;
    const refundId = await moveBack(tx, { ...invoice, refunded_minor: refundedMinor }, part, back);
    await tx.db.run(addReturned, { id: charge.id, amountMinor });
    await enqueue(tx, sendingBack, { refundId }, { organizationId: invoice.organization_id });
    left = { amountMinor: left.amountMinor - amountMinor, taxMinor: left.taxMinor - part.taxMinor };
    refundedMinor += amountMinor;
  }
  return left;
}

interface Payload {
  refundId: number;
}

interface State {
  truth: RefundTruth;
  /** Why the provider never does it. */
  refusal: string;
}

/** Asks the provider for a refund under our own id, by which it is found again however late it is asked for. */
export const sendingBack = saga<Payload, State>({
  name: 'billing.sendBack',
  outages: providerOutages,
  steps: [
    { name: 'send', do: send, attempts: 12 },
    { name: 'note', transactional: true, do: note },
  ],
});

async function send({ ctx, drivers, payload }: Run<Payload, State>): Promise<Partial<State>> {
  const refund = await ctx.db.one(refundById, { id: payload.refundId });
  const { reference } = await ctx.db.one(chargeById, { id: refund.charge_id });
  const { id, amount_minor: amountMinor, currency } = refund;
  // Somebody was quicker at the provider's desk.
  if (refund.state === 'failed') return {};
  try {
    const asked = { key: `refund-${id}`, id, payment: reference ?? '', amountMinor, currency };
    return { truth: await drivers.payments.refund(asked) };
  } catch (error) {
    // Such as of a payment that its bank is taking back this moment.
    if (error instanceof PaymentError && error.permanent) return { refusal: error.message };
    throw error;
  }
}

async function note({ ctx: tx, payload, state }: TxRun<Payload, State>): Promise<void> {
  const { invoice_id: id, charge_id: chargeId } = await tx.db.one(refundById, { id: payload.refundId });
  await lockForCorrection(tx, id);
  await tx.db.one(lockInvoice, { id });
  const charge = await tx.db.one(chargeById, { id: chargeId });
  if (state.truth !== undefined) await bookRefund(tx, charge, state.truth);
  else await noteFailed(tx, await tx.db.one(refundById, { id: payload.refundId }), null);
}

/** Books how a refund of a charge stands at the provider; the invoice's row is locked. */
export async function bookRefund(tx: TxContext, charge: Charge, truth: RefundTruth): Promise<void> {
  const { reference, id, state, amountMinor } = truth;
  const refund = await tx.db.maybe(refundOf, { reference, id, chargeId: charge.id });
  if (refund === null) {
    // Given back by somebody at the provider's own desk.
    if (state === 'failed') return;
    await makeRoom(tx, charge, amountMinor, reference);
    await takeBack(tx, charge.id, amountMinor, { ...atDesk, reference });
    return;
  }
  // One that we gave up before the provider had it, and that it did all the same.
  const wasGivenUp = refund.state === 'failed' && refund.reference === null;
  if (wasGivenUp && state !== 'failed') {
    await takeBack(tx, charge.id, amountMinor, { ...atDesk, reference });
    return;
  }
  if (state === 'failed') await noteFailed(tx, refund, reference);
  else if (refund.state !== 'failed') await tx.db.run(setRefund, { id: refund.id, state, reference });
}

const atDesk = { method: 'original', reason: 'Given back at the payment provider' } as const;

/**
 * Gives up refunds of ours that the provider has not heard of, when so much went back at its desk that it will refuse them:
 * the same money goes back once. What they were to bring becomes credit, and is taken from there with what has gone.
 */
async function makeRoom(
  tx: TxContext,
  charge: Charge,
  amountMinor: number,
  reference: string,
): Promise<void> {
  const { minor: goneMinor, is_known: isKnown } = await tx.db.one(goneOf, { chargeId: charge.id, reference });
  if (isKnown) return;
  let overMinor = goneMinor + amountMinor - charge.amount_minor;
  for (const refund of await tx.db.many(unsentOf, { chargeId: charge.id })) {
    if (overMinor <= 0) return;
    await noteFailed(tx, refund, null);
    overMinor -= refund.amount_minor;
  }
}

/** A refund that did not arrive: the money is with us again, and the customer's, but for what they had given up. */
async function noteFailed(tx: TxContext, refund: RefundRow, reference: string | null): Promise<void> {
  if (refund.state === 'failed') return;
  const {
    id,
    invoice_id: invoiceId,
    organization_id: organizationId,
    currency,
    amount_minor: amountMinor,
    given_up_minor: givenUpMinor,
  } = refund;
  const creditMinor = amountMinor - givenUpMinor;
  await tx.db.run(setRefund, { id, state: 'failed', reference });
  await tx.db.run(addReturned, { id: refund.charge_id, amountMinor: -amountMinor });
  await tx.db.run(addCredited, { id: refund.charge_id, amountMinor });
  const description = `Refund of invoice ${invoiceId}, which did not arrive`;
  await post(tx, {
    kind: 'refund_failed',
    ...{ organizationId, currency, invoiceId, description },
    creditMinor,
    provider: { provider: amountMinor, given_up: -givenUpMinor },
  });
  if (creditMinor === 0) return;
  const { user_id } = await tx.db.one(lockInvoice, { id: invoiceId });
  await record(tx, creditGranted, {
    subject: { type: 'organization', id: organizationId },
    organizationId,
    data: {
      ...{ user_id, currency, description, amount: formatMoney(creditMinor, currency) },
      ...{ invoice_id: invoiceId, invoice_was: 'refunded' },
    },
  });
}
