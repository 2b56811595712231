import { afterAll, beforeAll, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';
import { daysBetween } from '../../platform/index.ts';

let paid: PaidProduct;
let customer: Person;
beforeAll(async () => {
  paid = await startPaidProduct();
  customer = await newCustomer(paid.product, { creditMinor: 1_000 });
});
afterAll(() => paid.stop());

const service = async (id: number) => (await customer.get(`/dashboard/services/${id}`)).body.data.service;
const today = () => paid.product.clock.now().toISOString().slice(0, 10);

async function newService(): Promise<number> {
  const item = { id: paid.product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  const { data } = (await customer.post('/cart/checkout/invoice', { products: [item] })).body;
  await payByCredit(customer, data.invoice_id);
  await settled(paid.product);
  await paid.product.staff.post(`/staff/services/${data.service_ids[0]}/deliver`, {});
  return data.service_ids[0];
}

async function pass(days: number): Promise<void> {
  for (let day = 0; day < days; day += 1) {
    paid.product.clock.travel(86_400_000);
    await paid.product.periodic('services.calendar');
    await settled(paid.product);
  }
}

it('while money is on its way nothing is taken away for want of it, and then it is', async () => {
  const id = await newService();
  const { duedate } = await service(id);
  await pass(daysBetween(today(), duedate) + 10);
  await sql(
    paid.product,
    `insert into charges (id, organization_id, invoice_id, driver, means, amount_minor, currency, uses_credit, state,
       reference, created_at)
     select 1, organization_id, invoice_id, 'stripe', 'page', 300, 'EUR', false, 'pending', 'pi_away', now()
     from service_calendar where service_id = $1`,
    id,
  );
  await pass(10);
  expect((await service(id)).status).toBe('active');
  await sql(paid.product, `update charges set state = 'failed' where id = 1`);
  await pass(1);
  expect((await service(id)).status).toBe('suspended');
});

it('a saved method is charged on the day, once, and the service goes on', async () => {
  const id = await newService();
  await paid.saveMethod(customer);
  const { duedate } = await service(id);
  await pass(daysBetween(today(), duedate) - 1);
  expect((await service(id)).duedate).toBe(duedate);
  await pass(1);
  expect(await service(id)).toMatchObject({ status: 'active', auto_renew: true });
  expect((await service(id)).duedate > duedate).toBe(true);
  const payments = await sql(
    paid.product,
    `select p.method, p.amount_minor from payments p join invoice_items l on l.invoice_id = p.invoice_id
     join invoices i on i.id = p.invoice_id where l.service_id = $1 and i.kind = 'renewal'`,
    id,
  );
  expect(payments).toEqual([{ method: 'stripe', amount_minor: 300 }]);
});
