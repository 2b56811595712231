import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apiClient } from '../../test/client.ts';
import { newInvoice, payByCredit } from '../../test/invoices.ts';
import { orderVps } from '../../test/orders.ts';
import { newCustomer, newStaff } from '../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../test/product.ts';
import { headersOf, type MailServer, mailServer } from '../../test/smtp.ts';
import { settled, sql } from '../../test/sql.ts';
import { createApiKey } from '../account/index.ts';
import { transaction } from '../platform/index.ts';

let server: MailServer;
let product: TestProduct;
beforeAll(async () => {
  server = await mailServer();
  product = await startTestProduct({ env: { SMTP_URL: server.url, STAFF_EMAIL: 'noc@inn.example' } });
});
beforeEach(() => {
  server.refuseWith(null);
});
afterAll(async () => {
  await product.stop();
  await server.close();
});

interface Seen {
  kind: string;
  subject: { type: string; id: number };
  message: string;
}

async function concerns(kind: string): Promise<Seen[]> {
  const { body } = await product.staff.get('/staff/attention');
  return (body.data.concerns as Seen[]).filter((concern) => concern.kind === kind);
}

/** Subjects of the mails that staff got of this kind, after what is due was told. */
async function told(title: string): Promise<string[]> {
  await product.periodic('attention.tell');
  await settled(product);
  return server.mails
    .filter((mail) => mail.to?.includes('noc@inn.example'))
    .map((mail) => headersOf(mail.text).subject ?? '')
    .filter((subject) => subject.startsWith(title));
}

/** Orders a machine of a system that cannot be made, and pays. */
async function failingDelivery(): Promise<number> {
  const person = await newCustomer(product, { creditMinor: 10_000 });
  const { serviceId, invoiceId } = await orderVps(product, person);
  await sql(
    product,
    `update images set source = '{"slug":"tiny","kind":"build","recipe":"none"}' where slug = 'tiny'`,
  );
  await payByCredit(person, invoiceId);
  await until(
    () => person.get(`/dashboard/services/${serviceId}`),
    ({ body }) => body.data.service.provisioning_state === 'failed',
    60_000,
  );
  return serviceId;
}

describe('staff is told', () => {
  it('of nothing while nothing is wrong', async () => {
    expect((await product.staff.get('/staff/attention')).body.data.concerns).toEqual([]);
    expect(await told('')).toEqual([]);
  });

  it('how the product itself does, and what of nodes and pools runs low, in the same answer', async () => {
    const of = async (who: { get: TestProduct['staff']['get'] }) =>
      (await who.get('/staff/attention')).body.data.house;
    const house = async () => {
      product.clock.travel(15_000);
      return of(product.staff);
    };
    const first = await house();
    expect(first).toMatchObject({ workers: 1, mails: { failed: 0 }, low: [] });
    expect(first.queue_s).toBeLessThan(60);
    const taken = (share: number) =>
      sql(product, 'update nodes set memory_mib_taken = (memory_mib_promised * $1::float8)::int', share);
    await sql(
      product,
      `insert into mails (id, journal_id, template, recipient, subject, body, state, created_at)
       select 77, min(id), 'test', 'a@example.com', 'Hi', 'Hi', 'failed', now() from journal`,
    );
    await taken(0.92);
    // Whoever asks again at once is told the same, and nothing is counted for them.
    expect((await of(product.staff)).mails.failed).toBe(0);
    const { low, mails } = await house();
    expect(mails.failed).toBe(1);
    expect(low).toEqual([expect.objectContaining({ kind: 'node', what: 'memory', taken_percent: 92 })]);
    // As at /staff/nodes: not for who looks after money or customers, and for no key that is kept to other things.
    for (const role of ['billing', 'support'] as const)
      expect(await of(await newStaff(product, role))).toMatchObject({ mails: { failed: 1 }, low: null });
    expect((await of(await newStaff(product, 'operator'))).low).toEqual(low);
    for (const [area, seen] of [
      ['billing', null],
      ['vps', low],
    ] as const) {
      const { userId } = await newStaff(product, 'operator');
      const terms = { billing: false, shield: false, vps: false, [area]: true };
      const { key } = await transaction(product.ctx, 'test.key', (tx) =>
        createApiKey(tx, userId, 'Kept', { terms }),
      );
      expect((await of(apiClient(`${product.url}/api`, { token: key }))).low).toEqual(seen);
    }
    await taken(0);
    const pool = `(select min(id) from address_pools where family = 4)`;
    await sql(product, `update addresses set state = 'reserved' where pool_id = ${pool} and state = 'free'`);
    expect((await house()).low).toEqual([
      expect.objectContaining({ kind: 'pool', what: 'addresses', taken_percent: 100, free: 0 }),
    ]);
    await sql(product, `update addresses set state = 'free' where pool_id = ${pool} and state = 'reserved'`);
    await sql(product, 'delete from mails where id = 77');
    expect((await house()).low).toEqual([]);
  });

  it('of a node that is silent, once, and again when it falls silent again', async () => {
    await sql(product, `update nodes set reachable = false`);
    expect(await concerns('node.silent')).toMatchObject([{ subject: { type: 'node' } }]);
    expect(await told('Nodes')).toEqual(['Nodes that are silent: 1']);
    product.clock.travel(3_600_000);
    expect(await told('Nodes')).toHaveLength(1);
    await sql(product, `update nodes set reachable = true`);
    expect(await told('Nodes')).toHaveLength(1);
    await sql(product, `update nodes set reachable = false`);
    expect(await told('Nodes')).toHaveLength(2);
    await sql(product, `update nodes set reachable = true, seen_at = now() + interval '1 day'`);
  });

  it('of a product that a person has to deliver, as soon as it is paid', async () => {
    const person = await newCustomer(product, { creditMinor: 300 });
    const id = await newInvoice(product, person);
    expect(await concerns('delivery.byHand')).toEqual([]);
    await payByCredit(person, id);
    await settled(product);
    expect(await concerns('delivery.byHand')).toMatchObject([
      { message: expect.stringContaining('is paid and waits') },
    ]);
    expect(await told('Paid services')).toEqual(['Paid services that staff delivers: 1']);
  });

  it('of mails that could not be sent, in one mail a quarter of an hour', async () => {
    server.refuseWith(550);
    await newInvoice(product, await newCustomer(product));
    await settled(product);
    server.refuseWith(null);
    expect(await concerns('mail.failed')).toHaveLength(1);
    expect(await told('Mails')).toEqual(['Mails that could not be sent: 1']);
    server.refuseWith(550);
    for (let more = 0; more < 3; more += 1) await newInvoice(product, await newCustomer(product));
    await settled(product);
    server.refuseWith(null);
    expect(await told('Mails')).toHaveLength(1);
    product.clock.travel(15 * 60_000);
    expect(await told('Mails')).toEqual([
      'Mails that could not be sent: 1',
      'Mails that could not be sent: 3',
    ]);
  });

  it('also when it was told last by a clock that was ahead', async () => {
    await sql(
      product,
      `update staff_mailings set told_at = $1::timestamptz + interval '1 year'`,
      product.clock.now(),
    );
    server.refuseWith(550);
    await newInvoice(product, await newCustomer(product));
    await settled(product);
    server.refuseWith(null);
    expect(await told('Mails')).toHaveLength(3);
  });

  it('of a machine that needs help', async () => {
    const person = await newCustomer(product, { creditMinor: 10_000 });
    const { serviceId, invoiceId } = await orderVps(product, person);
    await payByCredit(person, invoiceId);
    await settled(product);
    await product.hypervisor.destroy(`vps-${serviceId}`);
    await until(
      () => concerns('machine.error'),
      (seen) => seen.some(({ subject }) => subject.id === serviceId),
    );
    expect(await told('Machines')).toEqual(['Machines that need help: 1']);
  });

  // Whatever a customer reads that "our staff has been told", it comes with a job that failed.
  it('of a delivery that failed, with its job', { timeout: 120_000 }, async () => {
    const serviceId = await failingDelivery();
    expect(await concerns('delivery.failed')).toMatchObject([
      { subject: { type: 'service', id: serviceId } },
    ]);
    expect(await concerns('job.failed')).toContainEqual(
      expect.objectContaining({ message: expect.stringMatching(/^vps\.provision\//) }),
    );
    expect(await told('Services whose delivery failed')).toHaveLength(1);
    expect((await told('Jobs that failed')).length).toBeGreaterThan(0);
  });
});

it('without STAFF_EMAIL the accounts of administrators and operators are told', async () => {
  const bare = await startTestProduct({ env: { STAFF_EMAIL: '' } });
  await sql(bare, `update nodes set reachable = false`);
  await bare.periodic('attention.tell');
  await settled(bare);
  const rows = await sql<{ recipient: string }>(
    bare,
    `select recipient from mails where template = 'staff.told'`,
  );
  const staff = await sql<{ email: string }>(
    bare,
    `select email from users where staff_role in ('administrator', 'operator') order by id`,
  );
  expect(staff.length).toBeGreaterThan(0);
  expect(rows.map((row) => row.recipient)).toEqual(staff.map((row) => row.email));
  await bare.stop();
});
