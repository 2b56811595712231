import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { type Client, openBody } from './clients.ts';
import { samplesFor, type Watch } from './watch.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

it('who watches a machine that has stood still for an hour has nobody read an hour of it, or of others', async () => {
  const { ctx, clock } = product;
  const asked: { id: number; agoMs: number }[][] = [];
  const watch: Watch = {
    ...{ kind: 'vps', event: 'vps.sample', permission: 'vps.read', require: async () => undefined },
    everyMs: 1_000,
    since: async (_, watched) => {
      const now = clock.now().getTime();
      asked.push(watched.map(({ id, since }) => ({ id, agoMs: now - since.getTime() })));
      const time = new Date(now - 5_000);
      return asked.length === 1 ? [{ id: 1, organizationId: 7, time, sample: {} }] : [];
    },
  };
  const client = (id: number): Client => ({
    ...{ organizationId: 7, userId: 7, body: openBody(() => undefined), after: 0, beat: 0 },
    stream: { ctx, revalidate: async () => null } as unknown as Client['stream'],
    hears: () => 'nothing',
    ...{ watching: { kind: 'vps', id }, isLive: true, unreadBytes: 0 },
  });
  const stop = samplesFor(ctx, [watch], new Set([client(1), client(2)]));
  await expect.poll(() => asked.length).toBe(1);
  clock.travel(3_600_000);
  await expect.poll(() => asked.length).toBe(2);
  stop();
  expect(asked[1]?.map(({ id }) => id)).toEqual([1, 2]);
  for (const { agoMs } of asked[1] ?? []) expect(agoMs).toBeLessThanOrEqual(60_000);
});
