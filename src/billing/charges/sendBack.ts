import { PaymentError, type RefundTruth } from '../../drivers/payments/index.ts';
import { record } from '../../events/index.ts';
import {
  enqueue,
  formatMoney,
  type Run,
  saga,
  statement,
  type TxContext,
  type TxRun,
} from '../../platform/index.ts';
import { creditGranted } from '../events.ts';
import { lockInvoice } from '../invoices/payable.ts';
import { post } from '../ledger/ledger.ts';
import { giveBack, type RefundableRow } from '../payments/refund.ts';
import { addCredited, addReturned, type Charge, chargeById } from './charge.ts';
import { takeBack } from './takeBack.ts';

const sendable = statement<{ id: number; left_minor: number }, { invoiceId: number }>(
  'billing.sendableCharges',
  // What a bank has taken back, or may keep, cannot go back a second time.
  `select c.id, c.amount_minor - c.credited_minor - c.returned_minor as left_minor from charges c
   where c.invoice_id = :invoiceId and c.state = 'paid' and c.amount_minor > c.credited_minor + c.returned_minor
     and not exists (select 1 from disputes d where d.charge_id = c.id and d.state in ('open', 'lost'))
   order by c.id desc for no key update of c`,
);

interface RefundRow {
  id: number;
  invoice_id: number;
  organization_id: number;
  charge_id: number;
  amount_minor: number;
  currency: string;
  state: 'pending' | 'done' | 'failed';
}

const columns = 'id, invoice_id, organization_id, charge_id, amount_minor, currency, state';
const refundById = statement<RefundRow, { id: number }>(
  'billing.refundById',
  `select ${columns} from refunds where id = :id and charge_id is not null`,
);
const refundOf = statement<RefundRow, { reference: string; id: number | null; chargeId: number }>(
  'billing.refundOfProvider',
  `select ${columns} from refunds where charge_id = :chargeId and (reference = :reference or id = :id) limit 1`,
);
const setRefund = statement<never, { id: number; state: RefundRow['state']; reference: string | null }>(
  'billing.setRefund',
  'update refunds set state = :state, reference = coalesce(reference, :reference) where id = :id',
);

/**
 * Has the payment provider give back as much of an amount as it brought for an invoice, whose row is locked, the newest
 * charge first. Gives what is left.
 */
export async function sendBack(
  tx: TxContext,
  invoice: RefundableRow,
  amountMinor: number,
  reason: string,
): Promise<number> {
  let leftMinor = amountMinor;
  let refundedMinor = invoice.refunded_minor;
  for (const charge of await tx.db.many(sendable, { invoiceId: invoice.id })) {
    const partMinor = Math.min(leftMinor, charge.left_minor);
    if (partMinor === 0) break;
    const back = { method: 'original', reason, chargeId: charge.id } as const;
    const refundId = await giveBack(tx, { ...invoice, refunded_minor: refundedMinor }, partMinor, back);
    await tx.db.run(addReturned, { id: charge.id, amountMinor: partMinor });
    await enqueue(tx, sendingBack, { refundId }, { organizationId: invoice.organization_id });
    leftMinor -= partMinor;
    refundedMinor += partMinor;
  }
  return leftMinor;
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
  steps: [
    { name: 'send', do: send, attempts: 12 },
    { name: 'note', transactional: true, do: note },
  ],
});

async function send({ ctx, drivers, payload }: Run<Payload, State>): Promise<Partial<State>> {
  const refund = await ctx.db.one(refundById, { id: payload.refundId });
  const { reference } = await ctx.db.one(chargeById, { id: refund.charge_id });
  const { id, amount_minor: amountMinor, currency } = refund;
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
    const reason = 'Given back at the payment provider';
    await takeBack(tx, charge.id, amountMinor, { method: 'original', reason, reference });
    return;
  }
  if (state === 'failed') await noteFailed(tx, refund, reference);
  else if (refund.state !== 'failed') await tx.db.run(setRefund, { id: refund.id, state, reference });
}

/** A refund that did not arrive: the money is with us again, and the customer's. */
async function noteFailed(tx: TxContext, refund: RefundRow, reference: string | null): Promise<void> {
  if (refund.state === 'failed') return;
  const {
    id,
    invoice_id: invoiceId,
    organization_id: organizationId,
    currency,
    amount_minor: amountMinor,
  } = refund;
  await tx.db.run(setRefund, { id, state: 'failed', reference });
  await tx.db.run(addReturned, { id: refund.charge_id, amountMinor: -amountMinor });
  await tx.db.run(addCredited, { id: refund.charge_id, amountMinor });
  const description = `Refund of invoice ${invoiceId}, which did not arrive`;
  await post(tx, {
    kind: 'refund_failed',
    ...{ organizationId, currency, invoiceId, description },
    creditMinor: amountMinor,
    provider: { provider: amountMinor },
  });
  const { user_id } = await tx.db.one(lockInvoice, { id: invoiceId });
  await record(tx, creditGranted, {
    subject: { type: 'organization', id: organizationId },
    organizationId,
    data: {
      ...{ user_id, currency, description, amount: formatMoney(amountMinor, currency) },
      ...{ invoice_id: invoiceId, invoice_was: 'refunded' },
    },
  });
}
