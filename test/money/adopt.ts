import { expect } from 'vitest';
import { sql } from '../sql.ts';
import {
  type Customer,
  cancels,
  dueDateOf,
  dueOf,
  ends,
  type Invoice,
  type Service,
  spendableOf,
} from './books.ts';
import { addDays, percentOf } from './rules.ts';
import type { Shop } from './shop.ts';

interface Row {
  id: number;
  kind: Invoice['kind'];
  status: string;
  total_minor: number;
  service_id: number | null;
}

const invoicesOf = `
  select i.id, i.kind, i.status, i.total_minor,
    (select min(l.service_id) from invoice_items l where l.invoice_id = i.id) as service_id
  from invoices i where i.organization_id = $1 and i.kind <> 'credit_note' order by i.position`;

/**
 * What the calendar did by itself: on which day has tests of its own, but what it asks for and takes is what the books
 * say. So are expired invoices.
 */
export async function adopt(shop: Shop, customer: Customer): Promise<void> {
  const rows = await sql<Row>(shop.product, invoicesOf, customer.person.organizationId);
  const knownAs = (id: number) => customer.invoices.find((each) => each.id === id);
  const isChanged = ({ id, status }: Row) =>
    status !== 'unpaid' && (knownAs(id)?.status ?? 'unpaid') === 'unpaid';
  const isOne = rows.filter(isChanged).length === 1;
  const adoptChange = async ({ id, status }: Row) => {
    const known = knownAs(id);
    if (known?.status !== 'unpaid' || status === 'unpaid') return;
    if (status === 'cancelled') cancels(customer, known);
    if (status === 'paid') await adoptCharge(shop, customer, known, isOne);
  };
  for (const row of rows) {
    if (knownAs(row.id) !== undefined) continue;
    // While the calendar still ran, the renewal before was paid, and this is the next one.
    const service = customer.services.find(({ id }) => id === row.service_id);
    const before = service && row.kind === 'renewal' ? customer.openOf(service, 'renewal') : undefined;
    const ended = rows.find(({ id }) => id === before?.id);
    if (ended) await adoptChange(ended);
    adoptInvoice(shop, customer, row);
  }
  for (const row of rows) await adoptChange(row);
  const services = await sql<{ id: number; status: Service['status'] }>(
    shop.product,
    'select id, status from services where organization_id = $1',
    customer.person.organizationId,
  );
  for (const { id, status } of services) {
    const service = customer.services.find((each) => each.id === id);
    if (service === undefined) throw new Error(`seed ${shop.seed}: nobody ordered service ${id}`);
    if (status === service.status) continue;
    expect(`${service.status} → ${status}`, `seed ${shop.seed}, service ${id}`).toMatch(
      /^(active → suspended|(active|suspended) → terminated)$/,
    );
    if (status === 'terminated') {
      // Nobody's service ends whose time is paid.
      expect((dueDateOf(service) ?? '') <= shop.today, `seed ${shop.seed}, service ${id}`).toBe(true);
      ends(customer, service);
    } else service.status = status;
  }
}

function adoptInvoice(shop: Shop, customer: Customer, row: Row): Invoice {
  const service = customer.services.find(({ id }) => id === row.service_id);
  const why = `seed ${shop.seed}, ${shop.today}: ${JSON.stringify(row)} for ${describe(service)}`;
  if (service === undefined) throw new Error(`${why} is for no service`);
  expect(['renewal', 'late_fee'], why).toContain(row.kind);
  const open = customer.openOf(service, 'renewal');
  if (row.kind === 'renewal') expect(open, `${why} beside another one`).toBeUndefined();
  const netMinor =
    row.kind === 'renewal'
      ? renewalOf(service)
      : percentOf(open ? dueOf(open) : 0, shop.lateFee.percent) + shop.lateFee.minor;
  const invoice = customer.owes(row.id, row.kind, [{ service, netMinor }]);
  expect(row.total_minor, why).toBe(invoice.totalMinor);
  return invoice;
}

/** A service as the model has it, for whoever looks for the reason of a difference. */
function describe(service: Service | undefined): string {
  if (service === undefined) return 'nobody';
  const { periods, changes, became: _, ...facts } = service;
  const times = [...periods, ...changes].map(({ from, to, invoice: { kind, id } }) => ({
    from,
    to,
    kind,
    id,
  }));
  return JSON.stringify({ ...facts, times });
}

/** What a service costs for one more period, before tax. */
export function renewalOf({ priceMinor, couponPercent }: Service): number {
  return priceMinor - percentOf(priceMinor, couponPercent);
}

/** So much is left to the saved method at least, where credit is not enough: what Stripe takes of euros. */
const leastByMethod = 50;

/**
 * The calendar took what was due from credit, as far as that reached, and the rest of a saved method. Of several on one day
 * it is any of them that credit pays first; that of `one` alone is known.
 */
async function adoptCharge(shop: Shop, customer: Customer, invoice: Invoice, isOne: boolean): Promise<void> {
  const [charge, ...more] = await sql<{ id: number; reference: string; amount_minor: number }>(
    shop.product,
    `select id, reference, amount_minor from charges where invoice_id = $1 and state = 'paid'`,
    invoice.id,
  );
  const [credit] = await sql<{ minor: number }>(
    shop.product,
    `select coalesce(sum(amount_minor), 0)::bigint as minor from payments where invoice_id = $1 and method = 'credit'`,
    invoice.id,
  );
  const why = `seed ${shop.seed}, invoice ${invoice.id}`;
  const [dueMinor, spendableMinor] = [dueOf(invoice), spendableOf(customer)];
  const [creditMinor, minor] = [Number(credit?.minor), charge?.amount_minor ?? 0];
  expect([creditMinor + minor, more], why).toEqual([dueMinor, []]);
  const isEnough = spendableMinor >= dueMinor;
  const mostMinor = isEnough ? dueMinor : Math.max(0, Math.min(spendableMinor, dueMinor - leastByMethod));
  if (isOne) expect(creditMinor, why).toBe(mostMinor);
  customer.creditMinor -= creditMinor;
  if (charge !== undefined) {
    const { id, reference } = charge;
    customer.charges.push({
      ...{ id, reference, invoice, minor, creditedMinor: 0, returnedMinor: 0, dispute: null },
    });
    shop.books.takes(minor);
  }
  shop.books.pays(customer, invoice, dueMinor, shop.today);
}

const invoicedDaysAhead = 14;

/**
 * After a renewal that was paid late the next one may be asked for at once. The calendar is run for it, so that it does not
 * come between two later steps.
 */
export async function catchUp(shop: Shop, customer: Customer): Promise<void> {
  for (const service of toInvoice(shop, customer)) {
    await shop.product.periodic('services.calendar');
    await shop.becomes(
      (rows) => rows.length === 1,
      `select 1 from service_renewals r join invoices i on i.id = r.invoice_id and i.status = 'unpaid'
       where r.service_id = $1 and r.state = 'waiting'`,
      service.id,
    );
    await adopt(shop, customer);
  }
}

/** Services that the calendar has to ask a renewal for at once, because of one that was paid or given back; each is named once. */
export function toInvoice(shop: Shop, customer: Customer): Service[] {
  return customer.services.filter((service) => {
    const { isRenewed } = service;
    service.isRenewed = false;
    return isRenewed && isToInvoice(shop, customer, service);
  });
}

function isToInvoice(shop: Shop, customer: Customer, service: Service): boolean {
  const due = dueDateOf(service) ?? '';
  if (service.status !== 'active' && service.status !== 'suspended') return false;
  if (service.isEnding || customer.openOf(service, 'renewal') || customer.openOf(service, 'upgrade'))
    return false;
  return addDays(shop.today, invoicedDaysAhead) >= due;
}
