import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { rentedServer } from '../../../test/rack/metered.ts';
import { sql } from '../../../test/sql.ts';
import { partOf, transaction } from '../../platform/index.ts';
import { countTraffic } from './count.ts';
import { readPercentilesOf, readTrafficOf } from './read.ts';
import { resolutionNames, resolutions, spentTrafficParts, trafficParts } from './resolutions.ts';

let product: TestProduct;
let serviceId: number;
beforeAll(async () => {
  product = await startTestProduct({ startsAt: new Date('2026-03-10T12:00:00Z') });
  const customer = await newCustomer(product, { creditMinor: 10_000_000 });
  ({ id: serviceId } = await rentedServer(product, customer));
});
afterAll(() => product.stop());

const slotMs = 300_000;
const began = Date.parse('2026-02-28T21:58:31.500Z');

interface Reading {
  afterMs: number;
  received: bigint;
  sent: bigint;
}
const readings = fc.array(
  fc.record({
    afterMs: fc.integer({ min: 1, max: 4 * 3_600_000 }),
    received: fc.bigInt({ min: 0n, max: 10n ** 13n }),
    sent: fc.bigInt({ min: 0n, max: 10n ** 6n }),
  }),
  { minLength: 1, maxLength: 10 },
);

/** Bytes by the interval in which they came: whole ones, of a mean rate between two readings. */
function model(all: readonly Reading[], what: 'received' | 'sent', keyOf: (ms: number) => number) {
  const found = new Map<number, bigint>();
  let from = began;
  for (const reading of all) {
    const until = from + reading.afterMs;
    const share = (ms: number) =>
      (reading[what] * BigInt(Math.min(Math.max(ms, from), until) - from)) / BigInt(reading.afterMs);
    for (let slot = Math.floor(from / slotMs) * slotMs; slot < until; slot += slotMs) {
      const key = keyOf(slot);
      found.set(key, (found.get(key) ?? 0n) + share(slot + slotMs) - share(slot));
    }
    from = until;
  }
  return found;
}

async function count(all: readonly Reading[]): Promise<void> {
  await sql(product, 'delete from server_traffic');
  await sql(product, 'delete from server_traffic_months');
  let at = began;
  for (const { afterMs, received: receivedBytes, sent: sentBytes } of all) {
    const since = new Date(at);
    at += afterMs;
    await transaction(product.ctx, 'test.count', (tx) =>
      countTraffic(tx, [{ serviceId, since, receivedBytes, sentBytes }], new Date(at)),
    );
  }
}

describe('what ports carry', () => {
  it('is in each kind of interval to the byte, and so is its 95th percentile', async () => {
    await fc.assert(
      fc.asyncProperty(readings, async (all) => {
        await count(all);
        for (const name of resolutionNames) {
          const { intervalS } = resolutions[name];
          const rows = await sql<{ at: number; received: string; sent: string; part: number }>(
            product,
            `select extract(epoch from time)::float8 * 1000 as at, received_bytes::text as received, sent_bytes::text as sent, part
             from server_traffic where interval_s = $1`,
            intervalS,
          );
          const keyOf = (ms: number) => Math.floor(ms / intervalS / 1_000) * intervalS * 1_000;
          expect(new Map(rows.map(({ at, received }) => [at, BigInt(received)]))).toEqual(
            model(all, 'received', keyOf),
          );
          expect(new Map(rows.map(({ at, sent }) => [at, BigInt(sent)]))).toEqual(model(all, 'sent', keyOf));
          for (const { at, part } of rows) expect(part).toBe(partOf(trafficParts(name), new Date(at)));
        }
        for (const month of ['2026-02', '2026-03']) {
          const isIn = (slot: number) => new Date(slot).toISOString().startsWith(month);
          const slots = [...model(all, 'received', (ms) => ms)].filter(([slot]) => isIn(slot));
          const sorted = slots.map(([, bytes]) => Number(bytes)).sort((a, b) => a - b);
          const { receivedBytes } = await readTrafficOf(product.ctx, serviceId, month);
          expect(receivedBytes).toBe(sorted.reduce((sum, bytes) => sum + bytes, 0));
          // A twentieth of the intervals, rounded down, has more than this.
          const at = sorted[sorted.length - 1 - Math.floor(sorted.length / 20)];
          const { receivedMbps } = await readPercentilesOf(product.ctx, serviceId, month);
          if (at === undefined) expect(receivedMbps).toBeNull();
          else expect(receivedMbps).toBeCloseTo((at * 8) / 300 / 1e6, 6);
        }
      }),
      { numRuns: 25 },
    );
  });

  it('of longer than a day between two readings has no intervals of five minutes, and all of it counts', async () => {
    await count([{ afterMs: 3 * 86_400_000, received: 300_000n, sent: 5n }]);
    const rows = await sql<{ interval_s: number; received: number }>(
      product,
      'select interval_s, sum(received_bytes)::int as received from server_traffic group by 1 order by 1',
    );
    expect(rows).toEqual([
      { interval_s: 3_600, received: 300_000 },
      { interval_s: 86_400, received: 300_000 },
    ]);
    const months = await Promise.all(
      ['2026-02', '2026-03'].map((month) => readTrafficOf(product.ctx, serviceId, month)),
    );
    expect(months.reduce((sum, { receivedBytes }) => sum + receivedBytes, 0)).toBe(300_000);
  });

  it('goes a part at once when it is kept no longer, and nothing of it before', async () => {
    await count([{ afterMs: 3_600_000, received: 300_000n, sent: 5n }]);
    const left = async () =>
      (
        await sql<{ interval_s: number }>(
          product,
          'select distinct interval_s from server_traffic order by interval_s',
        )
      ).map(({ interval_s: seconds }) => seconds);
    await product.periodic('fleet.emptyTraffic');
    expect(await left()).toEqual([300, 3_600, 86_400]);
    product.clock.travel(120 * 86_400_000);
    await product.periodic('fleet.emptyTraffic');
    expect(await left()).toEqual([3_600, 86_400]);
    for (let nth = 0; nth < 2; nth += 1) {
      product.clock.travel(90 * 86_400_000);
      await product.periodic('fleet.emptyTraffic');
    }
    expect(await left()).toEqual([86_400]);
    expect((await readTrafficOf(product.ctx, serviceId, '2026-02')).sentBytes).toBeGreaterThan(0);
  });

  it('is kept as long as it is asked for, wherever in its part it stands', () => {
    fc.assert(
      fc.property(fc.constantFrom(...resolutionNames), fc.nat(2_000_000_000), fc.nat(), (name, atS, agoS) => {
        const now = new Date(atS * 1_000);
        const then = new Date(now.getTime() - (agoS % (resolutions[name].keepS + 1)) * 1_000);
        expect(spentTrafficParts(name, now)).not.toContain(partOf(trafficParts(name), then));
      }),
    );
  });
});
