import { expect } from 'vitest';
import type { Client } from '../client.ts';
import { audit } from '../crash/audit.ts';
import { startTestProduct, type TestOptions, type TestProduct, until } from '../product.ts';
import { settled, sql } from '../sql.ts';
import type { Means } from './account.ts';
import { type StripeStandIn, startStripe } from './standIn.ts';

/** The product with Stripe as its payment provider, which tells it what happens. */
export interface PaidProduct {
  product: TestProduct;
  stripe: StripeStandIn;
  /** Follows a link of ours to the provider's page, as a browser does. */
  follow(link: string): Promise<{ status: number; location: string }>;
  /** Follows it and fills in the page. */
  click(link: string, means?: Partial<Means>): Promise<{ location: string | null; says: string }>;
  /** Saves a method by the page, and gives its id once it is in the list. */
  saveMethod(client: Client, number?: string): Promise<number>;
  /** What the provider has given back of a payment, in its minor unit. */
  refunded(intent: string): number;
  /** `audited`: once nothing is left to do, and the whole database holds what must always hold. */
  stop(options?: { audited?: boolean }): Promise<void>;
}

/** Has the provider be away while a job that `work` asks for tries to reach it, until it has failed for good. */
export async function failFor(
  { product, stripe }: PaidProduct,
  name: string,
  on: RegExp,
  work: () => Promise<unknown>,
): Promise<void> {
  // Faults that another test has left would come first.
  stripe.heal();
  stripe.fail(on, 'gone', 1_000);
  await work();
  const jobs = (state: string) =>
    sql<{ id: number }>(
      product,
      'select id from jobs where name = $1 and state = $2 and error_code is not null and dismissed_at is null',
      name,
      state,
    );
  // Nobody waits here for the pauses between the tries.
  const [job] = await until(
    () => jobs('ready'),
    (found) => found.length > 0,
  );
  await sql(
    product,
    'update jobs set attempts = 11, run_at = $2 where id = $1',
    job?.id,
    product.clock.now(),
  );
  await until(
    () => jobs('failed'),
    (found) => found.some(({ id }) => id === job?.id),
  );
  stripe.heal();
}

export function stripeEnv(stripe: Pick<StripeStandIn, 'url' | 'secretKey' | 'webhookSecret'>) {
  return {
    STRIPE_API_URL: stripe.url,
    STRIPE_SECRET_KEY: stripe.secretKey,
    STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
  };
}

export async function startPaidProduct(options: TestOptions = {}): Promise<PaidProduct> {
  const stripe = await startStripe();
  const product = await startTestProduct({ ...options, env: { ...stripeEnv(stripe), ...options.env } });
  stripe.events.sendTo(`${product.url}/api/payments/stripe/events`);

  const follow = async (link: string) => {
    // The product's own port is known only now.
    const { pathname } = new URL(link);
    const answer = await fetch(product.url + pathname, { redirect: 'manual' });
    await answer.text();
    return { status: answer.status, location: answer.headers.get('location') ?? '' };
  };
  const click = async (link: string, means?: Partial<Means>) =>
    stripe.click((await follow(link)).location, means);
  const saveMethod = async (client: Client, number = '4242424242424242') => {
    const list = async () => (await client.get('/dashboard/payment-methods')).body.data.payment_methods;
    const before = (await list()).map(({ id }: { id: number }) => id);
    const { body } = await client.post('/dashboard/payment-methods');
    await click(body.data.redirect_url, { number });
    const after = await until(list, (methods) => methods.length > before.length);
    return after.find(({ id }: { id: number }) => !before.includes(id)).id as number;
  };
  const refunded = (intent: string) => {
    const { latest_charge: id } = stripe.account.require(intent, 'payment_intent');
    return stripe.account.require(id, 'charge').amount_refunded;
  };
  const stop = async ({ audited = false } = {}) => {
    if (audited) {
      await settled(product);
      expect(await audit(product.databaseUrl)).toEqual([]);
    }
    await stripe.close();
    await product.stop();
  };
  return { product, stripe, follow, click, saveMethod, refunded, stop };
}
