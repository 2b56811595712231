import { expect } from 'vitest';
import { adopt, renewalOf } from './adopt.ts';
import { backTo, givesBackAs } from './back.ts';
import {
  becomes,
  type Customer,
  cancels,
  dueDateOf,
  dueOf,
  ends,
  heldOf,
  type Invoice,
  isAnew,
  isFor,
  type Period,
  type Service,
} from './books.ts';
import {
  addDays,
  daysBetween,
  inEqualParts,
  minorOf,
  monthAfter,
  monthsAfter,
  percentOf,
  textOf,
  worthFrom,
} from './rules.ts';
import type { Shop } from './shop.ts';
import type { Step } from './steps.ts';

/** What customers and staff do with services. */

export async function order(shop: Shop, customer: Customer, what: Step<'order'>, name: string) {
  const { id: productId, price } = shop.goods[what.product];
  const oldest = price.now;
  const item = { id: productId, cycle: 'monthly', type: 'Hosting' };
  const cart = {
    products: Array(what.pieces).fill(item),
    ...(what.coupon && { couponcode: shop.coupons[what.coupon] }),
  };
  const answer = await customer.person.post('/cart/checkout/invoice', cart);
  expect(answer.status, shop.says(name, what, answer)).toBe(200);
  const { invoice_id: id, service_ids: ids } = answer.body.data;
  const { body } = await customer.person.get(`/dashboard/invoices/${id}`);
  const isOfThatPrice = (minor: number) => minorOf(body.data.invoice.subtotal) === minor * what.pieces;
  const priceMinor = price.since(oldest).find(isOfThatPrice) ?? Number.NaN;
  const offMinor = what.coupon === null ? 0 : percentOf(priceMinor * what.pieces, shop.couponPercent);
  const offs = inEqualParts(offMinor, what.pieces);
  const lines = offs.map((off, at) => {
    const service: Service = {
      ...{ id: ids[at], orderedOn: shop.today, product: what.product, priceMinor, status: 'pending' },
      ...{ isEnding: false, anchor: 0, deliveredOn: null, periods: [], changes: [], became: [] },
      carried: [],
      ...{ isToShow: true, isRenewed: false },
      couponPercent: what.coupon === 'recurring' ? shop.couponPercent : 0,
    };
    customer.services.push(service);
    return { service, netMinor: priceMinor - off };
  });
  const invoice = customer.owes(id, 'order', lines);
  expect(minorOf(body.data.invoice.total), shop.says(name, what, answer)).toBe(invoice.totalMinor);
}

export async function deliver(shop: Shop, customer: Customer, what: Step<'deliver'>, name: string) {
  const service = pick(customer.services, what.which, (each) => isDeliverable(customer, each));
  if (service === undefined) return;
  const invoice = orderOf(customer, service);
  const isDone = isDeliverable(customer, service);
  const answer = await shop.staff.post(`/staff/services/${service.id}/deliver`);
  expect(answer.status, shop.says(name, what, answer)).toBe(isDone ? 200 : 409);
  if (!isDone) return;
  service.status = 'active';
  service.anchor = Number(shop.today.slice(8));
  service.deliveredOn = shop.today;
  service.periods.push({ invoice, from: shop.today, to: monthAfter(shop.today, service.anchor) });
  service.isToShow = true;
}

function orderOf(customer: Customer, service: Service): Invoice {
  const found = customer.invoices.find((each) => each.kind === 'order' && isFor(each, service));
  if (found === undefined) throw new Error(`nobody ordered service ${service.id}`);
  return found;
}

function isDeliverable(customer: Customer, service: Service): boolean {
  const { status, refundedMinor, totalMinor } = orderOf(customer, service);
  return service.status === 'pending' && status === 'paid' && refundedMinor < totalMinor;
}

const isRunning = ({ status }: Service) => status === 'active' || status === 'suspended';

export async function renew(shop: Shop, customer: Customer, what: Step<'renew'>, name: string) {
  const service = pick(monthly(customer), what.which, isRunning);
  if (service === undefined) return;
  const isDone = isRunning(service) && !service.isEnding && !customer.openOf(service, 'upgrade');
  const open = customer.openOf(service, 'renewal');
  const answer = await customer.person.post(`/dashboard/services/${service.id}/renew`, { cycle: 'monthly' });
  expect(answer.status, shop.says(name, what, answer)).toBe(isDone ? 200 : 409);
  if (!isDone) return;
  const { invoice_id: id } = answer.body.data;
  if (open !== undefined) return expect(id, shop.says(name, what, answer)).toBe(open.id);
  const invoice = customer.owes(id, 'renewal', [{ service, netMinor: renewalOf(service) }]);
  const { body } = await customer.person.get(`/dashboard/invoices/${id}`);
  expect(minorOf(body.data.invoice.total), shop.says(name, what, answer)).toBe(invoice.totalMinor);
}

/** To the other product, up or down. */
export async function upgrade(shop: Shop, customer: Customer, what: Step<'upgrade'>, name: string) {
  const service = pick(monthly(customer), what.which, isRunning);
  if (service === undefined) return;
  const { today } = shop;
  const product = service.product === 'small' ? 'large' : 'small';
  const { id: productId, price } = shop.goods[product];
  const open = customer.openOf(service, 'upgrade');
  const isRunningOn = service.status === 'active' && !service.isEnding && (dueDateOf(service) ?? '') > today;
  const isDone = isRunningOn && open?.change?.anew === undefined;
  const oldest = price.now;
  const path = `/dashboard/services/${service.id}/upgrade`;
  const answer = await customer.person.post(path, { product_id: productId });
  const says = shop.says(name, what, answer);
  expect(answer.status, says).toBe(isDone ? 200 : 409);
  if (!isDone) return;
  const { invoice_id: id, new_price, prorated_charge, total } = answer.body.data;
  if (open !== undefined) return expect(id, says).toBe(open.id);
  const renewal = customer.openOf(service, 'renewal');
  if (renewal !== undefined) cancels(customer, renewal);
  const priceMinor = minorOf(new_price);
  expect(price.since(oldest), says).toContain(priceMinor);
  const worth = (minor: number) => worthFrom(today, minor, service.periods);
  const netMinor = Math.max(0, worth(priceMinor) - worth(service.priceMinor));
  expect(minorOf(prorated_charge), says).toBe(netMinor);
  if (netMinor === 0) {
    expect(id, says).toBe(null);
    becomes(service, null, { product, priceMinor });
    return;
  }
  const invoice = customer.owes(id, 'upgrade', [{ service, netMinor }]);
  invoice.change = { product, priceMinor };
  expect(minorOf(total), says).toBe(invoice.totalMinor);
}

/** Those that are paid by the month still. */
const monthly = ({ services }: Customer) => services.filter((service) => !isAnew(service));

const yearsAhead = 36;

/** To the other product, for three years from today on, of which what is left of the paid time has paid a part. */
export async function changeCycle(shop: Shop, customer: Customer, what: Step<'changeCycle'>, name: string) {
  const service = pick(monthly(customer), what.which, isRunning);
  if (service === undefined) return;
  const { today } = shop;
  const product = service.product === 'small' ? 'large' : 'small';
  const { id: productId, yearsMinor } = shop.goods[product];
  const isRunningOn = service.status === 'active' && !service.isEnding && (dueDateOf(service) ?? '') > today;
  const open = customer.openOf(service, 'upgrade');
  const worthMinor = isRunningOn ? worthFrom(today, service.priceMinor, service.periods) : 0;
  const creditMinor = Math.min(worthMinor, paidAheadOf(shop, customer, service));
  const netMinor = yearsMinor - creditMinor;
  const path = `/dashboard/services/${service.id}/upgrade`;
  const answer = await customer.person.post(path, { product_id: productId, cycle: 'triennially' });
  const says = shop.says(name, what, answer);
  // Another change that waits for its payment comes first; the same one is returned.
  const isPossible = isRunningOn && (open === undefined || open.change?.anew !== undefined);
  expect(answer.status, says).toBe(!isPossible ? 409 : open === undefined && netMinor <= 0 ? 400 : 200);
  if (answer.status !== 200) return;
  const { invoice_id: id, total, prorated_charge } = answer.body.data;
  if (open !== undefined) return expect(id, says).toBe(open.id);
  const renewal = customer.openOf(service, 'renewal');
  if (renewal !== undefined) cancels(customer, renewal);
  expect(minorOf(prorated_charge), says).toBe(netMinor);
  const invoice = customer.owes(id, 'upgrade', [{ service, netMinor }]);
  invoice.change = {
    product,
    priceMinor: yearsMinor,
    anew: { from: today, to: monthsAfter(today, yearsAhead) },
  };
  expect(minorOf(total), says).toBe(invoice.totalMinor);
}

/** What was paid for a service and is not used up, today included, before tax. */
function paidAheadOf(shop: Shop, customer: Customer, service: Service): number {
  const yesterday = addDays(shop.today, -1);
  return paidInvoicesOf(customer, service).reduce((sum, invoice) => {
    const netMinor = netOf(invoice);
    const minor = shareOf(
      customer,
      invoice,
      unusedOf(lineOf(invoice, service), periodOf(service, invoice), yesterday),
    );
    return invoice.totalMinor === 0 ? sum : sum + Math.floor((minor * netMinor) / invoice.totalMinor);
  }, 0);
}

/** Cancels a service at once, with what goes back of what was paid for it. */
export async function end(shop: Shop, customer: Customer, what: Step<'end'>, name: string) {
  const service = pick(customer.services, what.which, isRunning);
  if (service === undefined) return;
  const ordered = orderOf(customer, service);
  const isWanted = service.status === 'pending' && ordered.status === 'unpaid';
  const isShared = ordered.lines.some(
    (line) => line.service !== service && line.service?.status === 'pending',
  );
  const isDone = (isRunning(service) || service.status === 'pending') && !(isWanted && isShared);
  const path = `/dashboard/services/${service.id}/cancel`;
  const shown = (await customer.person.get(path)).body.data.immediate;
  const answer = await customer.person.post(path, { type: 'immediate' });
  const says = shop.says(name, what, answer);
  expect(answer.status, says).toBe(isDone ? 200 : 409);
  if (!isDone) return;
  const shares = sharesOf(shop, customer, service);
  const { refund } = answer.body.data;
  expect(shown.refund, says).toEqual(refund);
  expect(refund.invoices, says).toEqual(
    shares.map(({ invoice, minor }) => {
      const original = textOf(minor - backTo(customer, invoice, minor).restMinor);
      return { invoice_id: invoice.id, amount: textOf(minor), original };
    }),
  );
  service.isEnding = true;
  if (isWanted) cancels(customer, ordered);
  if (service.status === 'pending') service.status = 'cancelled';
  else if (isRunning(service)) ends(customer, service);
  service.isToShow = true;
  for (const { invoice, minor } of shares)
    await givesBackAs(shop, customer, invoice, minor, backTo(customer, invoice, minor));
}

const withdrawalDays = 14;

/** What goes back of each invoice when a service ends now. */
function sharesOf(shop: Shop, customer: Customer, service: Service): { invoice: Invoice; minor: number }[] {
  const isWhole = service.status === 'pending' || shop.today <= addDays(service.orderedOn, withdrawalDays);
  const shares = paidInvoicesOf(customer, service).map((invoice) => {
    const ours = lineOf(invoice, service);
    const backMinor = isWhole ? ours : unusedOf(ours, periodOf(service, invoice), shop.today);
    return { invoice, minor: shareOf(customer, invoice, backMinor) };
  });
  return shares.filter(({ minor }) => minor > 0);
}

const paidInvoicesOf = ({ invoices }: Customer, service: Service) =>
  invoices.filter(
    (invoice) => invoice.status === 'paid' && invoice.kind !== 'late_fee' && isFor(invoice, service),
  );

const netOf = ({ lines }: Invoice) => lines.reduce((sum, line) => sum + line.netMinor, 0);

const lineOf = ({ lines }: Invoice, service: Service) =>
  lines.find((line) => line.service === service)?.netMinor ?? 0;

/** The days over which what an invoice paid for is used up. */
const periodOf = ({ periods, changes, carried }: Service, invoice: Invoice) =>
  [...periods, ...changes, ...carried].find((each) => each.invoice === invoice);

/** A part of an invoice's net amount with its tax, and never more than is left and no bank holds. */
function shareOf(customer: Customer, invoice: Invoice, partMinor: number): number {
  const netMinor = netOf(invoice);
  const minor = netMinor === 0 ? 0 : Math.floor((invoice.totalMinor * partMinor) / netMinor);
  const leftMinor = invoice.totalMinor - invoice.refundedMinor - heldOf(customer, invoice);
  return Math.max(0, Math.min(minor, leftMinor));
}

/** A day that has begun is used. */
function unusedOf(minor: number, period: Period | undefined, today: string): number {
  if (period === undefined) return 0;
  const days = daysBetween(period.from, period.to);
  const left = days - Math.max(0, daysBetween(period.from, today) + 1);
  const { netReturnedMinor = 0 } = period;
  return days <= 0 || left <= 0 ? 0 : Math.floor(((minor - netReturnedMinor) * left) / days);
}

/** Cancels a service for the end of its paid time. */
export async function endLater(shop: Shop, customer: Customer, what: Step<'endLater'>, name: string) {
  const service = pick(customer.services, what.which, isRunning);
  if (service === undefined) return;
  // A period that is over has no end to wait for.
  const isDone = isRunning(service) && (service.isEnding || (dueDateOf(service) ?? '') > shop.today);
  const path = `/dashboard/services/${service.id}/cancel`;
  const answer = await customer.person.post(path, { type: 'end_of_period' });
  expect(answer.status, shop.says(name, what, answer)).toBe(isDone ? 200 : 409);
  if (!isDone || service.isEnding) return;
  for (const invoice of customer.invoices) {
    if (dueOf(invoice) > 0 && isFor(invoice, service)) cancels(customer, invoice);
  }
  service.isEnding = true;
  service.isToShow = true;
}

export async function revoke(shop: Shop, customer: Customer, what: Step<'revoke'>, name: string) {
  const service = pick(
    customer.services.filter(({ isEnding }) => isEnding),
    what.which,
  );
  if (service === undefined) return;
  const isDone = isRunning(service);
  const answer = await customer.person.delete(`/dashboard/services/${service.id}/cancel`);
  expect(answer.status, shop.says(name, what, answer)).toBe(isDone ? 200 : 409);
  if (!isDone) return;
  service.isEnding = false;
  service.isToShow = true;
  await adopt(shop, customer);
}

export async function terminate(shop: Shop, customer: Customer, what: Step<'terminate'>, name: string) {
  const service = pick(customer.services, what.which, isRunning);
  if (service === undefined) return;
  const isDone = isRunning(service);
  const answer = await shop.staff.post(`/staff/services/${service.id}/terminate`, { reason: 'A test' });
  expect(answer.status, shop.says(name, what, answer)).toBe(isDone ? 200 : 409);
  if (isDone) ends(customer, service);
}

/** Staff changes a price: what runs keeps its own. */
export async function price(shop: Shop, _: Customer, what: Step<'price'>, name: string) {
  const { id, price } = shop.goods[what.product];
  await price.change(what.minor, async () => {
    const prices = [{ cycle: 'monthly', price: textOf(what.minor) }];
    const answer = await shop.staff.patch(`/staff/products/${id}`, { prices });
    expect(answer.status, shop.says(name, what, answer)).toBe(200);
  });
}

/** One of them; three times of four one of those that something comes of, if there are any. */
export function pick<Thing>(
  things: readonly Thing[],
  which: number,
  isLikely: (thing: Thing) => boolean = () => true,
): Thing | undefined {
  const likely = which % 4 === 0 ? [] : things.filter(isLikely);
  const among = likely.length > 0 ? likely : things;
  return among[which % Math.max(1, among.length)];
}
