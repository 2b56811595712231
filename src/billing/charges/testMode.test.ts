/** A company that tried everything out with a key for tests, and goes live. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newInvoice } from '../../../test/invoices.ts';
import { newCustomer, type Person, signedIn } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { stripeEnv } from '../../../test/stripe/product.ts';
import { type StripeStandIn, startStripe } from '../../../test/stripe/standIn.ts';
import type { Payments } from '../../drivers/payments/index.ts';
import { stripePayments } from '../../drivers/payments/stripe/engine.ts';

let stripe: StripeStandIn;
let product: TestProduct;
let person: Person;
const keys: Partial<Record<'test' | 'live', Payments>> = {};
let key: 'test' | 'live' = 'test';
beforeAll(async () => {
  stripe = await startStripe();
  const { url, webhookSecret } = stripe;
  keys.test = stripePayments({ url, webhookSecret, secretKey: stripe.secretKey });
  keys.live = stripePayments({ url, webhookSecret, secretKey: stripe.liveKey });
  // As if the product had been started anew with the other key.
  const payments = new Proxy(keys.test, { get: (_, name) => Reflect.get(keys[key] ?? {}, name) });
  product = await startTestProduct({ env: stripeEnv(stripe), drivers: { payments } });
  stripe.events.sendTo(`${product.url}/api/payments/stripe/events`);
  person = await newCustomer(product);
});
afterAll(async () => {
  await stripe.close();
  await product.stop();
});

const follow = async (link: string) => {
  const answer = await fetch(product.url + new URL(link).pathname, { redirect: 'manual' });
  return { status: answer.status, location: answer.headers.get('location') ?? '' };
};
const linkOf = async (id: number, client = person) =>
  (await client.post(`/dashboard/invoices/${id}/pay`, { method: 'card' })).body.data.redirect_url;
const methods = async (client = person) =>
  (await client.get('/dashboard/payment-methods')).body.data.payment_methods as { id: number }[];
const customer = async (client = person) => {
  const [row] = await sql<{ reference: string; is_test: boolean }>(
    product,
    'select reference, is_test from provider_customers where organization_id = $1',
    client.organizationId,
  );
  return row;
};

it('who paid in test mode pays once the key is real, with a method of their own, and not under a key for tests again', async () => {
  const saving = (await person.post('/dashboard/payment-methods')).body.data.redirect_url;
  await stripe.click((await follow(saving)).location);
  const [saved] = await until(
    () => methods(),
    ({ length }) => length === 1,
  );
  const [first, second, third] = [
    await newInvoice(product, person),
    await newInvoice(product, person),
    await newInvoice(product, person),
  ];
  expect((await follow(await linkOf(first))).status).toBe(303);
  const before = await customer();
  expect(before?.is_test).toBe(true);

  key = 'live';
  expect((await follow(await linkOf(second))).status).toBe(303);
  const real = await customer();
  expect(real).toMatchObject({ is_test: false });
  expect(real?.reference).not.toBe(before?.reference);
  const way = { method: 'card', payment_method_id: saved?.id };
  expect((await person.post(`/dashboard/invoices/${third}/pay`, way)).status).toBe(200);
  // What was saved in tests pays nothing real, and is not shown any more.
  await until(
    () => methods(),
    ({ length }) => length === 0,
  );
  await settled(product);
  // What was opened in tests keeps no order from its end.
  product.clock.travel(5 * 86_400_000);
  for (let nth = 0; nth < 5; nth += 1) {
    await product.periodic('billing.expire');
    await settled(product);
    product.clock.travel(3_601_000);
  }
  const { status } = (await person.get(`/dashboard/invoices/${first}`)).body.data.invoice;
  expect(status).toBe('cancelled');

  key = 'test';
  const link = await linkOf(await newInvoice(product, person));
  expect((await follow(link)).status).toBe(503);
  expect(await customer()).toEqual(real);
});

it('who was made known before the mode was written down pays once the key is real, and what is to be forgotten of them is', async () => {
  key = 'test';
  const [pays, removes, leaves, comes] = [
    await newCustomer(product),
    await newCustomer(product),
    await newCustomer(product),
    await newCustomer(product),
  ];
  for (const client of [pays, removes, leaves, comes]) {
    const { redirect_url: saving } = (await client.post('/dashboard/payment-methods')).body.data;
    await stripe.click((await follow(saving)).location);
    await until(
      () => methods(client),
      ({ length }) => length === 1,
    );
  }
  await settled(product);
  await sql(product, 'update provider_customers set is_test = null');
  // Whoever is seen under the key for tests is known as such, and by night all others are.
  expect((await follow(await linkOf(await newInvoice(product, comes), comes))).status).toBe(303);
  expect((await customer(comes))?.is_test).toBe(true);

  key = 'live';
  const before = await customer(pays);
  const [saved] = await methods(pays);
  const way = { method: 'card', payment_method_id: saved?.id };
  const third = await newInvoice(product, pays);
  expect((await pays.post(`/dashboard/invoices/${third}/pay`, way)).status).toBe(200);
  await until(
    () => methods(pays),
    ({ length }) => length === 0,
  );
  expect((await follow(await linkOf(await newInvoice(product, pays), pays))).status).toBe(303);
  const real = await customer(pays);
  expect(real).toMatchObject({ is_test: false });
  expect(real?.reference).not.toBe(before?.reference);

  const [removed] = await methods(removes);
  expect((await removes.delete(`/dashboard/payment-methods/${removed?.id}`)).status).toBe(200);
  const here = await signedIn(product, leaves);
  expect((await here.post('/dashboard/account/close', {})).status).toBe(200);
  await settled(product);
  const unfinished = await sql(
    product,
    `select name, error_message from jobs where name in ('billing.forgetMethod', 'billing.forgetCustomer') and state <> 'done'`,
  );
  expect(unfinished).toEqual([]);
  expect(stripe.account.require(before?.reference ?? '', 'customer').deleted).toBeUndefined();
});

it('who was never seen since is known as of tests by the night that is compared under the key for tests, however many others are not', async () => {
  key = 'test';
  const [fails, rests] = [await newCustomer(product), await newCustomer(product)];
  for (const client of [fails, rests])
    expect((await follow(await linkOf(await newInvoice(product, client), client))).status).toBe(303);
  await sql(product, 'update provider_customers set is_test = null where organization_id = any($1)', [
    fails.organizationId,
    rests.organizationId,
  ]);
  // Of whom the provider knows nothing: more than are read at once, before those two and after them.
  const crowd = (from: number) =>
    sql(
      product,
      `with made as (
         insert into organizations (id, name, created_at)
         select $1::bigint + n, 'crowd', $2 from generate_series(1, 205) n returning id)
       insert into provider_customers (organization_id, driver, reference, created_at)
       select id, 'stripe', concat('cus_gone', id), $2::timestamptz + interval '1 hour' from made`,
      from,
      product.clock.now(),
    );
  await crowd(0);
  await crowd(Number.MAX_SAFE_INTEGER - 1_000);
  const { reference } = (await customer(fails)) ?? {};
  stripe.fail(new RegExp(`^GET /v1/customers/${reference}$`), 'refused', 100);
  const job = async () =>
    (
      await sql<{ id: number; state: string }>(
        product,
        `select id::int, state from jobs where name = 'billing.compareWithProvider' order by id desc limit 1`,
      )
    )[0];
  const before = await job();
  product.clock.travel(86_400_000);
  await product.periodic('billing.compareProvider');
  await until(job, (row) => row !== undefined && row.id !== before?.id && row.state === 'done', 60_000);
  stripe.heal();
  expect(await customer(rests)).toMatchObject({ is_test: true });
  expect(await customer(fails)).toMatchObject({ is_test: null });
});
