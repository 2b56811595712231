import { expect } from 'vitest';
import {
  type Charge,
  type Customer,
  heldOf,
  type Invoice,
  isTaken,
  restOf,
  shareOfUndone,
  taxOfReturn,
} from './books.ts';
import { pick } from './orders.ts';
import { textOf } from './rules.ts';
import type { Shop } from './shop.ts';
import type { Step } from './steps.ts';

/** How money goes back. */

export async function refund(shop: Shop, customer: Customer, what: Step<'refund'>, name: string) {
  const invoice = pick(customer.invoices, what.which, (each) => leftOf(each) > 0);
  if (invoice === undefined) return;
  const mostMinor = leftOf(invoice);
  const minor = what.minor ?? mostMinor;
  const isOriginal = what.method === 'original';
  const back = isOriginal ? backTo(customer, invoice, minor) : { parts: [], restMinor: minor };
  const isHeld = invoice.status === 'paid' && minor > mostMinor - heldOf(customer, invoice);
  const isGiven = mostMinor > 0 && minor <= mostMinor && !isHeld && isPossible(customer, invoice, what, back);
  const answer = await shop.staff.post(`/staff/invoices/${invoice.id}/refund`, {
    ...{ reason: 'A test', method: what.method },
    ...(what.minor !== null && { amount: textOf(what.minor) }),
  });
  expect(answer.status === 200, shop.says(name, what, answer)).toBe(isGiven);
  if (!isGiven) return;
  if (invoice.status === 'unpaid') {
    invoice.paidMinor -= minor;
    invoice.partsToCreditMinor += minor;
    customer.creditMinor += minor;
    return;
  }
  await givesBackAs(shop, customer, invoice, minor, back);
}

/** Money of a paid invoice goes back to the cards that it came from, and the rest as credit. */
export async function givesBackAs(
  shop: Shop,
  customer: Customer,
  invoice: Invoice,
  minor: number,
  back: Back,
): Promise<void> {
  shop.books.givesBack(customer, invoice, minor);
  invoice.refundsToCreditMinor += back.restMinor;
  customer.creditMinor += back.restMinor;
  for (const { charge, minor: partMinor } of back.parts) sendsBack(shop, customer, charge, partMinor);
  if (back.parts.length > 0) await sent(shop, invoice);
}

function leftOf({ status, totalMinor, refundedMinor, paidMinor }: Invoice): number {
  if (status === 'paid') return totalMinor - refundedMinor;
  return status === 'unpaid' ? paidMinor : 0;
}

interface Back {
  parts: { charge: Charge; minor: number }[];
  /** What becomes credit. */
  restMinor: number;
}

/** What of an amount goes back to the cards that it came from. */
export function backTo({ charges }: Customer, invoice: Invoice, minor: number): Back {
  const parts: Back['parts'] = [];
  let restMinor = minor;
  for (const charge of charges.filter((each) => each.invoice === invoice && isSendable(each))) {
    const partMinor = Math.min(restMinor, charge.minor - charge.creditedMinor - charge.returnedMinor);
    if (partMinor === 0) continue;
    parts.push({ charge, minor: partMinor });
    restMinor -= partMinor;
  }
  return { parts, restMinor };
}

/** What a bank holds, or has kept, is not there to go back. */
function isSendable({ dispute }: Charge): boolean {
  return dispute === null || dispute.state === 'won';
}

function isPossible(
  { creditMinor }: Customer,
  invoice: Invoice,
  { method }: Step<'refund'>,
  { parts, restMinor }: Back,
): boolean {
  const isTopUp = invoice.kind === 'top_up';
  if (invoice.status === 'unpaid') return method === 'credit';
  if (method === 'credit') return !isTopUp;
  if (parts.length === 0) return false;
  const sentMinor = parts.reduce((sum, { minor }) => sum + minor, 0);
  return !isTopUp || (restMinor === 0 && sentMinor <= creditMinor);
}

function sendsBack(shop: Shop, customer: Customer, charge: Charge, minor: number): void {
  if (charge.invoice.kind === 'top_up') customer.creditMinor -= minor;
  if (charge.dispute === null) {
    charge.returnedMinor += minor;
    shop.books.provider -= minor;
    return;
  }
  // The provider refuses what was disputed once, whoever won: it is the customer's, as credit.
  charge.creditedMinor += minor;
  customer.creditMinor += minor;
}

async function sent(shop: Shop, { id }: Invoice): Promise<void> {
  const text = `select 1 from refunds where invoice_id = $1 and state = 'pending'`;
  await shop.becomes((rows) => rows.length === 0, text, id);
}

/** A transfer was booked by mistake. */
export async function takeBack(shop: Shop, customer: Customer, what: Step<'takeBack'>, name: string) {
  const transfer = pick(customer.transfers, what.which);
  if (transfer === undefined) return;
  const path = `/staff/transfers/${transfer.id}/take-back`;
  const answer = await shop.staff.post(path, { reason: 'A test' });
  const taken = transfer.parts.map(({ invoice, minor }) => ({
    invoice,
    minor: Math.min(minor, leftOf(invoice)),
  }));
  const creditMinor = transfer.minor - taken.reduce((sum, { minor }) => sum + minor, 0);
  const bought = taken.filter(({ invoice: { kind, status } }) => kind === 'top_up' && status === 'paid');
  const boughtMinor = bought.reduce((sum, { minor }) => sum + minor, 0);
  // What else had paid the invoices becomes credit first.
  const restMinor = taken.reduce(
    (sum, { invoice, minor }) => sum + (minor > 0 ? restOf(customer, invoice, minor) : 0),
    0,
  );
  const isThere =
    customer.creditMinor >= boughtMinor && customer.creditMinor + restMinor >= creditMinor + boughtMinor;
  const isDone = !transfer.isTakenBack && isThere;
  expect(answer.status, shop.says(name, what, answer)).toBe(isDone ? 200 : 409);
  if (!isDone) return;
  transfer.isTakenBack = true;
  customer.creditMinor -= creditMinor + boughtMinor;
  shop.books.bank -= transfer.minor;
  for (const { invoice, minor } of taken) {
    if (invoice.status !== 'paid') {
      invoice.paidMinor -= minor;
      continue;
    }
    if (minor === 0) continue;
    isTaken(customer, invoice, minor);
    shop.books.givesBack(customer, invoice, minor);
    shop.books.undoes(customer, invoice);
  }
}

const disputeFeeMinor = 2_000;

/** A customer's bank takes a payment back until it is decided. */
export async function dispute(shop: Shop, customer: Customer, what: Step<'dispute'>) {
  const charge = pick(
    customer.charges.filter((each) => each.dispute === null),
    what.which,
  );
  if (charge === undefined) return;
  const { id: reference } = shop.paid.stripe.account.dispute(charge.reference);
  await shop.becomes(
    ([row]) => row !== undefined,
    `select 1 from disputes where reference = $1 and state = 'open' and fee_minor = $2`,
    ...[reference, disputeFeeMinor],
  );
  const counted = { countedMinor: 0, lossMinor: 0, ofInvoiceMinor: 0, taxMinor: 0 };
  charge.dispute = { reference, state: 'open', ...counted };
  shop.books.disputes += charge.minor;
  shop.books.provider -= charge.minor + disputeFeeMinor;
  shop.books.fees += disputeFeeMinor;
}

export async function decide(shop: Shop, customer: Customer, what: Step<'decide'>) {
  const charge = pick(
    customer.charges.filter((each) => each.dispute?.state === 'open'),
    what.which,
  );
  if (!charge?.dispute) return;
  const { reference } = charge.dispute;
  shop.paid.stripe.account.closeDispute(reference, what.outcome);
  const text = 'select 1 from disputes where reference = $1 and state = $2';
  await shop.becomes(([row]) => row !== undefined, text, reference, what.outcome);
  charge.dispute.state = what.outcome;
  shop.books.disputes -= charge.minor;
  if (what.outcome === 'won') shop.books.provider += charge.minor;
  else loses(shop, customer, charge);
  shop.books.givesHeld(customer, charge);
  const waiting = customer.held.filter(({ invoice }) => invoice === charge.invoice).length;
  const held = 'select 1 from service_returns where invoice_id = $1';
  await shop.becomes((rows) => rows.length === waiting, held, charge.invoice.id);
}

/** What the money bought is not paid any more; what became credit is taken from there, and the rest is lost. */
function loses(shop: Shop, customer: Customer, charge: Charge): void {
  const { invoice, minor } = charge;
  const isTopUp = invoice.kind === 'top_up';
  const heldMinor = customer.creditMinor;
  const broughtMinor = minor - charge.creditedMinor - charge.returnedMinor;
  const mostMinor = invoice.status === 'paid' ? Math.min(broughtMinor, leftOf(invoice)) : 0;
  const ofInvoiceMinor = Math.max(0, isTopUp ? Math.min(mostMinor, heldMinor) : mostMinor);
  const taxMinor = taxOfReturn(invoice, ofInvoiceMinor);
  if (ofInvoiceMinor > 0) {
    isTaken(customer, invoice, ofInvoiceMinor);
    shop.books.givesBack(customer, invoice, ofInvoiceMinor);
    shop.books.undoes(customer, invoice);
  }
  if (isTopUp) customer.creditMinor -= ofInvoiceMinor;
  const countedMinor = Math.min(minor, minor - charge.returnedMinor);
  charge.returnedMinor += countedMinor;
  const moreMinor = minor - ofInvoiceMinor;
  const ofCreditMinor = Math.min(moreMinor, customer.creditMinor);
  customer.creditMinor -= ofCreditMinor;
  const lossMinor = moreMinor - ofCreditMinor;
  shop.books.losses += lossMinor;
  if (charge.dispute) Object.assign(charge.dispute, { countedMinor, lossMinor, ofInvoiceMinor, taxMinor });
}

/**
 * One that was lost is won after all: what was had is paid again, and what was undone is the customer's credit, but for what had
 * been lost.
 */
export async function correct(shop: Shop, customer: Customer, what: Step<'correct'>) {
  const charge = pick(
    customer.charges.filter((each) => each.dispute?.state === 'lost'),
    what.which,
  );
  if (!charge?.dispute) return;
  const { invoice } = charge;
  const { reference, countedMinor, lossMinor, ofInvoiceMinor, taxMinor } = charge.dispute;
  shop.paid.stripe.account.closeDispute(reference, 'won');
  const text = `select 1 from disputes where reference = $1 and state = 'won'`;
  await shop.becomes(([row]) => row !== undefined, text, reference);
  charge.dispute.state = 'won';
  charge.returnedMinor -= countedMinor;
  const paidMinor = ofInvoiceMinor - shareOfUndone(invoice, ofInvoiceMinor);
  const paidTaxMinor = ofInvoiceMinor === 0 ? 0 : Math.round((taxMinor * paidMinor) / ofInvoiceMinor);
  charge.creditedMinor += countedMinor - paidMinor;
  shop.books.provider += charge.minor;
  shop.books.losses -= lossMinor;
  customer.creditMinor += charge.minor - lossMinor;
  if (ofInvoiceMinor > 0) invoice.takings -= 1;
  invoice.refundedMinor -= paidMinor;
  invoice.takenMinor -= paidMinor;
  invoice.taxReturnedMinor -= paidTaxMinor;
  if (invoice.kind === 'top_up') return;
  customer.creditMinor -= paidMinor;
  shop.books.tax += paidTaxMinor;
  shop.books.sold += paidMinor - paidTaxMinor;
}
