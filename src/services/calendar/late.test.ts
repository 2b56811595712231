/** What follows from a payment comes late: days after it, or after the money was given back. */

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { daysBetween } from '../../platform/index.ts';

let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct();
});
beforeEach(async () => {
  customer = await newCustomer(product, { creditMinor: 1_000_000 });
});
afterAll(() => product.stop());

const today = () => product.clock.now().toISOString().slice(0, 10);
const service = async (id: number) => (await customer.get(`/dashboard/services/${id}`)).body.data.service;

/** A service, days after it was due. */
async function unpaidSince(days: number): Promise<number> {
  const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  const { data } = (await customer.post('/cart/checkout/invoice', { products: [item] })).body;
  await payByCredit(customer, data.invoice_id);
  await settled(product);
  const [id] = data.service_ids;
  await product.staff.post(`/staff/services/${id}/deliver`, {});
  await pass(daysBetween(today(), (await service(id)).duedate) + days);
  return id;
}

async function pass(days: number): Promise<void> {
  for (let day = 0; day < days; day += 1) {
    product.clock.travel(86_400_000);
    await product.periodic('services.calendar');
    await settled(product);
  }
}

async function openInvoice(id: number): Promise<number> {
  const [row] = await sql<{ id: number }>(
    product,
    `select i.id from invoices i join invoice_items l on l.invoice_id = i.id
     where l.service_id = $1 and i.kind = 'renewal' and i.status = 'unpaid'`,
    id,
  );
  return row?.id ?? 0;
}

it('a reminder’s end that comes when the next period is due leaves the calendar at work for that', async () => {
  const id = await unpaidSince(20);
  expect((await service(id)).status).toBe('suspended');
  const invoiceId = await openInvoice(id);
  await payByCredit(customer, invoiceId);
  await settled(product);
  await pass(1);
  expect(await openInvoice(id)).not.toBe(0);
  const again = () =>
    sql(
      product,
      `insert into jobs (name, organization_id, payload, run_at, created_at)
       select name, organization_id, payload, run_at, created_at from jobs
       where name = 'services.endDunning' and payload->'subject'->>'id' = $1 limit 1 returning id`,
      String(invoiceId),
    );
  expect(await again()).toHaveLength(1);
  await settled(product);
  await pass(daysBetween(today(), (await service(id)).duedate) + 15);
  expect((await service(id)).status).toBe('suspended');
  await again();
  await settled(product);
  expect((await service(id)).status).toBe('suspended');
});

it('a renewal whose money was given back before it counted is asked for anew', async () => {
  const id = await unpaidSince(2);
  const { duedate } = await service(id);
  const invoiceId = await openInvoice(id);
  // As it is between the payment and the job that it enqueued.
  const become = (state: string) =>
    sql(product, 'update service_renewals set state = $2 where invoice_id = $1', invoiceId, state);
  await become('ended');
  expect((await payByCredit(customer, invoiceId)).status).toBe(200);
  await settled(product);
  await become('waiting');
  const body = { method: 'credit', reason: 'paid by mistake' };
  expect((await product.staff.post(`/staff/invoices/${invoiceId}/refund`, body)).status).toBe(200);
  await sql(
    product,
    `insert into jobs (name, organization_id, payload, run_at, created_at)
     select name, organization_id, payload, run_at, created_at from jobs
     where name = 'services.applyRenewal' and payload->'subject'->'id' = to_jsonb($1::bigint) limit 1`,
    invoiceId,
  );
  await settled(product);
  expect((await service(id)).duedate).toBe(duedate);
  await pass(2);
  expect(await openInvoice(id)).not.toBe(0);
  await pass(40);
  expect((await service(id)).status).toBe('suspended');
});

it('a renewal whose money was given back after it counted is asked for anew, with every warning', async () => {
  const id = await unpaidSince(2);
  const { duedate } = await service(id);
  const invoiceId = await openInvoice(id);
  await payByCredit(customer, invoiceId);
  await settled(product);
  expect((await service(id)).duedate > duedate).toBe(true);
  await pass(1);
  const body = { method: 'credit', reason: 'asked for' };
  expect((await product.staff.post(`/staff/invoices/${invoiceId}/refund`, body)).status).toBe(200);
  await settled(product);
  expect((await service(id)).duedate).toBe(duedate);
  await pass(60);
  expect((await service(id)).status).toBe('terminated');
  const done = await sql<{ step: string }>(
    product,
    `select step from service_calendar_steps where service_id = $1 and due_on = $2::date and round = 2 order by done_at, step`,
    id,
    duedate,
  );
  const steps = ['invoice', 'reminder', 'charge', 'overdue', 'last_reminder', 'suspend', 'terminate'];
  expect(
    done
      .map(({ step }) => step)
      .filter((step) => steps.includes(step))
      .toSorted(),
  ).toEqual(steps.toSorted());
});
