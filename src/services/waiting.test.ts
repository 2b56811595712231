import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { payByCredit } from '../../test/invoices.ts';
import { orderVps } from '../../test/orders.ts';
import { newCustomer, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { settled, sql } from '../../test/sql.ts';
import { addProduct } from '../catalog/index.ts';
import { demoProducts } from '../demo/products.ts';
import { transaction } from '../platform/index.ts';

let product: TestProduct;
let customer: Person;
let large: number;
beforeAll(async () => {
  product = await startTestProduct();
  product.clock.set(new Date('2027-04-01T09:30:00Z'));
  const { hosting } = demoProducts('AMS');
  const prices = [{ cycle: 'monthly' as const, priceMinor: 900, setupFeeMinor: 0 }];
  large = await transaction(product.ctx, 'test.addProduct', (tx) =>
    addProduct(tx, { ...hosting, name: 'Large', prices }),
  );
});
afterAll(() => product.stop());
beforeEach(async () => {
  customer = await newCustomer(product, { creditMinor: 100_000 });
});

const service = async (id: number) => (await customer.get(`/dashboard/services/${id}`)).body.data.service;
const staff = async (path: string, body: object = {}) => {
  const answer = await product.staff.post(path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  await settled(product);
};

async function order(): Promise<{ invoiceId: number; id: number }> {
  const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  const { data } = (await customer.post('/cart/checkout/invoice', { products: [item] })).body;
  return { invoiceId: data.invoice_id, id: data.service_ids[0] };
}

async function paid() {
  const made = await order();
  await payByCredit(customer, made.invoiceId);
  await settled(product);
  return made;
}

async function delivered() {
  const made = await paid();
  await staff(`/staff/services/${made.id}/deliver`);
  return made;
}

/** What was written to the customer about their services, the oldest first. */
async function told(): Promise<string[]> {
  const { mails } = (
    await product.staff.get(`/staff/mails?limit=100&recipient=${encodeURIComponent(customer.email)}`)
  ).body.data;
  return mails.map(({ subject }: { subject: string }) => subject).toReversed();
}

const setRules = (review: object) => product.staff.patch('/staff/settings', { review });

describe('what staff delivers by hand', () => {
  it('waits for its payment, then for staff, since when it says, and then for nothing', async () => {
    const { invoiceId, id } = await order();
    const { created_at: ordered, ...shown } = await service(id);
    expect(shown.waiting).toEqual([
      {
        for: 'payment',
        by: 'customer',
        message: `It is set up once invoice ${invoiceId} is paid`,
        since: ordered,
      },
    ]);
    expect(shown.invoice_id).toBe(invoiceId);
    product.clock.travel(3_600_000);
    await payByCredit(customer, invoiceId);
    await settled(product);
    const [waits, ...more] = (await service(id)).waiting;
    expect(more).toEqual([]);
    expect(waits).toMatchObject({
      for: 'delivery',
      by: 'staff',
      message: expect.stringMatching(/our staff/),
    });
    expect(Date.parse(waits.since)).toBeGreaterThanOrEqual(Date.parse(ordered) + 3_600_000);
    expect(await told()).toContain('We are setting up Web hosting');
    product.clock.travel(86_400_000);
    expect((await service(id)).waiting).toEqual([waits]); // since the same moment
    expect((await customer.get('/dashboard/services')).body.data.services[0].waiting).toEqual([waits]);
    await staff(`/staff/services/${id}/deliver`);
    expect(await service(id)).toMatchObject({ status: 'active', waiting: [], end_reason: null });
    expect((await told()).filter((subject) => subject === 'Web hosting is ready')).toHaveLength(1);
  });

  it('is changed by hand: the customer sees that it is asked for, and hears of its end', async () => {
    const { id } = await delivered();
    const { body } = await customer.post(`/dashboard/services/${id}/upgrade`, { product_id: large });
    await payByCredit(customer, body.data.invoice_id);
    await settled(product);
    expect((await service(id)).waiting).toEqual([
      {
        for: 'change',
        by: 'staff',
        message: 'Our staff is changing it to what you chose',
        since: expect.any(String),
      },
    ]);
    const { body: mail } = (
      await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(customer.email)}`)
    ).body.data.mails.find(({ subject }: { subject: string }) => subject === 'Web hosting is Large now');
    expect(mail).toContain('Our staff is changing it by hand');
    await staff(`/staff/services/${id}/done`, { task: 'change' });
    expect((await service(id)).waiting).toEqual([]);
    expect(await told()).toContain('Large is changed to what you chose');
  });

  it('is suspended, let run again and ended by hand, each shown until it is done', async () => {
    const { id } = await delivered();
    await staff(`/staff/services/${id}/suspend`, { reason: 'Sends spam' });
    expect((await service(id)).waiting).toMatchObject([{ for: 'suspend', by: 'staff' }]);
    await staff(`/staff/services/${id}/done`, { task: 'suspend' });
    await staff(`/staff/services/${id}/unsuspend`);
    expect((await service(id)).waiting).toMatchObject([{ for: 'unsuspend', by: 'staff' }]);
    await staff(`/staff/services/${id}/done`, { task: 'unsuspend' });
    expect((await service(id)).waiting).toEqual([]);
    const cancelled = await customer.post(`/dashboard/services/${id}/cancel`, { type: 'immediate' });
    expect(cancelled.status).toBe(200);
    await settled(product);
    expect(await service(id)).toMatchObject({
      status: 'terminated',
      end_reason: 'you cancelled it',
      waiting: [{ for: 'terminate', by: 'staff', message: expect.stringMatching(/has ended/) }],
    });
    await staff(`/staff/services/${id}/done`, { task: 'terminate' });
    expect((await service(id)).waiting).toEqual([]);
    const about = (await told()).filter((subject) => subject.startsWith('Web hosting')).slice(-3);
    expect(about).toEqual([
      'Web hosting can be used again, as it was before',
      'Web hosting has ended',
      'Web hosting is taken down, with all that was stored on it',
    ]);
  });

  it('says why it came to nothing, when nobody paid and when its customer gave it up', async () => {
    const first = await order();
    await customer.post(`/dashboard/invoices/${first.invoiceId}/cancel`);
    const second = await order();
    await settled(product);
    product.clock.travel(5 * 86_400_000);
    await product.periodic('billing.expire');
    await settled(product);
    expect(await service(first.id)).toMatchObject({ status: 'cancelled', waiting: [] });
    expect((await service(first.id)).end_reason).toBe('you cancelled the order');
    expect((await service(second.id)).end_reason).toBe('the invoice was not paid in time');
  });
});

describe('an order that staff looks at', () => {
  beforeEach(() => setRules({ first_orders: true, above: null, services: null, countries: [] }));
  const open = () => setRules({ first_orders: false, above: null, services: null, countries: [] });

  it('says so on its services since it is held, and goes on once it is released', async () => {
    const { invoiceId, id } = await paid();
    const [waits] = (await service(id)).waiting;
    const { review } = (await product.staff.get(`/staff/orders/${invoiceId}`)).body.data.order;
    expect(waits).toMatchObject({ for: 'review', by: 'staff', since: review.held_at });
    expect(waits.message).toMatch(/We are checking your order/);
    product.clock.travel(86_400_000);
    await staff(`/staff/orders/${invoiceId}/release`, { note: 'Only for staff: a friend of the house' });
    await open();
    const [then] = (await service(id)).waiting;
    expect(then).toMatchObject({ for: 'delivery', by: 'staff' });
    expect(Date.parse(then.since)).toBeGreaterThan(Date.parse(waits.since));
    const { mails } = (
      await product.staff.get(`/staff/mails?limit=100&recipient=${encodeURIComponent(customer.email)}`)
    ).body.data;
    expect(JSON.stringify(mails)).not.toContain('friend of the house');
    const [first, ...after] = (await told())
      .filter((subject) => /order \d+|setting up/.test(subject))
      .slice(-3);
    expect(first).toBe(`We look at your order ${invoiceId}`);
    expect(after.toSorted()).toEqual(['We are setting up Web hosting', `Your order ${invoiceId} goes on`]);
    await staff(`/staff/services/${id}/deliver`);
    expect((await service(id)).waiting).toEqual([]);
  });

  it('is refused with the reason, shown on its services and told once', async () => {
    const { invoiceId, id } = await paid();
    await staff(`/staff/orders/${invoiceId}/refuse`, { reason: 'We could not reach you' });
    await open();
    expect(await service(id)).toMatchObject({
      status: 'cancelled',
      waiting: [],
      end_reason: 'We could not take the order: We could not reach you',
    });
    const subjects = await told();
    expect(subjects.filter((subject) => subject === `We cannot take your order ${invoiceId}`)).toHaveLength(
      1,
    );
    expect(subjects.filter((subject) => subject === `Refund for invoice ${invoiceId}`)).toHaveLength(1);
    expect((await customer.get('/dashboard/invoices')).body.data.credit_balance).toBe('1000.00');
  });

  it('of a machine that is delivered by the product is set up by nobody of staff', async () => {
    const { invoiceId, serviceId } = await orderVps(product, customer);
    await payByCredit(customer, invoiceId);
    await settled(product);
    await open();
    // As it is while the machine is made, without making one.
    await sql(product, 'delete from order_reviews where invoice_id = $1', invoiceId);
    await sql(product, `update services set provisioning_state = 'failed' where id = $1`, serviceId);
    const [failed] = (await service(serviceId)).waiting;
    expect(failed).toMatchObject({ for: 'delivery', by: 'staff', message: expect.stringMatching(/failed/) });
    await sql(product, `update services set provisioning_state = 'running' where id = $1`, serviceId);
    const [running] = (await service(serviceId)).waiting;
    expect(running).toMatchObject({ for: 'delivery', by: 'product', message: 'It is paid and being set up' });
  });
});
