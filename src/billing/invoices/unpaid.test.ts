import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { watchChanges } from '../../../test/noted.ts';
import { orderVps, runningVps, vpsCart } from '../../../test/orders.ts';
import { newCustomer, newMember, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';

const changes = watchChanges();

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct({
    env: {
      MAX_UNPAID_ORDERS: '5',
      MAX_UNPAID_ORDERS_NEW: '2',
      MAX_RESERVED_ADDRESSES: '12',
      MAX_RESERVED_ADDRESSES_NEW: '6',
    },
  });
});
afterAll(async () => {
  await settled(product);
  expect(await audit(product.databaseUrl)).toEqual([]);
  await product.stop();
});

/** Somebody who has paid an order, and has the rest of their credit. */
async function knownCustomer(creditMinor: number): Promise<Person> {
  const known = await newCustomer(product, { creditMinor: creditMinor + 300 });
  await payByCredit(known, await newInvoice(product, known));
  return known;
}

const order = (who: Person, cart: object) => who.post('/cart/checkout/invoice', cart);
const cancel = (who: Person, id: number) => who.post(`/dashboard/invoices/${id}/cancel`);

/** A cart of so many machines, with so many addresses each. */
function machines(count: number, addresses = 1) {
  const [machine] = vpsCart(product.demo, { option4: addresses }).products;
  return { products: Array(count).fill(machine) };
}

async function held() {
  const [row] = await sql<{ addresses: number; room: number }>(
    product,
    `select (select count(*)::int from addresses where state = 'taken') as addresses,
       (select sum(memory_mib_taken)::int from nodes) as room`,
  );
  return row;
}

async function refused(answer: Awaited<ReturnType<typeof order>>, words: RegExp) {
  expect([answer.status, answer.body.code]).toEqual([409, 'too_many']);
  expect(answer.body.message).toMatch(words);
}

describe('what is ordered and not paid', () => {
  it('is a few orders of a new customer, and more of one who has paid', async () => {
    const fresh = await newCustomer(product);
    const first = await newInvoice(product, fresh);
    await newInvoice(product, fresh);
    await refused(await order(fresh, machines(1)), /2 unpaid invoices; pay or cancel one/);
    await cancel(fresh, first);
    expect((await order(fresh, machines(1))).status).toBe(200);

    const known = await knownCustomer(1_000);
    for (let nth = 0; nth < 5; nth += 1) await newInvoice(product, known);
    await refused(await order(known, machines(1)), /5 unpaid/);
  });

  it.each(['a cent', 'more than was due', 'a gift', 'an order for nothing', 'what went back'])(
    'makes nobody known by %s',
    async (by) => {
      const fresh = await newCustomer(product, { creditMinor: by === 'a gift' ? 1_000 : 0 });
      const of = `/staff/organizations/${fresh.organizationId}/transfers`;
      const transfer = (amount: string) =>
        product.staff.post(of, { amount, currency: 'EUR', reference: `${by} ${amount}` });
      if (by === 'more than was due') await transfer('50.00');
      if (by === 'an order for nothing') {
        await sql(
          product,
          `insert into coupons (code, percent, max_uses, created_at) values ('FREE', 100, 9, now())`,
        );
        expect((await order(fresh, { ...machines(1), couponcode: 'FREE' })).body.data.total).toBe('0.00');
      }
      if (by === 'what went back') {
        const id = await newInvoice(product, fresh);
        await transfer('3.00');
        const refund = { reason: 'A slip', method: 'credit' };
        expect((await product.staff.post(`/staff/invoices/${id}/refund`, refund)).status).toBe(200);
      }
      await newInvoice(product, fresh);
      await newInvoice(product, fresh);
      if (by === 'a cent') await transfer('0.01');
      await refused(await order(fresh, machines(1)), /2 unpaid invoices/);
    },
  );

  it('counts credit that was ordered, which is an invoice and a mail each time as well', async () => {
    const fresh = await newCustomer(product);
    const topUp = () => fresh.post('/dashboard/credit/top-up', { amount: '10.00' });
    expect([(await topUp()).status, (await topUp()).status]).toEqual([200, 200]);
    await refused(await topUp(), /2 unpaid invoices/);
    await refused(await order(fresh, machines(1)), /2 unpaid invoices/);
  });

  it('is never more than its limit, however many orders come at once', async () => {
    const fresh = await newCustomer(product);
    const answers = await Promise.all(Array.from({ length: 12 }, () => order(fresh, machines(1))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
  });

  it('holds a few addresses, over all orders together', async () => {
    const fresh = await newCustomer(product);
    const before = await held();
    await refused(await order(fresh, machines(4, 2)), /may hold 6 addresses, hold 0, and this one needs 8/);
    await refused(await order(fresh, machines(7)), /needs 7/);
    expect(await held()).toEqual(before);
    expect((await order(fresh, machines(2, 2))).status).toBe(200);
    await refused(await order(fresh, machines(3)), /hold 4/);
    expect((await order(fresh, machines(2))).status).toBe(200);
  });

  it('counts no longer once it is paid', async () => {
    const known = await knownCustomer(100_000);
    const { body } = await order(known, machines(12));
    await refused(await order(known, machines(1)), /hold 12/);
    await payByCredit(known, body.data.invoice_id);
    expect((await order(known, machines(12))).status).toBe(200);
  });
});

describe('an order that its customer cancels', () => {
  it('gives back at once all that it held', async () => {
    const fresh = await newCustomer(product);
    await settled(product);
    const before = await held();
    const { invoiceId, serviceId } = await orderVps(product, fresh, { option4: 2 });
    expect(await held()).not.toEqual(before);
    const answer = await cancel(fresh, invoiceId);
    expect(answer.body.data.invoice).toMatchObject({ id: invoiceId, status: 'cancelled', number: null });
    await settled(product);
    expect(await held()).toEqual(before);
    const { service } = (await fresh.get(`/dashboard/services/${serviceId}`)).body.data;
    expect(service.status).toBe('cancelled');
    const { mails } = (await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(fresh.email)}`))
      .body.data;
    const subject = `Invoice ${invoiceId} is cancelled`;
    const told = mails.filter((mail: { subject: string }) => mail.subject === subject);
    expect(told).toEqual([expect.objectContaining({ body: expect.stringMatching(/as you asked/) })]);
  });

  it('is cancelled once, and is paid no more; a transfer that comes late becomes credit', async () => {
    const known = await newCustomer(product, { creditMinor: 5_000 });
    const { invoiceId } = await orderVps(product, known);
    const answers = await Promise.all(Array.from({ length: 5 }, () => cancel(known, invoiceId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    expect((await payByCredit(known, invoiceId)).body.code).toBe('invoice_not_payable');
    const { total } = (await known.get(`/dashboard/invoices/${invoiceId}`)).body.data.invoice;
    const transfer = { amount: total, reference: `late ${invoiceId}` };
    const late = await product.staff.post(`/staff/invoices/${invoiceId}/payments`, transfer);
    expect(late.body.data).toMatchObject({ credited: total, invoice: { status: 'cancelled' } });
  });

  it('and paid at the same moment is one of the two', async () => {
    const known = await newCustomer(product, { creditMinor: 50_000 });
    for (let round = 0; round < 6; round += 1) {
      const invoiceId = await newInvoice(product, known);
      const both = [cancel(known, invoiceId), payByCredit(known, invoiceId)];
      const answers = await Promise.all(round % 2 === 0 ? both : both.reverse());
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    }
  });

  it('is refused to who may not pay, and when it is paid', async () => {
    const known = await newCustomer(product, { creditMinor: 50_000 });
    const { invoiceId } = await runningVps(product, known);
    expect((await cancel(known, invoiceId)).body).toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/is paid/),
    });
    const viewer = await newMember(product, known.organizationId, 'technical');
    expect((await cancel(viewer, invoiceId)).body.code).toBe('permission_denied');
  });

  it('is an upgrade too: another one can be asked for at once', async () => {
    const known = await newCustomer(product, { creditMinor: 50_000 });
    const { serviceId } = await runningVps(product, known);
    await settled(product);
    const before = await held();
    const path = `/dashboard/services/${serviceId}/upgrade-vps`;
    const { invoice_id: invoiceId } = (await known.post(path, { option1: 2 })).body.data;
    expect((await known.post(path, { option1: 4 })).body.message).toMatch(/pay or cancel it/);
    expect((await cancel(known, invoiceId)).status).toBe(200);
    await settled(product);
    expect(await held()).toEqual(before);
    expect((await known.post(path, { option1: 4 })).status).toBe(200);
  });
});

it('the mail for an order that costs nothing asks for no payment', async () => {
  await sql(
    product,
    `insert into coupons (code, percent, max_uses, created_at) values ('ALL', 100, 9, now())`,
  );
  const fresh = await newCustomer(product);
  const { body } = await order(fresh, { ...machines(1), couponcode: 'ALL' });
  await settled(product);
  const { mails } = (await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(fresh.email)}`))
    .body.data;
  const confirmation = mails.find(
    (mail: { subject: string }) => mail.subject === `Your order: invoice ${body.data.invoice_id}`,
  );
  expect(confirmation.body).not.toMatch(/To pay|Due|not paid/);
  expect(confirmation.body).toMatch(/nothing to pay/);
});

it('nobody waits for the invoice of a stranger, whatever its owner is doing with it', async () => {
  const owner = await newCustomer(product);
  const stranger = await newCustomer(product);
  const id = await newInvoice(product, owner);
  const paying = new pg.Client({ connectionString: product.databaseUrl });
  await paying.connect();
  await paying.query('begin');
  await paying.query('select 1 from invoices where id = $1 for update', [id]);
  const began = performance.now();
  for (const path of [`/dashboard/invoices/${id}/pay`, `/dashboard/invoices/${id}/cancel`])
    expect((await stranger.post(path, path.endsWith('pay') ? { method: 'credit' } : undefined)).status).toBe(
      403,
    );
  expect(performance.now() - began).toBeLessThan(5_000);
  await paying.end();
  expect((await cancel(owner, id)).status).toBe(200);
});

describe('a change', () => changes.leaveEntries(() => product, ['cancelInvoice']));
