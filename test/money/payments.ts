import { expect } from 'vitest';
import { payByCredit } from '../invoices.ts';
import {
  type Charge,
  type Customer,
  cancels,
  dueOf,
  type Invoice,
  spendableOf,
  type Transfer,
} from './books.ts';
import { pick } from './orders.ts';
import { textOf } from './rules.ts';
import type { Shop } from './shop.ts';
import type { Step } from './steps.ts';

/** How money comes. */

export async function grant(shop: Shop, customer: Customer, what: Step<'grant'>, name: string) {
  const body = { amount: textOf(what.minor), currency: 'EUR', description: 'A gift' };
  const path = `/staff/organizations/${customer.person.organizationId}/credit`;
  const answer = await shop.staff.post(path, body);
  expect(answer.status, shop.says(name, what, answer)).toBe(200);
  customer.creditMinor += what.minor;
  shop.books.goodwill += what.minor;
}

export async function topUp(shop: Shop, customer: Customer, what: Step<'topUp'>, name: string) {
  const answer = await customer.person.post('/dashboard/credit/top-up', { amount: textOf(what.minor) });
  expect(answer.status, shop.says(name, what, answer)).toBe(200);
  customer.owes(answer.body.data.invoice_id, 'top_up', [], what.minor);
}

const isUnpaid = ({ status }: Invoice) => status === 'unpaid';

export async function transfer(shop: Shop, customer: Customer, what: Step<'transfer'>, name: string) {
  const { invoices, person } = customer;
  const named = typeof what.to === 'number' ? pick(invoices, what.to, isUnpaid) : undefined;
  const isRefused = named?.status === 'paid';
  const body = {
    ...{ amount: textOf(what.minor), currency: 'EUR', reference: `M-${name}` },
    ...(named && { invoices: [{ invoice_id: named.id }] }),
    ...(what.to === 'credit' && { invoices: [] }),
  };
  const send = () => shop.staff.post(`/staff/organizations/${person.organizationId}/transfers`, body);
  const answers = await Promise.all(what.twice ? [send(), send()] : [send()]);
  const done = answers.filter(({ status }) => status === 200);
  expect(done.length, shop.says(name, what, ...answers)).toBe(isRefused ? 0 : 1);
  if (isRefused) return;
  shop.books.bank += what.minor;
  let leftMinor = what.minor;
  const parts: Transfer['parts'] = [];
  const unpaid = invoices.filter(isUnpaid);
  for (const invoice of what.to === 'credit' ? [] : named ? [named] : unpaid) {
    const mostMinor = invoice.status === 'cancelled' ? invoice.totalMinor : dueOf(invoice);
    const minor = Math.min(mostMinor, leftMinor);
    if (minor === 0) continue;
    leftMinor -= minor;
    parts.push({ invoice, minor });
    if (invoice.status === 'cancelled') customer.creditMinor += minor;
    else shop.books.pays(customer, invoice, minor, shop.today);
  }
  customer.creditMinor += leftMinor;
  const id = done[0]?.body.data.transfer.id;
  customer.transfers.push({ id, minor: what.minor, parts, isTakenBack: false });
}

export async function pay(shop: Shop, customer: Customer, what: Step<'pay'>, name: string) {
  const invoice = pick(customer.invoices, what.which, isUnpaid);
  if (invoice === undefined) return;
  const isPaid = mayPayByCredit(customer, invoice);
  const times = what.twice ? 2 : 1;
  const answers = await Promise.all(
    Array.from({ length: times }, () => payByCredit(customer.person, invoice.id)),
  );
  const done = answers.filter(({ status }) => status === 200);
  expect(done.length, shop.says(name, what, ...answers)).toBe(isPaid ? 1 : 0);
  if (isPaid) paysByCredit(shop, customer, invoice);
}

function mayPayByCredit(customer: Customer, invoice: Invoice): boolean {
  return invoice.kind !== 'top_up' && invoice.status === 'unpaid' && spendableOf(customer) >= dueOf(invoice);
}

function paysByCredit(shop: Shop, customer: Customer, invoice: Invoice): void {
  const dueMinor = dueOf(invoice);
  customer.creditMinor -= dueMinor;
  shop.books.pays(customer, invoice, dueMinor, shop.today);
}

/** Less than this no payment provider takes. */
const leastMinor = 50;

/** With a saved method, by a job; and maybe with credit at the same moment. */
export async function card(shop: Shop, customer: Customer, what: Step<'card'>, name: string) {
  const invoice = pick(customer.invoices, what.which, isUnpaid);
  if (invoice === undefined) return;
  const isTopUp = invoice.kind === 'top_up';
  const usesCredit = what.usesCredit && !isTopUp;
  const way = { method: 'card', payment_method_id: customer.methodId, use_credit: usesCredit };
  const mayCredit = mayPayByCredit(customer, invoice);
  const isRace = what.race && mayCredit;
  const dueMinor = dueOf(invoice);
  const isByCredit = usesCredit && spendableOf(customer) >= dueMinor;
  const isTooLittle = dueMinor < leastMinor && !isByCredit;
  const [answer, other] = await Promise.all([
    customer.person.post(`/dashboard/invoices/${invoice.id}/pay`, way),
    isRace ? payByCredit(customer.person, invoice.id) : null,
  ]);
  const says = shop.says(name, what, answer, ...(other ? [other] : []));
  if (invoice.status !== 'unpaid') return expect(answer.status, says).toBe(409);
  if (!isRace) expect(answer.status, says).toBe(isTooLittle ? 409 : 200);
  const chargeId = answer.status === 200 ? answer.body.data.charge?.id : undefined;
  const charge = chargeId === undefined ? null : await settledCharge(shop, customer, invoice, chargeId);
  const { body } = await customer.person.get(`/dashboard/invoices/${invoice.id}`);
  const isPaid = body.data.invoice.status === 'paid';
  if (charge === null) {
    // By credit alone, whoever of the two it was; or not at all, since no card takes so little.
    expect(isPaid, says).toBe(isRace || isByCredit);
    if (!isPaid) expect(isTooLittle, says).toBe(true);
    if (isPaid) paysByCredit(shop, customer, invoice);
    return;
  }
  expect(isPaid, says).toBe(true);
  // What credit does not reach is left to the card, and never less than that takes.
  expect(charge.minor, says).toBeGreaterThanOrEqual(leastMinor);
  shop.books.takes(charge.minor);
  // What credit paid meanwhile the card has paid once more, and that is credit again.
  const byCreditMinor = isRace && other?.status === 200 ? dueMinor : Math.max(0, dueMinor - charge.minor);
  charge.creditedMinor = byCreditMinor + charge.minor - dueMinor;
  customer.creditMinor += charge.creditedMinor - byCreditMinor;
  if (!isRace) expect(charge.minor, says).toBe(usesCredit ? dueMinor - byCreditMinor : dueMinor);
  shop.books.pays(customer, invoice, dueMinor, shop.today);
}

/** Waits for what becomes of a charge; null when nothing was taken. */
async function settledCharge(
  shop: Shop,
  customer: Customer,
  invoice: Invoice,
  id: number,
): Promise<Charge | null> {
  const [row] = await shop.becomes<{ state: string; reference: string; amount_minor: number }>(
    ([seen]) => seen?.state !== 'open' && seen?.state !== 'pending',
    'select state, reference, amount_minor from charges where id = $1',
    id,
  );
  if (row?.state !== 'paid') return null;
  const { reference, amount_minor: minor } = row;
  const charge = { id, reference, invoice, minor, creditedMinor: 0, returnedMinor: 0, dispute: null };
  customer.charges.push(charge);
  return charge;
}

export async function cancel(shop: Shop, customer: Customer, what: Step<'cancel'>, name: string) {
  const invoice = pick(customer.invoices, what.which);
  if (invoice === undefined) return;
  const isOfService = invoice.kind === 'renewal' || invoice.kind === 'late_fee';
  const isDone = invoice.status === 'unpaid' && !isOfService;
  const answer = await customer.person.post(`/dashboard/invoices/${invoice.id}/cancel`);
  expect(answer.status, shop.says(name, what, answer)).toBe(isDone ? 200 : 409);
  if (isDone) cancels(customer, invoice);
}
