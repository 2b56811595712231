import { afterAll, beforeAll, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { failFor, type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';
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
const hour = 3_600_000;
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

it('an order expires, however often its page is opened anew', async () => {
  const id = await newInvoice(paid.product, person);
  const link = await pageOf(id);
  await paid.follow(link);
  await paid.product.clock.travel(5 * day);
  for (let nth = 0; nth < 4; nth += 1) {
    await paid.product.periodic('billing.expire');
    await settled(paid.product);
    await paid.follow(link);
    await paid.product.clock.travel(hour + 1_000);
  }
  expect((await invoiceOf(id)).status).toBe('cancelled');
});

it('an order that was paid during a standstill, on a page after one that was asked about, is delivered', async () => {
  const id = await newInvoice(paid.product, person);
  const link = await pageOf(id);
  await paid.follow(link);
  await paid.product.clock.travel(5 * day);
  await paid.product.periodic('billing.expire');
  await settled(paid.product);
  await paid.click(link);
  await paid.product.clock.travel(hour + 1_000);
  await paid.product.periodic('billing.expire');
  expect((await asFor(id, 'paid')).payments).toMatchObject([{ method: 'stripe' }]);
  await settled(paid.product);
});

it('an order that was paid waits until its page could be looked at', { timeout: 120_000 }, async () => {
  const id = await newInvoice(paid.product, person);
  await paid.click(await pageOf(id));
  await paid.product.clock.travel(5 * day);
  // Closing it still goes well.
  const page = /GET .*checkout\/sessions\/\w+/;
  paid.stripe.meanwhile(page, async () => paid.stripe.fail(page, 'gone', 10_000));
  await paid.product.periodic('billing.expire');
  const failed = async () => {
    const waiting = await sql(
      paid.product,
      `update jobs set attempts = 11 where name = 'billing.followProvider' and state = 'ready' returning id`,
    );
    if (waiting.length > 0) await paid.product.clock.travel(60_000);
    return sql<{ name: string }>(paid.product, `select name from jobs where state = 'failed'`);
  };
  expect(await until(failed, ({ length }) => length > 0, 60_000)).toEqual([
    { name: 'billing.followProvider' },
  ]);
  for (let nth = 0; nth < 4; nth += 1) {
    await paid.product.clock.travel(hour + 1_000);
    await paid.product.periodic('billing.expire');
  }
  expect((await invoiceOf(id)).status).toBe('unpaid');
  paid.stripe.heal();
  await paid.product.periodic('jobs.heal');
  expect((await asFor(id, 'paid')).payments).toMatchObject([{ method: 'stripe' }]);
  await settled(paid.product);
});

it('an order expires whose page could not be closed, once staff has dismissed that: it is asked about anew', async () => {
  const id = await newInvoice(paid.product, person);
  await paid.follow(await pageOf(id));
  await paid.product.clock.travel(5 * day);
  await failFor(paid, 'billing.closePages', /checkout\/sessions/, () =>
    paid.product.periodic('billing.expire'),
  );
  expect((await invoiceOf(id)).status).toBe('unpaid');
  const [job] = await sql<{ id: number }>(
    paid.product,
    `select id::int from jobs where name = 'billing.closePages' and payload->>'invoiceId' = $1 and state = 'failed'`,
    String(id),
  );
  expect(
    (await paid.product.staff.post(`/staff/jobs/${job?.id}/dismiss`, { reason: 'Seen to' })).status,
  ).toBe(200);
  for (let nth = 0; nth < 4; nth += 1) {
    await paid.product.clock.travel(hour + 1_000);
    await paid.product.periodic('billing.expire');
    await settled(paid.product);
  }
  expect((await invoiceOf(id)).status).toBe('cancelled');
});

it('an order on whose page a card was declined expires', async () => {
  const id = await newInvoice(paid.product, person);
  await paid.click(await pageOf(id), { number: '4000000000000002' });
  await paid.product.clock.travel(5 * day);
  await paid.product.periodic('billing.expire');
  await settled(paid.product);
  await paid.product.periodic('billing.expire');
  expect((await invoiceOf(id)).status).toBe('cancelled');
});

it('under the key of another account no order expires whose page is open at ours', async () => {
  const id = await newInvoice(paid.product, person);
  await paid.click(await pageOf(id));
  await paid.product.clock.travel(5 * day);
  paid.stripe.isOfAnother(true);
  await paid.product.periodic('billing.expire');
  const isTriedAgain = async () =>
    (
      await sql<{ error_code: string | null }>(
        paid.product,
        `select error_code from jobs where name = 'billing.closePages' and payload->>'invoiceId' = $1 and state = 'ready'`,
        String(id),
      )
    ).some(({ error_code: code }) => code === 'provider_refused');
  expect(await until(isTriedAgain, (is) => is)).toBe(true);
  for (let nth = 0; nth < 2; nth += 1) {
    await paid.product.clock.travel(2 * hour);
    await paid.product.periodic('billing.expire');
  }
  expect((await invoiceOf(id)).status).toBe('unpaid');
  paid.stripe.isOfAnother(false);
  await paid.product.clock.travel(2 * hour);
  expect((await asFor(id, 'paid')).payments).toMatchObject([{ method: 'stripe' }]);
  await settled(paid.product);
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

/** A service that is suspended for want of the money, and its renewal. */
async function suspended() {
  person = await newCustomer(paid.product, { creditMinor: 300 });
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
  return { service, pass, invoiceId: Number(row?.invoice_id) };
}

it('a service whose renewal was paid during a standstill is not ended, and runs again', async () => {
  const { service, invoiceId } = await suspended();
  await paid.click(await pageOf(invoiceId));

  // Days later, when it was to end.
  await paid.product.clock.travel(60 * day);
  paid.stripe.fail(/checkout\/sessions/, 'gone', 3);
  await paid.product.periodic('services.calendar');
  expect((await until(service, ({ status }) => status !== 'suspended', 30_000)).status).toBe('active');
  paid.stripe.heal();
  await settled(paid.product);
}, 60_000);

it('a service that was paid during a standstill, on a page after one that was asked about, runs again', async () => {
  const { service, pass, invoiceId } = await suspended();
  const link = await pageOf(invoiceId);
  await paid.follow(link);
  await paid.product.clock.travel(60 * day);
  await pass(1);
  expect((await service()).status).toBe('suspended');
  await paid.click(link);
  await pass(1);
  expect((await until(service, ({ status }) => status !== 'suspended', 30_000)).status).toBe('active');
}, 60_000);

it('a service that nobody pays for ends, however often a page for it is opened', async () => {
  const { service, pass, invoiceId } = await suspended();
  const link = await pageOf(invoiceId);
  await paid.product.clock.travel(60 * day);
  for (let days = 0; days < 5 && (await service()).status === 'suspended'; days += 1) {
    await paid.follow(link);
    await pass(1);
  }
  expect((await service()).status).not.toBe('suspended');
}, 120_000);
