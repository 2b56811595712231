import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { watchChanges } from '../../../test/noted.ts';
import { orderVps } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';

const changes = watchChanges();

let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct();
  customer = await newCustomer(product, { creditMinor: 100_000 });
  product.clock.set(new Date('2027-04-01T09:30:00Z'));
});
afterAll(() => product.stop());

const deliver = (id: number) => product.staff.post(`/staff/services/${id}/deliver`, {});
const service = async (id: number) => (await customer.get(`/dashboard/services/${id}`)).body.data.service;

async function orderHosting(): Promise<{ invoiceId: number; serviceId: number }> {
  const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  const { data } = (await customer.post('/cart/checkout/invoice', { products: [item] })).body;
  return { invoiceId: data.invoice_id, serviceId: data.service_ids[0] };
}

async function paidHosting() {
  const order = await orderHosting();
  await payByCredit(customer, order.invoiceId);
  await settled(product);
  return order;
}

/** Refused in words, and nothing is written. */
async function refused(id: number, words: RegExp): Promise<void> {
  await settled(product);
  const before = await contents(product);
  const answer = await deliver(id);
  expect([answer.status, answer.body.code]).toEqual([409, 'conflict']);
  expect(answer.body.message).toMatch(words);
  expect(await contents(product)).toEqual(before);
}

it('what staff delivers by hand is active from the day on which staff says so, and its customer is told', async () => {
  const { serviceId } = await paidHosting();
  expect(await service(serviceId)).toMatchObject({ status: 'pending', duedate: null });
  const told = `select action from journal where subject_type = 'service' and subject_id = $1 order by id`;
  expect(await sql(product, told, serviceId)).toEqual([{ action: 'service.staff_delivery_wanted' }]);

  const answer = await deliver(serviceId);
  expect(answer.status).toBe(200);
  expect(answer.body.data.service).toEqual(await service(serviceId));
  expect(await service(serviceId)).toMatchObject({
    type: 'hosting',
    status: 'active',
    provisioning_state: 'done',
    duedate: '2027-05-01',
  });
  await settled(product);
  const { mails } = (await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(customer.email)}`))
    .body.data;
  const ready = mails.filter((mail: { subject: string }) => mail.subject === 'Web hosting is ready');
  expect(ready).toHaveLength(1);
  expect(ready[0].body).not.toContain('ssh');
  expect(ready[0].body).not.toContain('null');
});

it('is delivered once, also by two of the staff at the same time', async () => {
  const { serviceId } = await paidHosting();
  const answers = await Promise.all([deliver(serviceId), deliver(serviceId), deliver(serviceId)]);
  expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409, 409]);
  const told = `select 1 from journal where action = 'service.provisioned' and subject_id = $1`;
  expect(await sql(product, told, serviceId)).toHaveLength(1);
  await refused(serviceId, /is active/);
});

it('is not delivered before it is paid, nor once its money was given back', async () => {
  const { serviceId: unpaid, invoiceId } = await orderHosting();
  await refused(unpaid, new RegExp(`Invoice ${invoiceId} is not paid`));

  const paid = await paidHosting();
  const body = { method: 'credit', reason: 'no longer wanted' };
  await product.staff.post(`/staff/invoices/${paid.invoiceId}/refund`, body);
  expect((await deliver(paid.serviceId)).status).toBe(409);
  await settled(product);
  expect(await service(paid.serviceId)).toMatchObject({ status: 'cancelled' });
  await refused(paid.serviceId, /is cancelled/);
});

it('what a room delivers is not delivered by hand, and what there is not is not found', async () => {
  const { serviceId } = await orderVps(product, customer);
  await refused(serviceId, /not delivered by hand/);
  expect((await deliver(4_242)).status).toBe(404);
  expect((await customer.post(`/staff/services/${serviceId}/deliver`, {})).status).toBe(403);
});

describe('a change', () => changes.leaveEntries(() => product, ['deliverServiceByHand']));
