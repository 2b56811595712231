import { afterAll, beforeAll, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { addMonths } from '../../catalog/index.ts';

/*
 * Days are UTC, and organizations have no time zone of their own: what is a day for somebody at UTC+14 or UTC−11 are the
 * first and the last moments of these.
 */
const firstMoments = [
  '2027-01-29T23:59:00.000Z',
  '2027-01-30T00:00:00.000Z',
  '2027-01-31T10:00:00.000Z',
  // Clocks change in Europe and America, forth and back.
  '2027-03-14T10:00:00.000Z',
  '2027-03-28T01:00:00.000Z',
  '2027-10-31T01:00:00.000Z',
  '2027-11-07T09:00:00.000Z',
  '2028-02-29T12:00:00.000Z',
];
const msPerDay = 86_400_000;

let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct();
  customer = await newCustomer(product, { creditMinor: 10_000_000 });
});
afterAll(() => product.stop());

async function newService(): Promise<number> {
  const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  const { data } = (await customer.post('/cart/checkout/invoice', { products: [item] })).body;
  await payByCredit(customer, data.invoice_id);
  await settled(product);
  await product.staff.post(`/staff/services/${data.service_ids[0]}/deliver`, {});
  return data.service_ids[0];
}

/** Goes on to a moment, some days at a time; the calendar's job runs twice, and whatever it invoices is paid. */
async function passTo(moment: number): Promise<void> {
  while (product.clock.now().getTime() < moment) {
    product.clock.set(new Date(Math.min(moment, product.clock.now().getTime() + 4 * msPerDay)));
    await product.periodic('services.calendar');
    await product.periodic('services.calendar');
    const open = await sql<{ id: number }>(product, `select id from invoices where status = 'unpaid'`);
    for (const { id } of open) expect((await payByCredit(customer, id)).status).toBe(200);
    if (open.length > 0) await settled(product);
  }
}

it('24 months from each kind of first day have one invoice a period', { timeout: 600_000 }, async () => {
  const services: { id: number; firstDay: string }[] = [];
  product.clock.set(new Date(firstMoments[0] ?? ''));
  for (const moment of firstMoments) {
    await passTo(Date.parse(moment));
    services.push({ id: await newService(), firstDay: moment.slice(0, 10) });
  }
  await passTo(Date.parse(addMonths('2028-02-29', 25)));
  for (const { id, firstDay } of services) {
    const periods = await sql<{ starts: string; ends: string; state: string }>(
      product,
      `select starts_on::text as starts, ends_on::text as ends, state from service_renewals where service_id = $1
       order by starts_on`,
      id,
    );
    expect(periods.length, firstDay).toBeGreaterThanOrEqual(24);
    for (const [nth, period] of periods.entries()) {
      const at = (months: number) => addMonths(firstDay, months);
      expect(period, firstDay).toEqual({ starts: at(nth + 1), ends: at(nth + 2), state: 'applied' });
    }
    const invoices = await sql(
      product,
      `select 1 from invoices i join invoice_items l on l.invoice_id = i.id
       where l.service_id = $1 and i.kind = 'renewal'`,
      id,
    );
    expect(invoices, firstDay).toHaveLength(periods.length);
    const { service } = (await customer.get(`/dashboard/services/${id}`)).body.data;
    expect(service).toMatchObject({ status: 'active', duedate: addMonths(firstDay, periods.length + 1) });
  }
});
