import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { sql } from '../../test/sql.ts';
import { recordPaid } from '../events/stream/testbed.ts';
import { receivers } from './testbed.ts';

let product: TestProduct;
let owner: Person;
beforeAll(async () => {
  product = await startTestProduct({ env: { WEBHOOK_ALLOW: '127.0.0.0/29' } });
  owner = await newCustomer(product);
});
afterAll(() => product.stop());

const { open: receiver, close } = receivers();
afterEach(async () => {
  await sql(product, 'delete from webhook_endpoints');
  close();
});

const soon = { timeout: 15_000, interval: 20 };
const path = (id: number) => `/dashboard/webhooks/${id}`;
const pay = (total: string | string[], who = owner) => recordPaid(product, who.organizationId, { total });

async function endpoint(url: string, who = owner): Promise<number> {
  const { status, body } = await who.post('/dashboard/webhooks', { url });
  expect(status, JSON.stringify(body)).toBe(200);
  return Number(body.data.webhook.id);
}

interface Delivery {
  id: number;
  state: string;
  tries: number;
  next_try_at: string | null;
}

async function deliveriesOf(id: number): Promise<Delivery[]> {
  return (await owner.get(`${path(id)}/deliveries?limit=100`)).body.data.deliveries;
}

/** Many of long ago, as if they were sent then. */
async function fill(id: number, count: number, state: 'failed' | 'waiting', daysAgo: number): Promise<void> {
  const now = product.clock.now();
  await sql(
    product,
    `insert into webhook_deliveries (id, organization_id, endpoint_id, event, body, state, next_try_at, created_at, finished_at)
     select $1::bigint % 1000000000 * 1000000 + n, $2, $1, 'webhook.test', '{}', $3,
       case when $3 = 'waiting' then $4::timestamptz end,
       $4::timestamptz - make_interval(days => $5) + make_interval(secs => n / 100), case when $3 <> 'waiting' then $4::timestamptz end
     from generate_series(1, $6::int) n`,
    ...[id, owner.organizationId, state, now, daysAgo, count],
  );
}

describe('a delivery that is asked for again', () => {
  it('while a try is under way is sent once more after it', async () => {
    const goOn = Promise.withResolvers<void>();
    const { got, url } = await receiver(async (nth) => {
      if (nth === 1) await goOn.promise;
      return 200;
    });
    const id = await endpoint(url);
    await pay('1.00');
    await expect.poll(() => got.length, soon).toBe(1);
    const [delivery] = await deliveriesOf(id);
    expect((await owner.post(`/dashboard/webhooks/deliveries/${delivery?.id}/replay`)).status).toBe(200);
    goOn.resolve();
    await expect.poll(() => got.length, soon).toBe(2);
    await expect
      .poll(async () => (await deliveriesOf(id))[0], soon)
      .toMatchObject({ state: 'delivered', tries: 1 });
    expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('keeps its newest fifty tries, however often that is', async () => {
    const { got, url } = await receiver();
    const id = await endpoint(url);
    await pay('2.00');
    const delivered = async () => (await deliveriesOf(id))[0]?.state === 'delivered';
    await expect.poll(delivered, soon).toBe(true);
    const [delivery] = await deliveriesOf(id);
    await sql(
      product,
      `insert into webhook_attempts (delivery_id, organization_id, tried_at, duration_ms, status)
       select $1, $2, $3::timestamptz - make_interval(secs => n), 1, n from generate_series(1, 500) n`,
      ...[delivery?.id, owner.organizationId, product.clock.now()],
    );
    await owner.post(`/dashboard/webhooks/deliveries/${delivery?.id}/replay`);
    await expect.poll(() => got.length, soon).toBe(2);
    await expect.poll(delivered, soon).toBe(true);
    const { attempts } = (await owner.get(`/dashboard/webhooks/deliveries/${delivery?.id}`)).body.data
      .delivery;
    expect(attempts.length).toBeGreaterThan(30);
    expect(attempts.length).toBeLessThanOrEqual(50);
    expect(attempts.at(-1).status).toBe(200);
  });

  it('with ten thousand others says where the rest of the span begins, and all of it is sent in the end', async () => {
    const id = await endpoint((await receiver()).url);
    await owner.patch(path(id), { status: 'paused' });
    await fill(id, 10_150, 'failed', 1);
    const ask = async (since: string) => (await owner.post(`${path(id)}/replay`, { since })).body.data;
    const first = await ask('2020-01-01T00:00:00Z');
    // A hundred of one moment are not torn apart.
    expect(first).toEqual({ replayed: 10_099, next_since: expect.any(String) });
    expect(await ask(first.next_since)).toEqual({ replayed: 51, next_since: null });
    const [left] = await sql<{ n: number }>(
      product,
      `select count(*)::int as n from webhook_deliveries where endpoint_id = $1 and (state <> 'waiting' or begun <> 1)`,
      id,
    );
    expect(left?.n).toBe(0);
  });
});

describe('what is kept', () => {
  it('is what waits, and for thirty days what came to its end', async () => {
    const id = await endpoint((await receiver()).url);
    await owner.patch(path(id), { status: 'paused' });
    await fill(id, 3, 'waiting', 20);
    await product.periodic('webhooks.purge');
    expect((await deliveriesOf(id)).map(({ state }) => state)).toEqual(['waiting', 'waiting', 'waiting']);
    // At a paused endpoint for longer than a month: it is given up, and can be asked for again.
    await sql(product, `update webhook_deliveries set created_at = created_at - interval '11 days'`);
    await product.periodic('webhooks.purge');
    const [given] = await deliveriesOf(id);
    expect(given).toMatchObject({ state: 'failed', next_try_at: null });
    const { body } = await owner.get(`/dashboard/webhooks/deliveries/${given?.id}`);
    expect(body.data.delivery.attempts).toMatchObject([
      { status: null, error: expect.stringMatching('paused') },
    ]);
    await owner.post(`/dashboard/webhooks/deliveries/${given?.id}/replay`);
    await owner.patch(path(id), { status: 'enabled' });
    const states = async () => (await deliveriesOf(id)).map(({ state }) => state).toSorted();
    await expect.poll(states, soon).toEqual(['delivered', 'failed', 'failed']);
    await sql(
      product,
      `update webhook_deliveries set finished_at = finished_at - interval '31 days' where state = 'failed'`,
    );
    await product.periodic('webhooks.purge');
    expect(await states()).toEqual(['delivered']);
  });
});

it('what became of one that cannot be written down holds up no other', { timeout: 60_000 }, async () => {
  const { got, url } = await receiver();
  const id = await endpoint(url);
  await owner.patch(path(id), { status: 'paused' });
  await fill(id, 5, 'waiting', 1);
  const [cursed] = await deliveriesOf(id);
  await sql(
    product,
    `create function refuse_one() returns trigger language plpgsql as $$ begin
       if new.delivery_id = ${cursed?.id} then raise exception 'not this one'; end if; return new; end $$`,
  );
  await sql(
    product,
    'create trigger refuse_one before insert on webhook_attempts for each row execute function refuse_one()',
  );
  await owner.patch(path(id), { status: 'enabled' });
  const waiting = async () =>
    (await deliveriesOf(id)).filter(({ state }) => state === 'waiting').map((each) => each.id);
  await expect.poll(waiting, soon).toEqual([cursed?.id]);
  await pay('3.00');
  await expect.poll(() => got.some(({ body }) => body.includes('3.00')), soon).toBe(true);
  const sent = got.filter(({ headers }) => headers['webhook-id'] === `msg_${cursed?.id}`);
  expect(sent).toHaveLength(1);
  await sql(product, 'drop trigger refuse_one on webhook_attempts');
});

it('three organizations with slow receivers hold up no fourth', { timeout: 60_000 }, async () => {
  const slow = await receiver(() => null);
  const good = await receiver();
  const theirs = await Promise.all([1, 2, 3].map(() => newCustomer(product)));
  for (const each of theirs) for (let nth = 0; nth < 6; nth += 1) await endpoint(slow.url, each);
  await endpoint(good.url);
  const many = Array.from({ length: 100 }, (_, nth) => `${nth}`);
  for (const each of theirs) await pay(many, each);
  await expect.poll(() => slow.got.length, soon).toBeGreaterThan(50);
  const began = performance.now();
  await pay(many);
  await expect.poll(() => good.got.length, { timeout: 9_000, interval: 20 }).toBe(100);
  expect(performance.now() - began).toBeLessThan(4_000);
});
