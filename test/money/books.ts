import type { Person } from '../people.ts';
import { carriedInto, daysBetween, monthAfter, percentOf } from './rules.ts';

/** The same books as the product's, kept in memory by rules written down a second time. */

export type ProductName = 'small' | 'large';

export interface Period {
  invoice: Invoice;
  from: string;
  to: string;
  /** What went back of its price with days that are no part of it any more. */
  netReturnedMinor?: number;
}

/** The time of a service that is paid for, and the day of the month on which its periods begin. */
export interface Times {
  periods: Period[];
  changes: Period[];
  anchor: number;
}

/** What a change made of a service; its invoice, when there was something to pay. */
export interface Became {
  invoice: Invoice | null;
  is: { product: ProductName; priceMinor: number };
  was: { product: ProductName; priceMinor: number };
  /** Where periods of another length began anew: the time that was paid for before. */
  before?: Times;
}

export interface Service {
  id: number;
  orderedOn: string;
  product: ProductName;
  priceMinor: number;
  status: 'pending' | 'active' | 'suspended' | 'cancelled' | 'terminated';
  /** It ends with its paid time. */
  isEnding: boolean;
  anchor: number;
  deliveredOn: string | null;
  /** Time that is paid for, one after the other. */
  periods: Period[];
  /** Days that an upgrade was paid for. */
  changes: Period[];
  became: Became[];
  /** Time that was paid for before its periods began anew, which is used up by the days of the new one. */
  carried: Period[];
  /** What its coupon takes off renewals, in per cent. */
  couponPercent: number;
  /** The product has not been asked yet whether it says the same. */
  isToShow: boolean;
  /** A renewal was paid or given back, and the calendar may have work anew. */
  isRenewed: boolean;
}

export interface Line {
  service: Service | null;
  netMinor: number;
}

export interface Invoice {
  id: number;
  kind: 'order' | 'renewal' | 'upgrade' | 'late_fee' | 'top_up';
  lines: Line[];
  totalMinor: number;
  taxMinor: number;
  paidMinor: number;
  refundedMinor: number;
  /** What of it became credit: of what was paid while it is unpaid, or of what was refunded. */
  partsToCreditMinor: number;
  refundsToCreditMinor: number;
  /** Of the tax, what went back. */
  taxReturnedMinor: number;
  /** What a bank took of it back, or was never its customer's. */
  takenMinor: number;
  /** How many such takings stand: a bank may give again what it took. */
  takings: number;
  /** What was undone with them, and what else had paid for that and became credit. */
  undone: Set<Service>;
  undoneToCreditMinor: number;
  status: 'unpaid' | 'paid' | 'cancelled';
  /** What an upgrade makes of its service. */
  change?: { product: ProductName; priceMinor: number; anew?: { from: string; to: string } };
}

export interface Transfer {
  id: number;
  minor: number;
  parts: { invoice: Invoice; minor: number }[];
  isTakenBack: boolean;
}

export interface Charge {
  id: number;
  /** The provider's name for it. */
  reference: string;
  invoice: Invoice;
  minor: number;
  creditedMinor: number;
  returnedMinor: number;
  dispute: Disputed | null;
}

export interface Disputed {
  reference: string;
  state: 'open' | 'won' | 'lost';
  /** Of one that was lost: how much of the charge it took, and what of it was nobody's any more. */
  countedMinor: number;
  lossMinor: number;
  /** What its invoice was refunded by, and the tax in it. */
  ofInvoiceMinor: number;
  taxMinor: number;
}

/** A customer, and everything between them and the provider. */
export class Customer {
  readonly person: Person;
  readonly hasTax: boolean;
  readonly methodId: number;
  creditMinor = 0;
  readonly invoices: Invoice[] = [];
  readonly services: Service[] = [];
  readonly transfers: Transfer[] = [];
  readonly charges: Charge[] = [];
  /** What goes back for days that are none any more, once a bank has decided. */
  held: { invoice: Invoice; minor: number }[] = [];
  constructor(person: Person, hasTax: boolean, methodId: number) {
    this.person = person;
    this.hasTax = hasTax;
    this.methodId = methodId;
  }

  /** An invoice over these lines, unpaid. */
  owes(id: number, kind: Invoice['kind'], lines: Line[], totalMinor?: number): Invoice {
    const netMinor = lines.reduce((sum, line) => sum + line.netMinor, 0);
    const isTaxed = this.hasTax && kind !== 'late_fee' && kind !== 'top_up';
    const taxMinor = isTaxed ? percentOf(netMinor, 21) : 0;
    const sums = { totalMinor: totalMinor ?? netMinor + taxMinor, taxMinor, paidMinor: 0, refundedMinor: 0 };
    const toCredit = { partsToCreditMinor: 0, refundsToCreditMinor: 0, undoneToCreditMinor: 0 };
    const taken = { taxReturnedMinor: 0, takenMinor: 0, takings: 0, undone: new Set<Service>() };
    const invoice: Invoice = { id, kind, lines, ...sums, ...toCredit, ...taken, status: 'unpaid' };
    this.invoices.push(invoice);
    return invoice;
  }

  openOf(service: Service, kind: Invoice['kind']): Invoice | undefined {
    return this.invoices.find(
      (invoice) => invoice.kind === kind && invoice.status === 'unpaid' && isFor(invoice, service),
    );
  }
}

/** What banks hold of an invoice's money until its disputes are decided. */
export function heldOf({ charges }: Customer, invoice: Invoice): number {
  return charges.reduce(
    (sum, charge) =>
      sum + (charge.invoice === invoice && charge.dispute?.state === 'open' ? charge.minor : 0),
    0,
  );
}

/** What a customer can pay with: credit that a bank holds the money of is not theirs to spend. */
export function spendableOf(customer: Customer): number {
  const disputed = customer.charges.filter(({ dispute }) => dispute?.state === 'open');
  const heldMinor = [...Map.groupBy(disputed, ({ invoice }) => invoice)].reduce(
    (sum, [invoice, charges]) => sum + heldCreditOf(invoice, charges),
    0,
  );
  return Math.max(0, customer.creditMinor - heldMinor);
}

/** What of the disputed charges of an invoice became credit; what was given back of it is there once for all of them. */
function heldCreditOf(invoice: Invoice, charges: Charge[]): number {
  const { status, kind, refundedMinor, totalMinor } = invoice;
  const isGone = status === 'cancelled' || (status === 'paid' && refundedMinor === totalMinor);
  const left = charges.map(({ minor, returnedMinor }) => minor - returnedMinor);
  const all = left.reduce((sum, minor) => sum + minor, 0);
  if (isGone || (kind === 'top_up' && status !== 'unpaid')) return all;
  const own = charges.reduce((sum, { creditedMinor }, at) => sum + Math.min(left[at] ?? 0, creditedMinor), 0);
  const backMinor = invoice.refundsToCreditMinor + (status === 'unpaid' ? invoice.partsToCreditMinor : 0);
  return own + Math.min(all - own, backMinor);
}

export function isFor({ lines }: Invoice, service: Service): boolean {
  return lines.some((line) => line.service === service);
}

/** What of the ledger is nobody's in particular. */
export class Books {
  bank = 0;
  provider = 0;
  fees = 0;
  disputes = 0;
  goodwill = 0;
  losses = 0;
  tax = 0;
  /** Earned, or owed as service. */
  sold = 0;
  readonly #today: () => string;

  constructor(today: () => string) {
    this.#today = today;
  }

  /** Money towards an invoice, which has come from elsewhere. */
  pays(customer: Customer, invoice: Invoice, minor: number, today: string): void {
    invoice.paidMinor += minor;
    if (invoice.paidMinor < invoice.totalMinor) return;
    invoice.status = 'paid';
    if (invoice.kind === 'top_up') {
      customer.creditMinor += invoice.totalMinor;
      return;
    }
    this.tax += invoice.taxMinor;
    this.sold += invoice.totalMinor - invoice.taxMinor;
    const [line] = invoice.lines;
    if (invoice.kind === 'renewal' && line?.service) renews(line.service, invoice);
    if (invoice.kind === 'upgrade' && line?.service) changes(line.service, invoice, today);
  }

  /** Money of a paid invoice that goes back; where to is the caller's. */
  givesBack(customer: Customer, invoice: Invoice, minor: number): void {
    const isTopUp = invoice.kind === 'top_up';
    const taxMinor = taxOfReturn(invoice, minor);
    invoice.refundedMinor += minor;
    invoice.taxReturnedMinor += taxMinor;
    this.tax -= taxMinor;
    if (!isTopUp) this.sold -= minor - taxMinor;
    if (invoice.refundedMinor < invoice.totalMinor) return;
    undelivered(invoice);
    for (const service of unpaidNow(invoice)) this.takesBackAll(customer, service, invoice);
  }

  /** And what was given back before, and waited for this. */
  takesBackAll(customer: Customer, service: Service, invoice: Invoice): void {
    if (!this.takesBack(customer, service, invoice)) return;
    while (refundedOf(customer, service).some((each) => this.takesBack(customer, service, each)));
    const inPart = customer.invoices.filter(
      (each) => each.takings > 0 && each.refundedMinor < each.totalMinor && isFor(each, service),
    );
    for (const each of inPart.toReversed()) {
      const backMinor = restOf(customer, each);
      each.undoneToCreditMinor += backMinor;
      if (backMinor > 0) this.givesCredit(customer, each, backMinor);
    }
  }

  /** What an invoice paid for is paid by nobody any more; says whether that took something. */
  takesBack(customer: Customer, service: Service, invoice: Invoice): boolean {
    const became = service.became.at(-1);
    if (invoice.kind === 'upgrade') {
      if (became?.invoice !== invoice || isRenewedSince(customer, service, invoice)) return false;
      if (service.product !== became.is.product || service.priceMinor !== became.is.priceMinor) return false;
      closes(customer, service);
      service.became.pop();
      service.changes = service.changes.filter((change) => change.invoice !== invoice);
      Object.assign(service, became.was, { isToShow: true });
      if (became.before) this.#returns(service, became.before);
      invoice.undone.add(service);
      return true;
    }
    if (service.periods.every((period) => period.invoice !== invoice)) return false;
    closes(customer, service);
    dropsPeriod(service, invoice);
    this.#goesOn(service);
    for (const change of [...service.changes]) this.cuts(customer, service, change);
    invoice.undone.add(service);
    return true;
  }

  /** What was paid for before periods began anew is paid time again. */
  #returns(service: Service, before: Times): void {
    Object.assign(service, before, { carried: [], isRenewed: true });
    this.#goesOn(service);
  }

  /** What was to end with its paid time goes on where that is over now, with all warnings. */
  #goesOn(service: Service): void {
    if (service.isEnding && (dueDateOf(service) ?? '') <= this.#today()) service.isEnding = false;
  }

  /** Of an upgrade the days that are not paid any more go back. */
  cuts(customer: Customer, service: Service, change: Period): void {
    const due = dueDateOf(service) ?? '';
    const { invoice, from, to, netReturnedMinor = 0 } = change;
    if (to <= due) return;
    if (from >= due) service.changes.splice(service.changes.indexOf(change), 1);
    if (invoice.refundedMinor === invoice.totalMinor) return;
    const netMinor = invoice.lines[0]?.netMinor ?? 0;
    const days = daysBetween(from, to);
    const left = days - Math.max(0, daysBetween(from, due));
    const partMinor = days <= 0 ? 0 : Math.floor(((netMinor - netReturnedMinor) * left) / days);
    const shareMinor = Math.floor((invoice.totalMinor * partMinor) / netMinor);
    const mostMinor = invoice.totalMinor - invoice.refundedMinor - heldOf(customer, invoice);
    Object.assign(change, { to: due, netReturnedMinor: netReturnedMinor + partMinor });
    const minor = Math.min(shareMinor, Math.max(0, mostMinor));
    const heldMinor = Math.min(shareMinor, invoice.totalMinor - invoice.refundedMinor) - minor;
    if (heldMinor > 0) customer.held.push({ invoice, minor: heldMinor });
    if (minor > 0) this.givesCredit(customer, invoice, minor);
  }

  /** A bank has decided about a charge: what waited for it goes back, but for what the bank gave back itself. */
  givesHeld(customer: Customer, { invoice, minor, dispute }: Charge): void {
    let takenMinor = dispute?.state === 'lost' ? minor : 0;
    const mine = customer.held.filter((each) => each.invoice === invoice);
    customer.held = customer.held.filter((each) => each.invoice !== invoice);
    for (const each of mine) {
      const offMinor = Math.min(takenMinor, each.minor);
      takenMinor -= offMinor;
      const wantedMinor = each.minor - offMinor;
      const leftMinor = invoice.totalMinor - invoice.refundedMinor;
      const disputedMinor = heldOf(customer, invoice);
      const nowMinor = Math.min(wantedMinor, Math.max(0, leftMinor - disputedMinor));
      if (nowMinor > 0) this.givesCredit(customer, invoice, nowMinor);
      if (leftMinor > 0 && disputedMinor > 0 && wantedMinor > nowMinor)
        customer.held.push({ invoice, minor: wantedMinor - nowMinor });
    }
  }

  /** The same, where the money becomes credit. */
  givesCredit(customer: Customer, invoice: Invoice, minor: number): void {
    this.givesBack(customer, invoice, minor);
    invoice.refundsToCreditMinor += minor;
    customer.creditMinor += minor;
  }

  /** A bank took money of a paid invoice back: what of it can be undone is, and what is left of that becomes credit. */
  undoes(customer: Customer, invoice: Invoice): void {
    const backMinor = restOf(customer, invoice);
    invoice.undoneToCreditMinor += backMinor;
    if (backMinor > 0) this.givesCredit(customer, invoice, backMinor);
    if (invoice.kind !== 'order' || invoice.refundedMinor === invoice.totalMinor) return;
    undelivered(invoice);
    for (const service of unpaidNow(invoice)) this.takesBackAll(customer, service, invoice);
  }

  /** The provider has taken money of a card, and its fee. */
  takes(minor: number): void {
    const feeMinor = Math.round(minor * 0.015) + 25;
    this.provider += minor - feeMinor;
    this.fees += feeMinor;
  }
}

/** What was paid towards an open invoice becomes credit. */
export function cancels(customer: Customer, invoice: Invoice): void {
  customer.creditMinor += invoice.paidMinor;
  invoice.paidMinor = 0;
  invoice.status = 'cancelled';
  undelivered(invoice);
}

/** Nobody delivers what is not paid any more. */
function undelivered(invoice: Invoice): void {
  if (invoice.kind !== 'order') return;
  for (const { service } of invoice.lines) {
    if (service?.status !== 'pending') continue;
    service.status = 'cancelled';
    service.isToShow = true;
  }
}

export function dueDateOf({ periods, deliveredOn }: Service): string | null {
  return periods.at(-1)?.to ?? deliveredOn;
}

function renews(service: Service, invoice: Invoice): void {
  const from = dueDateOf(service) ?? '';
  service.periods.push({ invoice, from, to: monthAfter(from, service.anchor) });
  if (service.status === 'suspended') service.status = 'active';
  service.isToShow = true;
  service.isRenewed = true;
}

/** What becomes credit of an invoice that a bank took a part of, or takes `moreMinor` of: what is left, but for what stays sold. */
export function restOf(customer: Customer, invoice: Invoice, moreMinor = 0): number {
  const { kind, status, lines, totalMinor } = invoice;
  const [refundedMinor, takenMinor] = [invoice.refundedMinor + moreMinor, invoice.takenMinor + moreMinor];
  if (status !== 'paid' || !isSale(kind)) return 0;
  const netMinor = lines.reduce((sum, line) => sum + line.netMinor, 0);
  const stays = lines.filter(({ service }) => service === null || !canUndo(customer, service, invoice));
  const keptNetMinor = stays.reduce((sum, line) => sum + line.netMinor, 0);
  const keptMinor = netMinor === 0 ? 0 : Math.floor((totalMinor * keptNetMinor) / netMinor);
  const otherMinor = refundedMinor - takenMinor;
  return Math.max(0, totalMinor - refundedMinor - Math.max(0, keptMinor - otherMinor));
}

/** Whether what was sold would be taken back with its money. */
function canUndo(customer: Customer, service: Service, invoice: Invoice): boolean {
  const { status, periods, became, product, priceMinor } = service;
  if (status === 'pending') return true;
  if (status !== 'active' && status !== 'suspended') return false;
  if (invoice.kind !== 'upgrade') return periods.some((period) => period.invoice === invoice);
  const last = became.at(-1);
  if (last?.invoice !== invoice || isRenewedSince(customer, service, invoice)) return false;
  return product === last.is.product && priceMinor === last.is.priceMinor;
}

/** Services that run and that an invoice, given back whole, had paid for: what staff gives back of an order leaves its period. */
function unpaidNow({ kind, lines, takings, undone }: Invoice): Service[] {
  if (!isSale(kind)) return [];
  const services = lines.flatMap(({ service }) =>
    service?.status === 'active' || service?.status === 'suspended' ? [service] : [],
  );
  return kind !== 'order' || takings > 0 ? services : services.filter((service) => undone.has(service));
}

function isSale(kind: Invoice['kind']): boolean {
  return kind === 'order' || kind === 'renewal' || kind === 'upgrade';
}

/** A bank is about to take money of an invoice, or it was never its customer's: what can be undone will be. */
export function isTaken(customer: Customer, invoice: Invoice, minor: number): void {
  invoice.takenMinor += minor;
  invoice.takings += 1;
  if (!isSale(invoice.kind)) return;
  for (const { service } of invoice.lines)
    if (service && canUndo(customer, service, invoice)) invoice.undone.add(service);
}

/** Of an amount that a bank gives again, what was for things that were undone. */
export function shareOfUndone(invoice: Invoice, minor: number): number {
  const { kind, lines, totalMinor, refundedMinor, takenMinor, undone, undoneToCreditMinor } = invoice;
  if (!isSale(kind)) return 0;
  const sum = (some: Line[]) => some.reduce((all, { netMinor }) => all + netMinor, 0);
  const stays = sum(lines.filter(({ service }) => service === null || !undone.has(service)));
  const keptMinor = sum(lines) === 0 ? 0 : Math.floor((totalMinor * stays) / sum(lines));
  const otherMinor = refundedMinor - takenMinor - undoneToCreditMinor;
  const goesBackMinor = Math.min(totalMinor, totalMinor - keptMinor + otherMinor);
  return Math.max(0, Math.min(minor, goesBackMinor - (refundedMinor - minor)));
}

/** The tax in what goes back: parts add up to the invoice's tax. */
export function taxOfReturn(invoice: Invoice, minor: number): number {
  if (invoice.kind === 'top_up') return 0;
  const { taxMinor, taxReturnedMinor, totalMinor, refundedMinor } = invoice;
  const leftMinor = taxMinor - taxReturnedMinor;
  const least = Math.max(0, minor - (totalMinor - refundedMinor - leftMinor));
  const byNow = taxWithin(invoice, refundedMinor + minor);
  return Math.min(minor, leftMinor, Math.max(least, byNow - taxReturnedMinor));
}

/** What was paid for a service and given back whole, the newest first. */
function refundedOf({ invoices }: Customer, service: Service): Invoice[] {
  const isBack = ({ status, refundedMinor, totalMinor }: Invoice) =>
    status === 'paid' && totalMinor > 0 && refundedMinor === totalMinor;
  return invoices.filter((invoice) => isBack(invoice) && unpaidNow(invoice).includes(service)).toReversed();
}

/** Periods after one that is gone move up. */
function dropsPeriod(service: Service, invoice: Invoice): void {
  const at = service.periods.findIndex((period) => period.invoice === invoice);
  let from = service.periods[at]?.from ?? '';
  service.periods.splice(at, 1);
  for (const period of service.periods.slice(at)) {
    Object.assign(period, { from, to: monthAfter(from, service.anchor) });
    from = period.to;
  }
  Object.assign(service, { isToShow: true, isRenewed: true });
}

/** What is open for a service was priced for what it is no more. */
function closes(customer: Customer, service: Service): void {
  for (const kind of ['renewal', 'upgrade'] as const) {
    const open = customer.openOf(service, kind);
    if (open) cancels(customer, open);
  }
}

function isRenewedSince({ invoices }: Customer, { periods }: Service, change: Invoice): boolean {
  const since = invoices.indexOf(change);
  return periods.some(({ invoice }) => invoice.kind === 'renewal' && invoices.indexOf(invoice) > since);
}

function changes(service: Service, invoice: Invoice, today: string): void {
  if (invoice.change?.anew) {
    beginsAnew(service, invoice, invoice.change, invoice.change.anew);
    return;
  }
  const to = dueDateOf(service) ?? today;
  service.changes.push({ invoice, from: today, to: to < today ? today : to });
  if (invoice.change) becomes(service, invoice, invoice.change);
}

/** A service is another product, in a period of another length, which what was left of the others has paid a part of. */
function beginsAnew(
  service: Service,
  invoice: Invoice,
  { product, priceMinor }: Became['is'],
  { from, to }: { from: string; to: string },
): void {
  const { periods, changes: upgrades, anchor } = service;
  becomes(service, invoice, { product, priceMinor });
  Object.assign(service.became.at(-1) ?? {}, { before: { periods, changes: upgrades, anchor } });
  Object.assign(service, {
    periods: [{ invoice, from, to }],
    changes: [],
    carried: [...periods, ...upgrades].map((period) => ({ ...period, ...carriedInto(period, { from, to }) })),
    anchor: Number(from.slice(8)),
  });
}

/** Whether its periods began anew with a change of their length. */
export function isAnew({ became }: Service): boolean {
  return became.some(({ before }) => before !== undefined);
}

/** A service is the other product. */
export function becomes(service: Service, invoice: Invoice | null, is: Became['is']): void {
  const { product, priceMinor } = service;
  service.became.push({ invoice, is, was: { product, priceMinor } });
  Object.assign(service, is, { isToShow: true });
}

/** The service is over, for good; what was open for it is not asked for any more. */
export function ends(customer: Customer, service: Service): void {
  service.status = 'terminated';
  service.isToShow = true;
  for (const invoice of customer.invoices) {
    if (invoice.status === 'unpaid' && invoice.kind !== 'order' && isFor(invoice, service))
      cancels(customer, invoice);
  }
}

export function dueOf({ status, totalMinor, paidMinor }: Invoice): number {
  return status === 'unpaid' ? totalMinor - paidMinor : 0;
}

function taxWithin({ taxMinor, totalMinor }: Invoice, refundedMinor: number): number {
  return totalMinor === 0 ? 0 : Math.floor((2 * taxMinor * refundedMinor + totalMinor) / (2 * totalMinor));
}
