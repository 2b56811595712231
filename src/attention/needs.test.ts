import { afterAll, beforeAll, expect, it } from 'vitest';
import { orderVps, runningVps } from '../../test/orders.ts';
import { newCustomer, newMember } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { sql } from '../../test/sql.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

type Client = Pick<TestProduct['customer'], 'get'>;
const needs = async (who: Client) => {
  const { status, body } = await who.get('/dashboard/attention');
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.needs as {
    kind: string;
    id: string;
    title: string;
    detail: string | null;
    on: string | null;
  }[];
};
const kinds = async (who: Client) => (await needs(who)).map(({ kind, id }) => `${kind} ${id}`).sort();

it('tells a customer what waits for them, and nobody what is not theirs to read', async () => {
  const customer = await newCustomer(product, { creditMinor: 100_000 });
  expect(await needs(customer)).toEqual([]);
  const { serviceId } = await runningVps(product, customer, { domain: 'held.example.com' });
  const order = await orderVps(product, customer);
  const draft = { department: 'support', priority: 'low', subject: 'Zeppelin', message: 'It does not fly' };
  const { tid } = (await customer.post('/dashboard/tickets/create', draft)).body.data.ticket;
  await product.staff.post(`/staff/tickets/${tid}/replies`, { message: 'It does now' });
  const suspended = await product.staff.post(`/staff/services/${serviceId}/suspend`, { reason: 'Unpaid' });
  expect(suspended.status, JSON.stringify(suspended.body)).toBe(200);
  const mine = [
    `invoice.unpaid ${order.invoiceId}`,
    `service.suspended ${serviceId}`,
    `ticket.answered ${tid}`,
  ];
  expect(await kinds(customer)).toEqual(mine);
  const held = (await needs(customer)).find(({ kind }) => kind === 'service.suspended');
  expect(held).toMatchObject({ title: 'held.example.com', detail: 'Unpaid' });
  const { invoice } = (await customer.get(`/dashboard/invoices/${order.invoiceId}`)).body.data;
  expect((await needs(customer)).find(({ kind }) => kind === 'invoice.unpaid')).toMatchObject({
    ...{ detail: `${invoice.amount_due} ${invoice.currency}`, on: invoice.duedate },
  });
  const technical = await newMember(product, customer.organizationId, 'technical');
  expect((await kinds(technical)).filter((each) => each.startsWith('invoice'))).toEqual([]);
  expect(await kinds(technical)).toContain(`service.suspended ${serviceId}`);
  expect(await kinds(await newCustomer(product))).toEqual([]);
});

it('tells of a delivery that failed, until it is done', async () => {
  const customer = await newCustomer(product, { creditMinor: 100_000 });
  const { serviceId } = await orderVps(product, customer, { domain: 'broken.example.com' });
  const set = `update services set provisioning_state = $2 where id = $1`;
  const [before] = await sql<{ state: string }>(
    product,
    'select provisioning_state as state from services where id = $1',
    serviceId,
  );
  await sql(product, set, serviceId, 'failed');
  expect(await kinds(customer)).toContain(`service.failed ${serviceId}`);
  await sql(product, set, serviceId, before?.state);
  expect(await kinds(customer)).not.toContain(`service.failed ${serviceId}`);
});

it('tells of saved methods that are over or end by the next month, and of no others', async () => {
  const customer = await newCustomer(product);
  const now = product.clock.now();
  const month = (later: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + later, 1));
  for (const later of [-1, 0, 1, 2])
    await sql(
      product,
      `insert into payment_methods (id, organization_id, driver, reference, type, brand, last4, expires_month, expires_year,
         is_default, created_at)
       values ($1, $2, 'stripe', $3, 'card', 'visa', '4242', $4, $5, false, now())`,
      ...[
        900_000 + later + customer.organizationId,
        customer.organizationId,
        `pm_${customer.organizationId}_${later}`,
      ],
      ...[month(later).getUTCMonth() + 1, month(later).getUTCFullYear()],
    );
  const found = await needs(customer);
  expect(found.map(({ kind }) => kind)).toEqual([
    'payment_method.expired',
    'payment_method.expiring',
    'payment_method.expiring',
  ]);
  expect(found[0]).toMatchObject({ title: 'visa •••• 4242' });
  expect(found[1]?.on?.slice(0, 7)).toBe(now.toISOString().slice(0, 7));
});
