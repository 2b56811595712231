import { afterAll, beforeAll, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';
import { daysBetween } from '../../platform/index.ts';

/** Customers pay on pages while nobody here hears of it. */
let paid: PaidProduct;
let person: Person;
beforeAll(async () => {
  paid = await startPaidProduct();
  person = await newCustomer(paid.product, { creditMinor: 300 });
  paid.stripe.events.sendTo(null);
});
afterAll(() => paid.stop({ audited: true }));

const day = 86_400_000;
const invoiceOf = async (id: number) => (await person.get(`/dashboard/invoices/${id}`)).body.data.invoice;
async function pageOf(id: number): Promise<string> {
  return (await person.post(`/dashboard/invoices/${id}/pay`, { method: 'card' })).body.data.redirect_url;
}
const asFor = (id: number, wanted: string) =>
  until(
    () => invoiceOf(id),
    ({ status }) => status === wanted,
    30_000,
  );

it('an order that was paid during a standstill is delivered, also while the provider is away at first', async () => {
  const id = await newInvoice(paid.product, person);
  await paid.click(await pageOf(id));
  await paid.product.clock.travel(5 * day);
  paid.stripe.fail(/checkout\/sessions/, 'gone', 3);
  await paid.product.periodic('billing.expire');
  await paid.product.periodic('billing.expire');
  expect((await asFor(id, 'paid')).payments).toMatchObject([{ method: 'stripe' }]);
  paid.stripe.heal();
  await settled(paid.product);
});

it('an order whose page nobody used expires once that is closed, and nobody pays on it any more', async () => {
  const id = await newInvoice(paid.product, person);
  const { location } = await paid.follow(await pageOf(id));
  await paid.product.clock.travel(5 * day);
  await paid.product.periodic('billing.expire');
  await settled(paid.product);
  await paid.product.periodic('billing.expire');
  expect((await invoiceOf(id)).status).toBe('cancelled');
  expect((await paid.stripe.click(location)).location).toBeNull();
});

it('an order whose page the provider does not know expires', async () => {
  const id = await newInvoice(paid.product, person);
  await paid.follow(await pageOf(id));
  await sql(
    paid.product,
    `update charges set page_reference = 'cs_test_of_another_account' where invoice_id = $1`,
    id,
  );
  await paid.product.clock.travel(5 * day);
  await paid.product.periodic('billing.expire');
  await settled(paid.product);
  await paid.product.periodic('billing.expire');
  expect((await invoiceOf(id)).status).toBe('cancelled');
});

it('a service whose renewal was paid during a standstill is not ended, and runs again', async () => {
  const item = { id: paid.product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  const { data } = (await person.post('/cart/checkout/invoice', { products: [item] })).body;
  await payByCredit(person, data.invoice_id);
  await settled(paid.product);
  const [id] = data.service_ids;
  await paid.product.staff.post(`/staff/services/${id}/deliver`, {});
  const service = async () => (await person.get(`/dashboard/services/${id}`)).body.data.service;
  const pass = async (days: number) => {
    for (let nth = 0; nth < days; nth += 1) {
      await paid.product.clock.travel(day);
      await paid.product.periodic('services.calendar');
      await settled(paid.product);
    }
  };
  const today = paid.product.clock.now().toISOString().slice(0, 10);
  await pass(daysBetween(today, (await service()).duedate));
  while ((await service()).status !== 'suspended') await pass(1);
  const [row] = await sql<{ invoice_id: number }>(
    paid.product,
    'select invoice_id from service_calendar where service_id = $1',
    id,
  );
  await paid.click(await pageOf(Number(row?.invoice_id)));

  // Days later, when it was to end.
  await paid.product.clock.travel(60 * day);
  paid.stripe.fail(/checkout\/sessions/, 'gone', 3);
  await paid.product.periodic('services.calendar');
  expect((await until(service, ({ status }) => status !== 'suspended', 30_000)).status).toBe('active');
  paid.stripe.heal();
  await settled(paid.product);
}, 60_000);
