import { record } from '../../events/index.ts';
import { type ListDefinition, type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import {
  type Context,
  fail,
  formatMoney,
  newId,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { unknownPaymentBooked, unknownPaymentDismissed } from '../events.ts';
import { invoiceById } from '../invoices/payable.ts';
import { writeAdopted } from './adopt.ts';
import { lookAt } from './receive.ts';

interface UnknownRow {
  id: number;
  driver: string;
  reference: string;
  organization_id: number | null;
  organization_name: string | null;
  told_invoice_id: number | null;
  amount_minor: number;
  currency: string;
  state: 'open' | 'booked' | 'dismissed';
  invoice_id: number | null;
  reason: string | null;
  seen_at: Date;
}

const selectUnknown = `
  select t.id, t.driver, t.reference, t.organization_id, t.told_invoice_id, t.amount_minor, t.currency, t.state,
    t.invoice_id, t.reason, t.seen_at,
    (select o.name from organizations o where o.id = t.organization_id) as organization_name
  from unknown_payments t`;

const unknowns = pagedList<UnknownRow>({
  name: 'billing.unknownPayments',
  from: 'unknown_payments t',
  select: selectUnknown,
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: { seen_at: { by: 't.seen_at', type: 'timestamptz', of: (row) => row.seen_at.toISOString() } },
  order: '-seen_at',
} satisfies ListDefinition<UnknownRow>);
const unknownById = statement<UnknownRow, { id: number }>(
  'billing.unknownPayment',
  `${selectUnknown} where t.id = :id`,
);
const lockUnknown = statement<UnknownRow, { id: number }>(
  'billing.lockUnknownPayment',
  `${selectUnknown} where t.id = :id for update of t`,
);
const decide = statement<
  never,
  {
    id: number;
    state: 'booked' | 'dismissed';
    invoiceId: number | null;
    reason: string | null;
    userId: number | null;
    now: Date;
  }
>(
  'billing.decideUnknownPayment',
  `update unknown_payments set state = :state, invoice_id = :invoiceId, reason = :reason, decided_by = :userId,
     decided_at = :now where id = :id`,
);

/** Payments that the provider has for us and no row of ours knows, the newest first unless sorted. */
export async function listUnknownPayments(ctx: Context, query: ListRequest) {
  const { rows, at } = await unknowns(ctx, query);
  return listData('payments', rows.map(view), at);
}

/**
 * Says which invoice such a payment is for. It pays what is due of it, and what is more becomes the customer's credit, as
 * soon as the provider was asked how it stands. `not_found`; `conflict` once it is decided; `payment_mismatch` for an
 * invoice in another currency or of another organization than the payment's.
 */
export async function bookUnknownPayment(ctx: Context, id: number, asked: { invoice_id: number }) {
  return transaction(ctx, 'billing.bookUnknownPayment', async (tx) => {
    const { driver, reference, amount_minor: amountMinor, ...payment } = await requireOpen(tx, id);
    const invoice = await tx.db.maybe(invoiceById, { id: asked.invoice_id });
    if (invoice === null) throw invalid('must be an invoice that there is');
    if (invoice.kind === 'credit_note') throw invalid('must be no credit note');
    const { organization_id: organizationId, currency } = invoice;
    if (currency !== payment.currency)
      throw mismatch(`The payment is in ${payment.currency}, and the invoice in ${currency}`);
    if (payment.organization_id !== null && payment.organization_id !== organizationId)
      throw mismatch('The payment was made by another organization than the invoice is for');
    const invoiceId = invoice.id;
    const charge = { id: newId(), organizationId, invoiceId, driver, reference, amountMinor, currency };
    await writeAdopted(tx, charge);
    await write(tx, id, { state: 'booked', invoiceId, reason: null });
    const amount = formatMoney(amountMinor, currency);
    await record(tx, unknownPaymentBooked, {
      subject: { type: 'unknown_payment', id },
      organizationId,
      data: { invoice_id: invoiceId, amount, currency, reference },
    });
    await lookAt(tx, { kind: 'payment', reference });
    return readUnknown(tx, id);
  });
}

/** Says that such a payment is none of ours, or went back at the provider's desk. `not_found`; `conflict` once decided. */
export async function dismissUnknownPayment(ctx: Context, id: number, { reason }: { reason: string }) {
  return transaction(ctx, 'billing.dismissUnknownPayment', async (tx) => {
    const { organization_id, amount_minor, currency, reference } = await requireOpen(tx, id);
    await write(tx, id, { state: 'dismissed', invoiceId: null, reason });
    const amount = formatMoney(amount_minor, currency);
    await record(tx, unknownPaymentDismissed, {
      subject: { type: 'unknown_payment', id },
      organizationId: organization_id,
      data: { amount, currency, reference, reason },
    });
    return readUnknown(tx, id);
  });
}

async function requireOpen(tx: TxContext, id: number): Promise<UnknownRow> {
  const found = await requireRow(tx, lockUnknown, { id });
  if (found.state === 'open') return found;
  throw fail('conflict', { message: `This payment is ${found.state} already` });
}

async function write(
  tx: TxContext,
  id: number,
  decision: { state: 'booked' | 'dismissed'; invoiceId: number | null; reason: string | null },
): Promise<void> {
  await tx.db.run(decide, { id, ...decision, userId: tx.actor.userId, now: tx.clock.now() });
}

async function readUnknown(ctx: Context, id: number) {
  return { payment: view(await requireRow(ctx, unknownById, { id })) };
}

function invalid(message: string) {
  return fail('invalid_request', { details: [{ field: 'invoice_id', message }] });
}

function mismatch(message: string) {
  return fail('payment_mismatch', { message });
}

function view(row: UnknownRow) {
  return {
    id: row.id,
    driver: row.driver,
    reference: row.reference,
    amount: formatMoney(row.amount_minor, row.currency),
    currency: row.currency,
    organization:
      row.organization_id === null ? null : { id: row.organization_id, name: row.organization_name ?? '' },
    told_invoice_id: row.told_invoice_id,
    state: row.state,
    invoice_id: row.invoice_id,
    reason: row.reason,
    seen_at: row.seen_at,
  };
}
