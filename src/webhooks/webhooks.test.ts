import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, newMember, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { settled, sql } from '../../test/sql.ts';
import { recordPaid } from '../events/stream/testbed.ts';
import { createPoster } from './post.ts';
import { pauseAfter } from './schedule.ts';
import { mayReach } from './target.ts';
import { type Received, receivers } from './testbed.ts';

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

async function endpoint(url: string, more: object = {}): Promise<{ id: number; secret: string }> {
  const { status, body } = await owner.post('/dashboard/webhooks', { url, ...more });
  expect(status, JSON.stringify(body)).toBe(200);
  return { id: body.data.webhook.id, secret: body.data.secret };
}

const pay = (total: string | string[]) => recordPaid(product, owner.organizationId, { total });
const soon = { timeout: 15_000, interval: 20 };
const totals = (got: Received[]) => got.map(({ body }) => JSON.parse(body).data.total);
const path = (id: number) => `/dashboard/webhooks/${id}`;
const deliveriesOf = async (id: number) =>
  (await owner.get(`${path(id)}/deliveries?limit=100`)).body.data.deliveries;

describe('a webhook', () => {
  it('brings each event once, signed by Standard Webhooks, and is kept with what came back', async () => {
    const { got, url } = await receiver();
    await pay('0.50'); // before there was an endpoint
    const { id, secret } = await endpoint(url);
    await pay(['1.00', '2.00']);
    await recordPaid(product, (await newCustomer(product)).organizationId, { total: '9.99' });
    await expect.poll(() => totals(got).toSorted(), soon).toEqual(['1.00', '2.00']);
    for (const { body, headers } of got) {
      new Webhook(secret).verify(body, headers as Record<string, string>);
      expect(Object.keys(JSON.parse(body))).toEqual(['type', 'timestamp', 'data']);
    }
    expect(JSON.parse(got[0]?.body ?? '')).toMatchObject({
      type: 'invoice.paid',
      data: { subject: { id: 7 } },
    });
    await expect.poll(async () => (await deliveriesOf(id))[1]?.state, soon).toBe('delivered');
    const [delivery] = await deliveriesOf(id);
    const { body } = await owner.get(`/dashboard/webhooks/deliveries/${delivery.id}`);
    expect(body.data.delivery).toMatchObject({
      ...{ state: 'delivered', tries: 1, request: { url, body: expect.stringContaining('invoice.paid') } },
      attempts: [{ status: 200, error: null, answer: 'thanks' }],
    });
    expect(got.map(({ headers }) => headers['webhook-id'])).toContain(delivery.message_id);
    const [row] = await sql<{ plain: boolean }>(
      product,
      `select position($1::bytea in secret) > 0 as plain from webhook_endpoints`,
      secret,
    );
    expect(row?.plain).toBe(false);
  });

  it('gets what it has chosen, and no event that is not for customers can be', async () => {
    const { got, url } = await receiver();
    await endpoint(url, { events: ['invoice.refunded'] });
    const { id } = await endpoint(url, { events: ['invoice.paid'] });
    await pay('3.00');
    await expect.poll(() => got.length, soon).toBe(1);
    expect((await deliveriesOf(id)).length).toBe(1);
    for (const events of [['api_key.created'], ['nothing.such'], []])
      expect((await owner.post('/dashboard/webhooks', { url, events })).status).toBe(400);
  });

  it('is signed with both secrets for a day after a rotation', async () => {
    const { got, url } = await receiver();
    const { id, secret } = await endpoint(url);
    const rotated = (await owner.post(`${path(id)}/rotate-secret`)).body.data.secret;
    await owner.post(`${path(id)}/test`);
    await expect.poll(() => got.length, soon).toBe(1);
    const [{ body, headers } = { body: '', headers: {} }] = got;
    for (const each of [secret, rotated]) new Webhook(each).verify(body, headers as Record<string, string>);
    expect(JSON.parse(body).type).toBe('webhook.test');
  });

  it('is tried again with the same id while its receiver is down: nothing is lost', async () => {
    let isDown = true;
    const { got, url } = await receiver(() => (isDown ? 503 : 200));
    const { id } = await endpoint(url);
    await pay(['4.00', '4.01', '4.02']);
    await expect.poll(async () => (await deliveriesOf(id))[0]?.tries, soon).toBe(1);
    for (let minutes = 0; minutes < 10; minutes += 1) product.clock.travel(60_000);
    isDown = false;
    const took = got.length;
    product.clock.travel(120_000);
    const states = async () => (await deliveriesOf(id)).map(({ state }: { state: string }) => state);
    const next = async () => {
      product.clock.travel(300_000);
      return [...new Set(await states())];
    };
    await expect.poll(next, { timeout: 20_000, interval: 500 }).toEqual(['delivered']);
    expect(new Set(totals(got.slice(took)))).toEqual(new Set(['4.00', '4.01', '4.02']));
    const ids = Map.groupBy(got, ({ body }) => JSON.parse(body).data.total as string);
    for (const tries of ids.values())
      expect(new Set(tries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('is paused after a day without success, who may see it is told once, and all is sent once it is enabled', async () => {
    let isDown = true;
    const { got, url } = await receiver(() => (isDown ? 500 : 200));
    const admin = await newMember(product, owner.organizationId, 'admin');
    const [maker, billing] = [
      await newMember(product, owner.organizationId, 'admin'),
      await newMember(product, owner.organizationId, 'billing'),
    ];
    const made = await maker.post('/dashboard/webhooks', { url });
    const id = made.body.data.webhook.id;
    await owner.delete(`/dashboard/organizations/${owner.organizationId}/members/${maker.userId}`);
    await pay('5.00');
    const state = async () => {
      product.clock.travel(3 * 3_600_000);
      return (await owner.get(path(id))).body.data.webhook.status;
    };
    await expect.poll(state, { timeout: 40_000, interval: 400 }).toBe('paused');
    await settled(product);
    const mails = await sql<{ recipient: string }>(
      product,
      `select recipient from mails where template = 'webhook.paused' and organization_id = $1 order by recipient`,
      owner.organizationId,
    );
    expect(mails.map(({ recipient }) => recipient)).toEqual([owner.email, admin.email].toSorted());
    expect(billing.email).not.toBe(owner.email);
    await pay('5.01');
    isDown = false;
    const before = got.length;
    await owner.patch(path(id), { status: 'enabled' });
    product.clock.travel(48 * 3_600_000);
    const paid = () => totals(got.slice(before)).filter((total) => total !== undefined);
    await expect.poll(() => paid().toSorted(), soon).toEqual(['5.00', '5.01']);
  });

  it('is sent again when asked for, one or a span, with the same id', async () => {
    const { got, url } = await receiver();
    const { id } = await endpoint(url);
    await pay(['6.00', '6.01']);
    const done = async () =>
      (await deliveriesOf(id)).filter((each: { state: string }) => each.state === 'delivered');
    await expect.poll(async () => (await done()).length, soon).toBe(2);
    await owner.post(`/dashboard/webhooks/deliveries/${(await done())[0].id}/replay`);
    await expect.poll(() => got.length, soon).toBe(3);
    await expect.poll(async () => (await done()).length, soon).toBe(2);
    const span = { since: '2020-01-01T00:00:00Z', state: 'all' };
    expect((await owner.post(`${path(id)}/replay`, span)).body.data).toEqual({
      replayed: 2,
      next_since: null,
    });
    await expect.poll(() => got.length, soon).toBe(5);
    expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
  });

  it('that never answers holds up nobody else, not even the same organization', async () => {
    const dead = await receiver(() => null);
    const other = await receiver();
    await endpoint(dead.url);
    await endpoint(other.url);
    await pay(Array.from({ length: 100 }, (_, nth) => `${nth}`));
    await expect.poll(() => other.got.length, { timeout: 9_000 }).toBe(100);
    expect(dead.got.length).toBeLessThanOrEqual(32);
  });

  it('follows no redirect', async () => {
    const { got, url } = await receiver(() => 302);
    const { id } = await endpoint(url);
    await owner.post(`${path(id)}/test`);
    await expect.poll(async () => (await deliveriesOf(id))[0]?.tries, soon).toBe(1);
    expect(got).toHaveLength(1);
  });

  it('is for owners and administrators', async () => {
    const technical = await newMember(product, owner.organizationId, 'technical');
    expect((await technical.get('/dashboard/webhooks')).status).toBe(403);
  });
});

it.each([
  ...['https://10.0.0.1/', 'https://169.254.169.254/latest', 'https://[::1]/', 'https://[::ffff:10.0.0.1]/'],
  ...[
    'https://0x7f000001/',
    'https://2130706433/',
    'https://127.1/',
    'https://0177.0.0.1/',
    'https://[fc00::1]/',
  ],
  ...['https://user:pw@example.com/', 'https://localhost/', 'https://x.localhost/', 'https://example.com./'],
  ...['https://exa\tmple.com/', 'https://example.com\\@10.0.0.1/', 'ftp://example.com/', 'https://intranet/'],
  ...[
    'https://224.0.0.1/',
    'https://100.64.0.1/',
    'https://[64:ff9b::a00:1]/',
    'https://EXAMPLE.com/',
    'https://8.8.8.8:22/',
  ],
])('the address %s is refused, and nothing is made', async (url) => {
  const { status, body } = await owner.post('/dashboard/webhooks', { url });
  expect([status, body.code]).toEqual([400, 'invalid_request']);
  expect((await owner.get('/dashboard/webhooks')).body.data.total).toBe(0);
});

const to = (url: string) => ({ url, organizationId: 7 });

describe('what a name leads to', () => {
  it('is judged for each delivery, all of it, and the connection goes to what was judged', async () => {
    const [right, wrong] = [await receiver(() => 200, '127.0.0.2'), await receiver()];
    const port = new URL(right.url).port;
    let asked = 0;
    const rebinding = async () => {
      asked += 1;
      return [{ address: asked === 1 ? '127.0.0.2' : '127.0.0.1', family: 4 }];
    };
    const poster = createPoster(['127.0.0.2'], rebinding);
    expect(await poster.post(to(`http://rebind.example:${port}/`), {}, '{}')).toMatchObject({ status: 200 });
    expect([asked, right.got.length, wrong.got.length]).toEqual([1, 1, 0]);
    expect(await poster.post(to(`http://rebind.example:${port}/`), {}, '{}')).toMatchObject({ status: null });
    expect([right.got.length, wrong.got.length]).toEqual([1, 0]);
    await poster.close();
    const both = createPoster(['127.0.0.2'], async () => [
      { address: '127.0.0.2', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ]);
    expect((await both.post(to(`http://both.example:${port}/`), {}, '{}')).error).toMatch('public');
    await both.close();
  });

  it('is tried one address after the other, and nothing is sent to those that were not reached', async () => {
    const { got, url } = await receiver(() => 200, '127.0.0.4');
    const found = ['127.0.0.3', '127.0.0.4', '127.0.0.5'].map((address) => ({ address, family: 4 }));
    const poster = createPoster(['127.0.0.0/29'], async () => found);
    const answered = await poster.post(to(`http://some.example:${new URL(url).port}/`), {}, '{}');
    expect(answered).toMatchObject({ status: 200, error: null });
    expect(got).toHaveLength(1);
    const refused = await poster.post(to('http://none.example:9/'), {}, '{}');
    expect(refused).toMatchObject({ status: null, error: 'Nobody listens there' });
    await poster.close();
  });

  it('is never an address that is private, special or carries another one', () => {
    const url = new URL('https://hooks.example.com/');
    for (const address of [
      ...['10.1.2.3', '127.0.0.1', '169.254.169.254', '192.168.0.1', '172.16.0.1', '100.64.0.1', '0.0.0.0'],
      ...[
        '224.0.0.1',
        '255.255.255.255',
        '::',
        '::1',
        'fe80::1',
        'fd00:ec2::254',
        'ff02::1',
        '::ffff:8.8.8.8',
      ],
      ...['64:ff9b::8.8.8.8', '2002:a00:1::', '2001::1', 'fec0::1', '2001:db8::1', 'nonsense'],
    ])
      expect(mayReach(url, address, []), address).toBe(false);
    for (const address of ['8.8.8.8', '2606:4700:4700::1111']) expect(mayReach(url, address, [])).toBe(true);
    expect(mayReach(new URL('http://hooks.example.com/'), '8.8.8.8', ['10.0.0.0/8'])).toBe(false);
    expect(mayReach(new URL('http://hooks.example.com:81/'), '10.1.1.1', ['10.0.0.0/8'])).toBe(true);
  });
});

it('tries begin again after five seconds, and end within three days', () => {
  const pauses = Array.from({ length: 11 }, (_, nth) => pauseAfter(nth + 1, () => 0));
  expect(pauses[0]).toBe(5_000);
  expect(pauses.at(-1)).toBeNull();
  const whole = (random: number) =>
    Array.from({ length: 10 }, (_, nth) => pauseAfter(nth + 1, () => random) ?? 0).reduce((a, b) => a + b);
  expect([whole(0), whole(1)].map((ms) => Math.round(ms / 86_400_000))).toEqual([3, 3]);
});
