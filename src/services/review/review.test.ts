import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { watchChanges } from '../../../test/noted.ts';
import { orderVps } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { contents, settled, settledContents } from '../../../test/sql.ts';

const changes = watchChanges();

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());
afterEach(() => setRules({ first_orders: false, above: null, services: null, countries: [] }));

async function setRules(review: object) {
  expect((await product.staff.patch('/staff/settings', { review })).status).toBe(200);
}

const someone = (options = {}) => newCustomer(product, { creditMinor: 100_000, ...options });
const orderOf = async (id: number) => (await product.staff.get(`/staff/orders/${id}`)).body.data.order;
const statusOf = async (person: Person, id: number) =>
  (await person.get(`/dashboard/services/${id}`)).body.data.service.status;
const held = async () =>
  (await product.staff.get('/staff/orders?review=held')).body.data.orders.map(
    (each: { id: number }) => each.id,
  );
const concerns = async () =>
  (await product.staff.get('/staff/attention')).body.data.concerns.filter(
    (each: { kind: string }) => each.kind === 'order.held',
  );

async function paidOrder(person: Person) {
  const order = await orderVps(product, person);
  await payByCredit(person, order.invoiceId);
  await settled(product);
  return order;
}

async function credit(person: Person): Promise<string> {
  return (await person.get('/dashboard/invoices')).body.data.credit_balance;
}

describe('a paid order', () => {
  it('is delivered at once when no rule holds it', async () => {
    const person = await someone();
    const { invoiceId, serviceId } = await paidOrder(person);
    await until(
      () => statusOf(person, serviceId),
      (status) => status === 'active',
    );
    expect((await orderOf(invoiceId)).review).toBeNull();
    expect((await product.staff.post(`/staff/orders/${invoiceId}/release`, {})).status).toBe(409);
  });

  it('is held by a rule, staff is told why, and its customer that it is looked at', async () => {
    await setRules({ first_orders: true, countries: ['NL'] });
    const person = await someone({ country: 'NL' });
    const { invoiceId, serviceId } = await paidOrder(person);
    expect(await statusOf(person, serviceId)).toBe('pending');
    const reasons = ['It is the first order of its organization', 'It comes from NL'];
    expect((await orderOf(invoiceId)).review).toMatchObject({ status: 'held', reasons, decided_at: null });
    expect(await held()).toContain(invoiceId);
    expect((await concerns()).map((each: { subject: object }) => each.subject)).toContainEqual({
      type: 'invoice',
      id: invoiceId,
    });
    const { mails } = (await product.staff.get('/staff/mails?limit=100')).body.data;
    expect(mails).toContainEqual(expect.objectContaining({ subject: `We look at your order ${invoiceId}` }));
  });

  it('is held for the country that its customer is billed in, wherever the organization was founded', async () => {
    await setRules({ countries: ['NL'] });
    const person = await someone({ country: 'FR' });
    const moved = await person.patch('/dashboard/billing/profile', { country: 'NL' });
    expect(moved.status, JSON.stringify(moved.body)).toBe(200);
    const { invoiceId } = await paidOrder(person);
    const { review } = await orderOf(invoiceId);
    expect(review).toMatchObject({ status: 'held', reasons: ['It comes from NL'] });
  });

  it.each([
    ['its total', { above: '5.00' }, /total is more than 5.00 EUR/],
    ['the number of its services', { services: 1 }, /2 services/],
  ])('is held for %s', async (_, rules, words) => {
    await setRules(rules);
    const person = await someone();
    const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
    const { data } = (await person.post('/cart/checkout/invoice', { products: [item, item] })).body;
    await payByCredit(person, data.invoice_id);
    await settled(product);
    expect((await orderOf(data.invoice_id)).review.reasons).toEqual([expect.stringMatching(words)]);
  });

  it('of an organization that has paid before is not its first', async () => {
    const person = await someone();
    await paidOrder(person);
    await setRules({ first_orders: true });
    const { invoiceId } = await paidOrder(person);
    expect((await orderOf(invoiceId)).review).toBeNull();
  });
});

describe('the first order of an organization', () => {
  const order = async (person: Person) => {
    const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
    const { data } = (await person.post('/cart/checkout/invoice', { products: [item] })).body;
    return data.invoice_id as number;
  };

  it('is held whatever credit it bought before, and so is the next one until one was delivered', async () => {
    await setRules({ first_orders: true });
    const person = await someone({ creditMinor: 0 });
    const { invoice_id: topUp } = (await person.post('/dashboard/credit/top-up', { amount: '20.00' })).body
      .data;
    const came = { amount: '20.00', reference: `top-up ${topUp}` };
    expect((await product.staff.post(`/staff/invoices/${topUp}/payments`, came)).status).toBe(200);
    const orders = [await order(person), await order(person)];
    for (const id of orders) expect((await payByCredit(person, id)).status).toBe(200);
    await settled(product);
    for (const id of orders) expect((await orderOf(id)).review).toMatchObject({ status: 'held' });
    const third = await order(person);
    await payByCredit(person, third);
    await settled(product);
    expect((await orderOf(third)).review).toMatchObject({ status: 'held' });
    expect((await product.staff.post(`/staff/orders/${third}/release`, {})).status).toBe(200);
    const fourth = await order(person);
    await payByCredit(person, fourth);
    await settled(product);
    expect((await orderOf(fourth)).review).toBeNull();
  });
});

describe('an order that is held', () => {
  it('is delivered once staff releases it, and once only', async () => {
    await setRules({ first_orders: true });
    const person = await someone();
    const { invoiceId, serviceId } = await paidOrder(person);
    await setRules({ first_orders: false });
    await settled(product);
    expect(await statusOf(person, serviceId)).toBe('pending'); // the rule may go; what it held stays held
    const answers = await Promise.all(
      [1, 2, 3].map(() => product.staff.post(`/staff/orders/${invoiceId}/release`, { note: 'Called them' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    await until(
      () => statusOf(person, serviceId),
      (status) => status === 'active',
    );
    await settled(product);
    expect((await orderOf(invoiceId)).review).toMatchObject({ status: 'released', note: 'Called them' });
    expect(await held()).not.toContain(invoiceId);
  });

  it('is cancelled with all of its money given back when staff refuses it', async () => {
    await setRules({ first_orders: true });
    const person = await someone();
    const before = await credit(person);
    const { invoiceId, serviceId } = await paidOrder(person);
    expect((await product.staff.post(`/staff/orders/${invoiceId}/refuse`, {})).status).toBe(400);
    const reason = 'We could not reach you';
    expect((await product.staff.post(`/staff/orders/${invoiceId}/refuse`, { reason })).status).toBe(200);
    await settled(product);
    expect([await statusOf(person, serviceId), await credit(person)]).toEqual(['cancelled', before]);
    expect(await orderOf(invoiceId)).toMatchObject({
      invoice_status: 'refunded',
      review: { status: 'refused', note: reason },
    });
    expect((await product.staff.post(`/staff/orders/${invoiceId}/release`, {})).status).toBe(409);
  });

  it('whose money was given back waits for nobody, and is not delivered by a release', async () => {
    await setRules({ first_orders: true });
    const person = await someone();
    const { invoiceId, serviceId } = await paidOrder(person);
    await product.staff.post(`/staff/invoices/${invoiceId}/refund`, {
      method: 'credit',
      reason: 'Asked for',
    });
    await settled(product);
    const of = (await concerns()).filter(
      (each: { subject: { id: number } }) => each.subject.id === invoiceId,
    );
    expect(of).toEqual([]);
    const before = await settledContents(product);
    expect((await product.staff.post(`/staff/orders/${invoiceId}/release`, {})).status).toBe(409);
    expect(await contents(product)).toEqual(before);
    expect(await statusOf(person, serviceId)).toBe('cancelled');
  });

  it('is not what another id names', async () => {
    for (const id of [1, 4503599627370449])
      expect((await product.staff.post(`/staff/orders/${id}/release`, {})).status).toBe(404);
  });
});

describe('a change', () => changes.leaveEntries(() => product, ['releaseOrder', 'refuseOrder']));
