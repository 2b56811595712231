/** A company that tried everything out with a key for tests, and goes live. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newInvoice } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
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
const linkOf = async (id: number) =>
  (await person.post(`/dashboard/invoices/${id}/pay`, { method: 'card' })).body.data.redirect_url;
const methods = async () =>
  (await person.get('/dashboard/payment-methods')).body.data.payment_methods as { id: number }[];
const customer = async () => {
  const [row] = await sql<{ reference: string; is_test: boolean }>(
    product,
    'select reference, is_test from provider_customers where organization_id = $1',
    person.organizationId,
  );
  return row;
};

it('who paid in test mode pays once the key is real, with a method of their own, and not under a key for tests again', async () => {
  const saving = (await person.post('/dashboard/payment-methods')).body.data.redirect_url;
  await stripe.click((await follow(saving)).location);
  const [saved] = await until(methods, ({ length }) => length === 1);
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
  await until(methods, ({ length }) => length === 0);
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
