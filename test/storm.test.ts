/** One customer who sends all that the limits allow, and what the others notice of it. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Response } from './client.ts';
import { vpsCart } from './orders.ts';
import { newCustomer, type Person } from './people.ts';
import { startTestProduct, type TestProduct } from './product.ts';

let product: TestProduct;
let greedy: Person;
let other: Person;
beforeAll(async () => {
  product = await startTestProduct({
    env: { NETWORK4: '10.84.0.0/19', DATABASE_POOL_SIZE: '6' },
    simulator: {
      capacity: { cpuCores: 9_000, memoryMib: 40_000_000, diskGib: 400_000, acceleration: 'none' },
    },
  });
  greedy = await newCustomer(product, { creditMinor: 1_000 });
  other = await newCustomer(product, { creditMinor: 1_000 });
});
afterAll(() => product.stop());

it('sixty orders of fifty machines by one make nobody else fail', { timeout: 120_000 }, async () => {
  const [machine] = vpsCart(product.demo).products;
  const large = { products: Array(50).fill(machine) };
  let isOver = false;
  let lastedMs = 0;
  const began = performance.now();
  const storm = Promise.all(
    Array.from({ length: 60 }, () => greedy.post('/cart/checkout/invoice', large)),
  ).finally(() => {
    isOver = true;
    lastedMs = performance.now() - began;
  });

  const noticed: Response[] = [];
  let slowestMs = 0;
  while (!isOver || noticed.length < 20) {
    const since = performance.now();
    noticed.push(await other.get('/dashboard/invoices'));
    if (noticed.length % 4 === 0)
      noticed.push(await other.post('/cart/checkout/invoice', vpsCart(product.demo)));
    slowestMs = Math.max(slowestMs, performance.now() - since);
  }
  const answers = await storm;
  expect(noticed.filter(({ status }) => status !== 200)).toEqual([]);
  for (const { status, body } of answers.filter((answer) => answer.status !== 200)) {
    expect([status, body.code]).toEqual([429, 'rate_limited']);
    expect(body.message).toMatch(/send fewer together/);
  }
  // On a busy machine all of it takes longer.
  expect(slowestMs).toBeLessThan(Math.max(3_000, lastedMs / 2));
});

/** In a line with all of the storm, one is answered when it is over. How many more there are depends on how fast the machine is. */
const few = 2;

/** How many requests of another customer are answered, one after another, while a storm goes on. */
async function answeredDuring(storm: Promise<unknown>): Promise<number> {
  let isOver = false;
  let answered = 0;
  const watched = storm.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    expect((await other.get('/dashboard/invoices')).status).toBe(200);
    if (!isOver) answered += 1;
  }
  await watched;
  return answered;
}

it('two hundred lists that one asks for at once keep nobody waiting for all of them', {
  timeout: 120_000,
}, async () => {
  const storm = Promise.all(
    Array.from({ length: 200 }, async () => {
      const { status, body } = await greedy.get('/dashboard/services?limit=100');
      return [status, body.code];
    }),
  );
  expect(await answeredDuring(storm)).toBeGreaterThan(few);
  for (const answer of await storm)
    expect([
      [200, undefined],
      [429, 'rate_limited'],
    ]).toContainEqual(answer);
});

it('two hundred carts of a stranger, asked about at once, keep nobody waiting for all of them', {
  timeout: 120_000,
}, async () => {
  const [machine] = vpsCart(product.demo).products;
  const body = JSON.stringify({ products: Array(50).fill(machine) });
  const headers = { 'content-type': 'application/json' };
  const storm = Promise.all(
    Array.from({ length: 200 }, async () => {
      const answer = await fetch(`${product.url}/api/cart/quote`, { method: 'POST', headers, body });
      await answer.arrayBuffer();
      return answer.status;
    }),
  );
  expect(await answeredDuring(storm)).toBeGreaterThan(few);
  for (const status of await storm) expect([200, 429]).toContain(status);
});
