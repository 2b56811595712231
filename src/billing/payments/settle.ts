import { record } from '../../events/index.ts';
import {
  dayOf,
  enqueue,
  forMany,
  formatMoney,
  type NamedJob,
  newId,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { creditGranted, invoicePaid, invoicePartPaid } from '../events.ts';
import type { PaymentMethod } from '../invoices/kind.ts';
import { giveNumber } from '../invoices/number.ts';
import { dueOf, type Payable } from '../invoices/payable.ts';
import { soldBy } from '../invoices/receivable.ts';
import { requireAction } from '../invoices/states.ts';
import { defer } from '../ledger/deferred.ts';
import { post } from '../ledger/ledger.ts';

/** Money on its way to an invoice. */
export interface Payment {
  method: PaymentMethod;
  transferId: number | null;
  chargeId: number | null;
  reference: string | null;
  receivedOn: string | null;
}

const markPaid = forMany(
  statement<{ has_page: boolean }, { id: number; now: Date; paidWithCreditMinor: number }>(
    'billing.markPaid',
    `update invoices set status = 'paid', date_paid = :now, paid_minor = total_minor,
     paid_with_credit_minor = paid_with_credit_minor + :paidWithCreditMinor where id = :id
   returning exists (select 1 from charges c where c.invoice_id = :id and c.state = 'open'
     and c.page_reference is not null) as has_page`,
  ),
  { id: 'bigint', now: 'timestamptz', paidWithCreditMinor: 'bigint' },
  (given) => `update invoices set status = 'paid', date_paid = given.now, paid_minor = total_minor,
     paid_with_credit_minor = paid_with_credit_minor + given."paidWithCreditMinor" from ${given} where invoices.id = given.id
   returning given.nth_, exists (select 1 from charges c where c.invoice_id = given.id and c.state = 'open'
     and c.page_reference is not null) as has_page`,
);
const addPart = statement<never, { id: number; amountMinor: number }>(
  'billing.addPart',
  'update invoices set paid_minor = paid_minor + :amountMinor where id = :id',
);
const addCreditPart = statement<never, { id: number; amountMinor: number }>(
  'billing.addCreditPart',
  `update invoices set paid_minor = paid_minor + :amountMinor,
     paid_with_credit_minor = paid_with_credit_minor + :amountMinor where id = :id`,
);
const addCredited = statement<never, { id: number; amountMinor: number }>(
  'billing.addCredited',
  'update invoices set credited_minor = credited_minor + :amountMinor where id = :id',
);
const insertPayment = forMany(
  statement<
    never,
    {
      id: number;
      invoiceId: number;
      organizationId: number;
      transferId: number | null;
      chargeId: number | null;
      method: PaymentMethod;
      amountMinor: number;
      currency: string;
      reference: string | null;
      receivedOn: string | null;
      now: Date;
    }
  >(
    'billing.insertPayment',
    `insert into payments (id, invoice_id, organization_id, transfer_id, charge_id, method, amount_minor, currency,
     reference, received_on, created_at)
   values (:id, :invoiceId, :organizationId, :transferId, :chargeId, :method, :amountMinor, :currency, :reference, :receivedOn,
     :now)`,
  ),
  {
    id: 'bigint',
    invoiceId: 'bigint',
    organizationId: 'bigint',
    transferId: 'bigint',
    chargeId: 'bigint',
    method: 'text',
    amountMinor: 'bigint',
    currency: 'text',
    reference: 'text',
    receivedOn: 'date',
    now: 'timestamptz',
  },
  (
    given,
  ) => `insert into payments (id, invoice_id, organization_id, transfer_id, charge_id, method, amount_minor, currency,
     reference, received_on, created_at)
   select id, "invoiceId", "organizationId", "transferId", "chargeId", method, "amountMinor", currency, reference, "receivedOn", now
   from ${given}`,
);

/** Throws `invoice_not_payable` unless an invoice, whose row is locked, waits for money. */
export function requireUnpaid(invoice: Payable, advice = ''): void {
  requireAction('pay', invoice, advice);
}

/** Takes what is still due of an unpaid invoice. The caller gives it its number, last: {@link numberPaid}. */
export async function payRest(tx: TxContext, invoice: Payable, payment: Payment): Promise<void> {
  const { organization_id: organizationId, currency, total_minor: totalMinor, tax_minor: taxMinor } = invoice;
  const dueMinor = dueOf(invoice);
  const fromCreditMinor = payment.method === 'credit' ? dueMinor : 0;
  const { id, kind, booked_at_issue: isBooked } = invoice;
  // What it sells counts since it was issued, or counts from now on: then what is for a service's period is owed, and
  // earned month by month.
  const sold = soldBy({ id, organizationId, kind, currency, totalMinor, taxMinor }, invoice.lines);
  const counts = { deferred: -sold.owedMinor, revenue: -sold.earnedMinor, tax: -sold.taxMinor };
  const isTopUp = kind === 'top_up';
  if (totalMinor > 0) {
    await post(tx, {
      kind: 'invoice_paid',
      organizationId,
      currency,
      invoiceId: invoice.id,
      description: `Invoice ${invoice.id}`,
      // What buys credit becomes credit, and nothing is earned by it.
      creditMinor: isTopUp ? totalMinor : -fromCreditMinor,
      provider: {
        [accountOf(payment)]: dueMinor - fromCreditMinor,
        parts: invoice.paid_minor,
        ...(isBooked ? { receivable: -totalMinor } : counts),
      },
    });
  }
  // None needs another's answer, so they travel together.
  const deferred = defer(tx, { id, organizationId, currency }, isBooked ? [] : sold.owed);
  const paid = writePayment(tx, invoice, dueMinor, payment);
  const told = record(tx, invoicePaid, {
    subject: { type: 'invoice', id: invoice.id },
    organizationId,
    data: {
      user_id: invoice.user_id,
      kind: invoice.kind,
      method: payment.method,
      currency,
      total: formatMoney(totalMinor, currency),
    },
  });
  await Promise.all([deferred, paid, told]);
}

/**
 * Gives an invoice that is paid its legal number, unless it got one when it was issued. Last before the commit, because
 * every payment of the provider waits for that row.
 */
export async function numberPaid(tx: TxContext, invoice: Payable, { method }: Payment): Promise<void> {
  const paidWithCreditMinor = method === 'credit' ? dueOf(invoice) : 0;
  const { id } = invoice;
  const now = tx.clock.now();
  await giveNumber(tx, { id, kind: 'invoice', now });
  const { has_page } = await tx.db.one(markPaid, { id, now, paidWithCreditMinor });
  if (has_page) await closePages(tx, invoice);
}

/** Nobody is to pay on a page for what is paid; see `charges/closePages.ts`. */
export const closingPages: NamedJob<{ invoiceId: number }> = { name: 'billing.closePages' };

/** Has the pages closed on which an invoice could still be paid. */
export async function closePages(
  tx: TxContext,
  invoice: Pick<Payable, 'id' | 'organization_id'>,
): Promise<void> {
  const { id: invoiceId, organization_id: organizationId } = invoice;
  await enqueue(tx, closingPages, { invoiceId }, { organizationId });
}

/** Takes a part of what is due of an unpaid invoice; it stays the customer's money until the rest has come. */
export async function payPart(
  tx: TxContext,
  invoice: Payable,
  amountMinor: number,
  payment: Payment,
): Promise<void> {
  const { id, organization_id: organizationId, currency } = invoice;
  await post(tx, {
    kind: 'invoice_part_paid',
    organizationId,
    currency,
    invoiceId: id,
    description: `Part of invoice ${id}`,
    creditMinor: 0,
    provider: { [accountOf(payment)]: amountMinor, parts: -amountMinor },
  });
  await writePayment(tx, invoice, amountMinor, payment);
  await tx.db.run(addPart, { id, amountMinor });
  await record(tx, invoicePartPaid, {
    subject: { type: 'invoice', id },
    organizationId,
    data: {
      user_id: invoice.user_id,
      kind: invoice.kind,
      currency,
      amount: formatMoney(amountMinor, currency),
      due: formatMoney(dueOf(invoice) - amountMinor, currency),
      duedate: dayOf(invoice.expires_at),
    },
  });
}

/** Takes a part of what is due from credit, when the rest comes otherwise in the same transaction. */
export async function payFromCredit(tx: TxContext, invoice: Payable, amountMinor: number): Promise<void> {
  const { id, organization_id: organizationId, currency } = invoice;
  await post(tx, {
    kind: 'invoice_part_paid',
    organizationId,
    currency,
    invoiceId: id,
    description: `Invoice ${id}, a part of it`,
    creditMinor: -amountMinor,
    provider: { parts: -amountMinor },
  });
  const payment = {
    method: 'credit',
    transferId: null,
    chargeId: null,
    reference: null,
    receivedOn: null,
  } as const;
  await writePayment(tx, invoice, amountMinor, payment);
  await tx.db.run(addCreditPart, { id, amountMinor });
  invoice.paid_minor += amountMinor;
}

/**
 * Keeps what came in for an invoice that was cancelled or paid before: the money is the customer's, and what it was for
 * has been given back, or has been had already.
 */
export async function keepAsCredit(
  tx: TxContext,
  invoice: Payable,
  amountMinor: number,
  payment: Payment,
): Promise<void> {
  const { id } = invoice;
  const invoice_was = becauseOf(invoice);
  await writePayment(tx, invoice, amountMinor, payment);
  await tx.db.run(addCredited, { id, amountMinor });
  const description = `${nameOf(payment)} for invoice ${id}, which was ${invoice_was} before`;
  await becomeCredit(tx, invoice, amountMinor, payment, { description, invoice_was });
}

/** Makes credit of what a charge brought beyond what was still due when it came. */
export async function creditSurplus(
  tx: TxContext,
  invoice: Payable,
  amountMinor: number,
  payment: Payment,
): Promise<void> {
  const description = `${nameOf(payment)} for invoice ${invoice.id}, more than was due`;
  await becomeCredit(tx, invoice, amountMinor, payment, { description, invoice_was: 'paid' });
}

async function becomeCredit(
  tx: TxContext,
  invoice: Payable,
  amountMinor: number,
  payment: Payment,
  why: { description: string; invoice_was: 'cancelled' | 'paid' },
): Promise<void> {
  const { id, organization_id: organizationId, currency, user_id } = invoice;
  await post(tx, {
    kind: payment.chargeId === null ? 'transfer_credited' : 'charge_credited',
    organizationId,
    currency,
    invoiceId: id,
    description: why.description,
    creditMinor: amountMinor,
    provider: { [accountOf(payment)]: amountMinor },
  });
  await record(tx, creditGranted, {
    subject: { type: 'organization', id: organizationId },
    organizationId,
    data: { user_id, amount: formatMoney(amountMinor, currency), currency, invoice_id: id, ...why },
  });
}

function becauseOf({ status }: Payable): 'cancelled' | 'paid' {
  return status === 'cancelled' ? 'cancelled' : 'paid';
}

function nameOf({ chargeId }: Payment): string {
  return chargeId !== null ? 'Payment by card or debit' : 'Bank transfer';
}

/** Where money that comes in lies then; what is paid from credit lay with us before. */
function accountOf({ chargeId }: Payment): 'bank' | 'provider' {
  return chargeId !== null ? 'provider' : 'bank';
}

function writePayment(
  tx: TxContext,
  invoice: Payable,
  amountMinor: number,
  { method, transferId, chargeId, reference, receivedOn }: Payment,
): Promise<number> {
  return tx.db.run(insertPayment, {
    id: newId(),
    invoiceId: invoice.id,
    organizationId: invoice.organization_id,
    transferId,
    chargeId,
    method: amountMinor === 0 ? 'none' : method,
    amountMinor,
    currency: invoice.currency,
    reference,
    receivedOn,
    now: tx.clock.now(),
  });
}
