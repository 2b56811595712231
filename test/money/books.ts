import type { Person } from '../people.ts';
import { daysBetween, monthAfter, percentOf } from './rules.ts';

/** The same books as the product's, kept in memory by rules written down a second time. */

export type ProductName = 'small' | 'large';

export interface Period {
  invoice: Invoice;
  from: string;
  to: string;
  /** What went back of its price with days that are no part of it any more. */
  netReturnedMinor?: number;
}

/** What a change made of a service; its invoice, when there was something to pay. */
export interface Became {
  invoice: Invoice | null;
  is: { product: ProductName; priceMinor: number };
  was: { product: ProductName; priceMinor: number };
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
  /** A bank took money of it back, or it was never its customer's. */
  isTakenBack: boolean;
  status: 'unpaid' | 'paid' | 'cancelled';
  /** What an upgrade makes of its service. */
  change?: { product: ProductName; priceMinor: number };
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
  dispute: { reference: string; state: 'open' | 'won' | 'lost' } | null;
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
    const toCredit = { partsToCreditMinor: 0, refundsToCreditMinor: 0, isTakenBack: false };
    const invoice: Invoice = { id, kind, lines, ...sums, ...toCredit, status: 'unpaid' };
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
  const heldMinor = customer.charges
    .filter(({ dispute }) => dispute?.state === 'open')
    .reduce((sum, { invoice, minor, creditedMinor, returnedMinor }) => {
      const { status, kind, refundedMinor, totalMinor } = invoice;
      const isGone = status === 'cancelled' || (status === 'paid' && refundedMinor === totalMinor);
      const isCredit = isGone || (kind === 'top_up' && status !== 'unpaid');
      const partsMinor = status === 'unpaid' ? invoice.partsToCreditMinor : 0;
      const becameMinor = creditedMinor + partsMinor + invoice.refundsToCreditMinor;
      const leftMinor = minor - returnedMinor;
      return sum + Math.min(minor, isCredit ? leftMinor : Math.min(leftMinor, becameMinor));
    }, 0);
  return Math.max(0, customer.creditMinor - heldMinor);
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
    const taxMinor = isTopUp
      ? 0
      : taxWithin(invoice, invoice.refundedMinor + minor) - taxWithin(invoice, invoice.refundedMinor);
    invoice.refundedMinor += minor;
    this.tax -= taxMinor;
    if (!isTopUp) this.sold -= minor - taxMinor;
    if (invoice.refundedMinor < invoice.totalMinor) return;
    undelivered(invoice);
    for (const service of unpaidNow(invoice)) this.takesBack(customer, service, invoice);
  }

  /** What an invoice paid for is paid by nobody any more. */
  takesBack(customer: Customer, service: Service, invoice: Invoice): void {
    const became = service.became.at(-1);
    if (invoice.kind === 'upgrade') {
      if (became?.invoice !== invoice || isRenewedSince(customer, service, invoice)) return;
      if (service.product !== became.is.product || service.priceMinor !== became.is.priceMinor) return;
      closes(customer, service);
      service.became.pop();
      service.changes = service.changes.filter((change) => change.invoice !== invoice);
      Object.assign(service, became.was, { isToShow: true });
      return;
    }
    if (service.periods.every((period) => period.invoice !== invoice)) return;
    closes(customer, service);
    dropsPeriod(service, invoice);
    for (const change of [...service.changes]) this.cuts(customer, service, change);
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
    if (minor > 0) this.givesCredit(customer, invoice, minor);
  }

  /** The same, where the money becomes credit. */
  givesCredit(customer: Customer, invoice: Invoice, minor: number): void {
    this.givesBack(customer, invoice, minor);
    invoice.refundsToCreditMinor += minor;
    customer.creditMinor += minor;
  }

  /** A bank took money of a paid invoice back: it is not paid any more, and what is left of it becomes credit. */
  undoes(customer: Customer, invoice: Invoice): void {
    const leftMinor = invoice.totalMinor - invoice.refundedMinor;
    const isSale = ['order', 'renewal', 'upgrade'].includes(invoice.kind);
    if (isSale && leftMinor > 0) this.givesCredit(customer, invoice, leftMinor);
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

/** Services that run and that an invoice, given back whole, had paid for: what staff gives back of an order leaves its period. */
function unpaidNow({ kind, lines, isTakenBack }: Invoice): Service[] {
  if (kind === 'order' ? !isTakenBack : kind !== 'renewal' && kind !== 'upgrade') return [];
  return lines.flatMap(({ service }) =>
    service?.status === 'active' || service?.status === 'suspended' ? [service] : [],
  );
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
  const to = dueDateOf(service) ?? today;
  service.changes.push({ invoice, from: today, to: to < today ? today : to });
  if (invoice.change) becomes(service, invoice, invoice.change);
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
