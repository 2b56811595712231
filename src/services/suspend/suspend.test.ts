import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { watchChanges } from '../../../test/noted.ts';
import { orderVps, runningVps } from '../../../test/orders.ts';
import { newCustomer, newStaff, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { contents, settled, settledContents, sql } from '../../../test/sql.ts';
import { transaction } from '../../platform/index.ts';
import { suspendService, unsuspendService } from './suspend.ts';

const changes = watchChanges();

let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct();
  customer = await newCustomer(product, { creditMinor: 100_000 });
});
afterAll(() => product.stop());

const reason = 'It sends unsolicited mail';
const change = (id: number, command: string, body?: object) =>
  product.staff.post(`/staff/services/${id}/${command}`, body);
const service = async (id: number) => (await customer.get(`/dashboard/services/${id}`)).body.data.service;
const byCalendar = (id: number) =>
  transaction(product.ctx, 'test.suspend', (tx) => suspendService(tx, id, 'Not paid', 'calendar'));

async function mailsTo({ email }: Person): Promise<{ subject: string; body: string }[]> {
  return (await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(email)}`)).body.data.mails;
}

/** Refused in words, and nothing is written. */
async function refused(id: number, command: string, body: object | undefined, words: RegExp): Promise<void> {
  const before = await settledContents(product);
  const answer = await change(id, command, body);
  expect([answer.status, answer.body.code]).toEqual([409, 'conflict']);
  expect(answer.body.message).toMatch(words);
  expect(await contents(product)).toEqual(before);
}

async function activeHosting(): Promise<number> {
  const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  const { data } = (await customer.post('/cart/checkout/invoice', { products: [item] })).body;
  await payByCredit(customer, data.invoice_id);
  await settled(product);
  expect((await change(data.service_ids[0], 'deliver')).status).toBe(200);
  return data.service_ids[0];
}

async function concernsAbout(id: number): Promise<string[]> {
  const { concerns } = (await product.staff.get('/staff/attention')).body.data;
  return concerns
    .filter(
      (each: { kind: string; subject: { id: number } }) =>
        each.kind === 'service.byHand' && each.subject.id === id,
    )
    .map(({ message }: { message: string }) => message);
}

it('staff suspends a service and takes it back, and its customer is told why', async () => {
  const { serviceId: id } = await runningVps(product, customer);
  const answer = await change(id, 'suspend', { reason });
  expect(answer.status).toBe(200);
  expect(answer.body.data.service).toEqual(await service(id));
  expect(await service(id)).toMatchObject({
    status: 'suspended',
    suspend_reason: reason,
    suspended_at: expect.stringContaining(product.clock.now().toISOString().slice(0, 10)),
  });
  await refused(id, 'suspend', { reason }, /is suspended. Suspending it is possible when it is active/);

  expect((await change(id, 'unsuspend')).status).toBe(200);
  expect(await service(id)).toMatchObject({ status: 'active', suspend_reason: null, suspended_at: null });
  await refused(
    id,
    'unsuspend',
    undefined,
    /is active. Taking its suspension back is possible when it is suspended/,
  );

  const about = (await mailsTo(customer)).filter(({ subject }) => subject.includes('suspended'));
  expect(about.map(({ subject }) => subject).toSorted()).toEqual([
    'web1.example.com is no longer suspended',
    'web1.example.com is suspended',
  ]);
  expect(about.find(({ subject }) => subject.endsWith('is suspended'))?.body).toContain(reason);
  const rows = await sql<{ action: string; actor: string; organization: number }>(
    product,
    `select action, actor_type as actor, organization_id as organization from journal
     where subject_id = $1 and action like 'service.%suspended' order by id`,
    id,
  );
  const organization = customer.organizationId;
  expect(rows).toEqual([
    { action: 'service.suspended', actor: 'staff', organization },
    { action: 'service.unsuspended', actor: 'staff', organization },
  ]);
});

it('what is pending or has ended is neither suspended nor terminated', async () => {
  const { serviceId: pending } = await orderVps(product, customer);
  for (const command of ['suspend', 'terminate']) {
    await refused(pending, command, { reason }, /The service is pending/);
  }
  const { serviceId: ended } = await runningVps(product, customer);
  expect((await change(ended, 'terminate', { reason })).body.data.service.status).toBe('terminated');
  for (const command of ['suspend', 'terminate']) {
    await refused(ended, command, { reason }, /The service is terminated/);
  }
  await refused(ended, 'unsuspend', undefined, /The service is terminated/);
  expect((await change(4242, 'suspend', { reason })).status).toBe(404);
});

it('a reason is needed, and one that fits', async () => {
  const { serviceId: id } = await runningVps(product, customer);
  for (const command of ['suspend', 'terminate'])
    for (const body of [undefined, {}, { reason: '' }, { reason: 'x'.repeat(201) }, { reason, until: 1 }])
      expect((await change(id, command, body)).status).toBe(400);
  expect((await service(id)).status).toBe('active');
});

it('two of the staff at the same moment suspend it once', async () => {
  const { serviceId: id } = await runningVps(product, customer);
  const answers = await Promise.all(['a', 'b', 'c'].map((why) => change(id, 'suspend', { reason: why })));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  const told = `select 1 from journal where action = 'service.suspended' and subject_id = $1`;
  expect(await sql(product, told, id)).toHaveLength(1);
});

it('what the calendar suspended staff can suspend as well, and then only staff takes it back', async () => {
  const { serviceId: id } = await runningVps(product, customer);
  await byCalendar(id);
  expect(await service(id)).toMatchObject({ status: 'suspended', suspend_reason: 'Not paid' });
  expect((await change(id, 'suspend', { reason })).status).toBe(200);
  expect(await service(id)).toMatchObject({ status: 'suspended', suspend_reason: reason });
  const [row] = await sql<{ by: string }>(
    product,
    'select suspended_by as by from services where id = $1',
    id,
  );
  expect(row?.by).toBe('staff');
  await expect(byCalendar(id)).rejects.toMatchObject({ code: 'conflict' });
  await transaction(product.ctx, 'test.unsuspend', (tx) => unsuspendService(tx, id));
  expect((await service(id)).status).toBe('active');
});

it('support and billing may look, and change no state', async () => {
  const { serviceId: id } = await runningVps(product, customer);
  for (const role of ['support', 'billing'] as const) {
    const person = await newStaff(product, role);
    const answer = await person.post(`/staff/services/${id}/suspend`, { reason });
    expect([answer.status, answer.body.code]).toEqual([403, 'permission_denied']);
  }
});

it('what no room looks after is a matter for staff, until staff says that it is done', async () => {
  const id = await activeHosting();
  await change(id, 'suspend', { reason });
  expect(await concernsAbout(id)).toEqual([
    'Web hosting is suspended and waits for you to suspend it by hand',
  ]);
  expect((await change(id, 'done', { task: 'terminate' })).body.code).toBe('conflict');
  expect((await change(id, 'done', { task: 'dance' })).status).toBe(400);
  // Nobody has touched it yet, so there is nothing to take back.
  await change(id, 'unsuspend');
  expect(await concernsAbout(id)).toEqual([]);

  await change(id, 'suspend', { reason });
  expect((await change(id, 'done', { task: 'suspend' })).status).toBe(200);
  expect((await change(id, 'done', { task: 'suspend' })).body.code).toBe('conflict');
  expect(await concernsAbout(id)).toEqual([]);
  await change(id, 'unsuspend');
  expect(await concernsAbout(id)).toEqual([
    'Web hosting is active and waits for you to unsuspend it by hand',
  ]);
  await change(id, 'terminate', { reason });
  expect(await concernsAbout(id)).toEqual([
    'Web hosting is terminated and waits for you to terminate it by hand',
  ]);
  expect((await change(id, 'done', { task: 'terminate' })).status).toBe(200);
  expect(await concernsAbout(id)).toEqual([]);
});

it('a service that ended gives back its place in the stock, once', async () => {
  const stock = async () =>
    (
      await sql<{ stock: number }>(
        product,
        'select stock from products where id = $1',
        product.demo.products.hosting,
      )
    )[0]?.stock;
  await sql(product, 'update products set stock = 5 where id = $1', product.demo.products.hosting);
  const id = await activeHosting();
  expect(await stock()).toBe(4);
  await change(id, 'suspend', { reason });
  expect(await stock()).toBe(4);
  await change(id, 'terminate', { reason });
  expect(await stock()).toBe(5);
  await change(id, 'terminate', { reason });
  expect(await stock()).toBe(5);
});

describe('a change', () => changes.leaveEntries(() => product, ['finishServiceByHand']));
