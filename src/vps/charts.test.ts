import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runningVps } from '../../test/orders.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import type { MachineSample } from '../drivers/hypervisor/index.ts';
import { createSampler, rateBetween } from './charts.ts';

let product: TestProduct;
let id: number;

beforeAll(async () => {
  product = await startTestProduct();
  ({ serviceId: id } = await runningVps(product, product.customer));
});
afterAll(() => product.stop());

function sampleAt(at: Date, startedAt: Date, total: number): MachineSample {
  return {
    id: `vps-${id}`,
    at,
    startedAt,
    cpuMs: Math.round(total * 500),
    memoryUsedBytes: 100_000_000,
    memoryTotalBytes: 1_073_741_824,
    diskReadBytes: Math.round(total * 1_000),
    diskWrittenBytes: Math.round(total * 2_000),
    netInBytes: Math.round(total * 3_000),
    netOutBytes: Math.round(total * 4_000),
  };
}

const points = async (period: string) =>
  (await product.customer.get(`/dashboard/service/${id}/vps/charts?period=${period}`)).body.data.points;

describe('charts', () => {
  it('turn counters into rates, keep every resolution, and stay bounded', async () => {
    const started = product.clock.now();
    // By the clock, which goes on while a sample is taken: longer on a machine that has other work.
    const sampler = createSampler(
      product.ctx,
      () => [1],
      async () => {
        const now = product.clock.now();
        return [sampleAt(now, started, (now.getTime() - started.getTime()) / 1_000)];
      },
    );
    for (let turn = 0; turn < 400; turn += 1) {
      await sampler();
      if (turn % 30 === 0) await product.periodic('vps.charts');
      product.clock.travel(10_000);
    }
    await product.periodic('vps.charts');
    const hour = await points('hour');
    expect(hour.length).toBeGreaterThan(350);
    expect(hour.length).toBeLessThanOrEqual(361);
    expect(hour.at(-1).cpu).toBeCloseTo(50, 0); // half a second of processor time each second, on one core
    expect(hour.at(-1).netin).toBeCloseTo(3_000, -1);
    const day = await points('day');
    expect(day.length).toBeGreaterThanOrEqual(12);
    expect(day.at(-2).netout).toBeCloseTo(4_000, -1);
    expect((await points('year')).length).toBeGreaterThanOrEqual(1);
    const overview = await product.customer.get(`/dashboard/service/${id}/vps/overview`);
    expect(overview.body.data.vps.traffic.used_gb).toBeGreaterThan(0.02);
    // The last hour in steps, of which the last one may have just begun.
    const { interval_s, cpu_percent, memory_used_mb } = overview.body.data.vps.recent;
    expect([interval_s, cpu_percent.length, memory_used_mb.length]).toEqual([120, 30, 30]);
    for (const percent of cpu_percent.slice(2, 29)) expect(percent).toBeCloseTo(50, 0);
    expect(memory_used_mb.slice(2, 29)).toEqual(Array(27).fill(95));
  });

  it('are the same however often they are rolled up', async () => {
    const before = await points('day');
    await product.periodic('vps.charts');
    expect(await points('day')).toEqual(before);
  });

  it('never show a negative rate, whatever counters do, and none over a restart', () => {
    const counter = fc.nat(2 ** 40);
    fc.assert(
      fc.property(
        counter,
        counter,
        fc.integer({ min: 1, max: 100_000 }),
        fc.boolean(),
        (a, b, ms, restarted) => {
          const start = new Date(0);
          const before = sampleAt(new Date(1_000), start, a);
          const now = sampleAt(new Date(1_000 + ms), restarted ? new Date(500) : start, b);
          const rate = rateBetween(before, now, 2);
          if (restarted) expect(rate).toBeNull();
          else for (const value of Object.values(rate ?? {})) expect(value).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });
});
