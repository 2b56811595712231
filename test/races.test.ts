import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Response } from './client.ts';
import { audit } from './crash/audit.ts';
import { orderVps, runningVps, vpsCart } from './orders.ts';
import { newCustomer, type Person } from './people.ts';
import { startTestProduct, type TestProduct } from './product.ts';
import { newServerProduct, newServers, serverCart } from './rack/stock.ts';
import { settled, sql } from './sql.ts';

let product: TestProduct;
let people: Person[];
beforeAll(async () => {
  product = await startTestProduct({ env: { NETWORK4: '10.80.0.0/22' } });
  people = [];
  for (let index = 0; index < 20; index += 1)
    people.push(await newCustomer(product, { creditMinor: 100_000 }));
});
afterAll(async () => {
  await settled(product);
  expect(await audit(product.databaseUrl)).toEqual([]);
  await product.stop();
});

/** So many at once, by many organizations, each repeated while the product says that these are too many. */
function atOnce(times: number, ask: (index: number) => Promise<Response>): Promise<Response[]> {
  return Promise.all(
    Array.from({ length: times }, async (_, index) => {
      for (;;) {
        const answer = await ask(index);
        if (answer.status !== 503 && answer.status !== 429) return answer;
        expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
        await sleep(200);
      }
    }),
  );
}

function person(index: number): Person {
  const found = people[index % people.length];
  if (!found) throw new Error('nobody is there');
  return found;
}

function count(answers: Response[], what: number | string): number {
  return answers.filter(({ status, body }) => status === what || body?.code === what).length;
}

async function setStock(stock: number | null): Promise<void> {
  await product.staff.patch(`/staff/products/${product.demo.products.vps}`, { stock });
}

describe('at once', { timeout: 120_000 }, () => {
  it('200 checkouts against a stock of 23 sell exactly 23', async () => {
    await setStock(23);
    const cart = vpsCart(product.demo);
    const answers = await atOnce(200, (index) => person(index).post('/cart/checkout/invoice', cart));
    expect(count(answers, 200)).toBe(23);
    expect(count(answers, 'insufficient_stock')).toBe(177);
    const listed = await product.nobody.get(`/products/${product.demo.products.vps}`);
    expect(listed.body.data.product.stock).toBe(0);
    await setStock(null);
  });

  it('200 checkouts sell exactly the servers that are in stock, each once, while staff takes some of them out', async () => {
    const productId = await newServerProduct(product);
    const { serverIds } = await newServers(product, productId, 17);
    const [cart, aside] = [serverCart(productId, { option4: 0 }), serverIds.slice(3, 7)];
    const [answers] = await Promise.all([
      atOnce(200, (index) => person(index).post('/cart/checkout/invoice', cart)),
      ...aside.map((id) => product.staff.post(`/staff/servers/${id}/quarantine`, { reason: 'a test' })),
    ]);
    const states = await sql<{ state: string; servers: number; services: number }>(
      product,
      `select state, count(*)::int as servers, count(distinct service_id)::int as services from servers
       where id = any($1) group by state order by state`,
      serverIds,
    );
    const taken = states.find(({ state }) => state === 'quarantined')?.servers ?? 0;
    expect(states.find(({ state }) => state === 'held')).toEqual({
      ...{ state: 'held', servers: 17 - taken, services: 17 - taken },
    });
    expect([count(answers, 200), count(answers, 'insufficient_stock')]).toEqual([17 - taken, 183 + taken]);
  });

  it('200 checkouts with a coupon of 17 uses get it exactly 17 times', async () => {
    await sql(
      product,
      `insert into coupons (code, percent, max_uses, created_at) values ('SEVENTEEN', 10, 17, now())`,
    );
    const cart = { ...vpsCart(product.demo), couponcode: 'seventeen' };
    const answers = await atOnce(200, (index) => person(index).post('/cart/checkout/invoice', cart));
    expect(count(answers, 200)).toBe(17);
    expect(count(answers, 'invalid_coupon')).toBe(183);
    expect(await sql(product, `select uses from coupons where code = 'SEVENTEEN'`)).toEqual([{ uses: 17 }]);
  });

  it('credit for one order pays one of ten orders, each paid five times', async () => {
    const poor = await newCustomer(product, { creditMinor: 1_700 });
    const orders = await Promise.all(Array.from({ length: 10 }, () => orderVps(product, poor)));
    const answers = await atOnce(50, (index) =>
      poor.post(`/dashboard/invoices/${orders[index % 10]?.invoiceId}/pay`, { method: 'credit' }),
    );
    const total = Number((await poor.get('/dashboard/invoices')).body.data.invoices[0].total);
    const affordable = Math.floor(17 / total);
    expect(count(answers, 200)).toBe(affordable);
    expect(count(answers, 'insufficient_credit') + count(answers, 'invoice_not_payable')).toBe(
      50 - affordable,
    );
    const { credit_balance: left } = (await poor.get('/dashboard/invoices')).body.data;
    expect(Number(left)).toBeCloseTo(17 - affordable * total, 2);
  });

  it('the same request 50 times with one Idempotency-Key has one effect and one answer', async () => {
    const who = await newCustomer(product, { creditMinor: 5_000 });
    const key = { 'idempotency-key': randomUUID() };
    const once = async (path: string, body: object): Promise<Set<string>> => {
      const answers = await Promise.all(
        Array.from({ length: 50 }, async () => {
          for (;;) {
            const answer = await who.post(path, body, key);
            if (answer.status === 200) return JSON.stringify(answer.body);
            expect([409, 429, 503]).toContain(answer.status);
            expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
            await sleep(50);
          }
        }),
      );
      return new Set(answers);
    };
    const checkout = await once('/cart/checkout/invoice', vpsCart(product.demo));
    expect(checkout.size).toBe(1);
    const invoices = (await who.get('/dashboard/invoices')).body.data.invoices;
    expect(invoices).toHaveLength(1);
    const pay = await once(`/dashboard/invoices/${invoices[0].id}/pay`, { method: 'credit' });
    expect(pay.size).toBe(1);
    expect((await who.get(`/dashboard/invoices/${invoices[0].id}`)).body.data.invoice.payments).toHaveLength(
      1,
    );
  });

  it('many power actions on one machine are one action', async () => {
    const { serviceId } = await runningVps(product, person(0));
    const commands = ['stop', 'restart', 'restart'];
    const answers = await atOnce(30, (index) =>
      person(0).post(`/dashboard/service/${serviceId}/vps/${commands[index % 3]}`),
    );
    const begun = count(answers, 200);
    const { actions } = (await person(0).get(`/dashboard/service/${serviceId}/vps/history`)).body.data;
    // The machine is a simulated one, so an action may end while others still come in; each was alone.
    expect(actions.filter((action: { command: string }) => action.command !== 'create')).toHaveLength(begun);
    expect(begun).toBeLessThan(30);
    expect(count(answers, 'locked') + count(answers, 'action_not_allowed')).toBe(30 - begun);
    const overlapping = await sql(
      product,
      `select a.id from vps_actions a join vps_actions b on b.service_id = a.service_id and b.id > a.id
       where tstzrange(a.created_at, a.finished_at) && tstzrange(b.created_at, b.finished_at)`,
    );
    expect(overlapping).toEqual([]);
  });

  it('credit and a bank transfer pay an invoice once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { invoiceId } = await orderVps(product, person(round));
      const { total } = (await person(round).get(`/dashboard/invoices/${invoiceId}`)).body.data.invoice;
      const transfer = { amount: total, reference: `race ${invoiceId}` };
      const answers = await atOnce(10, (index) =>
        index % 2 === 0
          ? person(round).post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' })
          : product.staff.post(`/staff/invoices/${invoiceId}/payments`, transfer),
      );
      expect(count(answers, 200)).toBe(1);
      expect(count(answers, 'invoice_not_payable')).toBe(9);
    }
  });

  it('the last addresses of a location go to as many orders as there are', async () => {
    const free = async () =>
      (await sql<{ n: number }>(product, `select count(*)::int as n from addresses where state = 'free'`))[0]
        ?.n ?? 0;
    await sql(
      product,
      `update addresses set state = 'resting', rests_until = now() + interval '1 day' where state = 'free'
         and address not in (select address from addresses where state = 'free' limit 7)`,
    );
    expect(await free()).toBe(7);
    const answers = await atOnce(40, (index) =>
      person(index).post('/cart/checkout/invoice', vpsCart(product.demo)),
    );
    expect(count(answers, 200)).toBe(7);
    expect(count(answers, 'insufficient_stock')).toBe(33);
    expect(await free()).toBe(0);
  });
});
