import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runningVps } from '../../test/orders.ts';
import { putPoints } from '../../test/points.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { sql } from '../../test/sql.ts';
import type { MachineSample } from '../drivers/hypervisor/index.ts';
import { partOf } from '../platform/index.ts';
import {
  aheadMs,
  chartParts,
  chartPartsInSql,
  chartPartsSince,
  partInSql,
  periods,
  resolutions,
  spentChartParts,
} from './chartParts.ts';
import { createSampler } from './charts.ts';

const machines = 1_000;
const first = 8_000_000;
const minuteMs = 60_000;

let product: TestProduct;
let id: number;
let organizationId: number;

beforeAll(async () => {
  product = await startTestProduct({ startsAt: new Date('2026-03-02T12:34:56Z') });
  organizationId = product.demo.customer.organization_id;
  ({ serviceId: id } = await runningVps(product, product.customer));
  await sql(
    product,
    `with sold as (insert into services select (jsonb_populate_record(s, jsonb_build_object('id', $2::bigint + n, 'position', 100 + n))).*
       from services s, generate_series(1, $3::int) n where s.id = $1)
     insert into machines select (jsonb_populate_record(m, jsonb_build_object('service_id', $2::bigint + n,
       'mac', '02ff0000' || lpad(to_hex(n), 4, '0')))).* from machines m, generate_series(1, $3::int) n where m.service_id = $1`,
    ...[id, first, machines],
  );
});
afterAll(() => product.stop());

const points = async (period: string, serviceId = id) =>
  (await product.customer.get(`/dashboard/service/${serviceId}/vps/charts?period=${period}`)).body.data
    .points;

async function count(table: string): Promise<number> {
  const [row] = await sql<{ count: number }>(product, `select count(*)::int as count from ${table}`);
  return row?.count ?? 0;
}

/** What the machine with this number has counted by now: it uses as many per cent of its core as its number has tens. */
function sampleOf(nth: number, at: Date, seconds: number): MachineSample {
  const total = seconds * 1_000;
  return {
    ...{ id: `vps-${first + nth}`, at, startedAt: new Date(0) },
    ...{ cpuMs: (total * (nth % 10)) / 10, memoryUsedBytes: 1_000 + nth, memoryTotalBytes: 5_000 },
    ...{ diskReadBytes: total, diskWrittenBytes: total, netInBytes: total, netOutBytes: total },
  };
}

const sampler = () =>
  createSampler(
    product.ctx,
    () => [1],
    async () => {
      const at = product.clock.now();
      return Array.from({ length: machines }, (_, nth) => sampleOf(nth + 1, at, at.getTime() / 1_000));
    },
  );

describe('the points of a thousand machines', () => {
  it('are kept for their time and then go with the part that they are in, not row by row', async () => {
    const sample = sampler();
    for (let minute = 0; minute <= 180; minute += 2) {
      await sample();
      if (minute % 10 === 0) {
        await product.periodic('vps.charts');
        await product.periodic('vps.emptyCharts');
      }
      product.clock.travel(2 * minuteMs);
    }
    // Two parts at most besides the one that is written: an hour and a half of three hours.
    expect(await count('vps_charts_hour')).toBeLessThanOrEqual(46 * machines);
    expect(await count('vps_charts_hour')).toBeGreaterThanOrEqual(29 * machines);
    expect(await count('vps_charts_day')).toBeGreaterThanOrEqual(36 * machines);
    for (const nth of [1, 505, machines]) {
      const hour = await points('hour', first + nth);
      expect([29, 30]).toContain(hour.length);
      for (const { cpu, mem } of hour) expect([Math.round(cpu), mem]).toEqual([(nth % 10) * 10, 1_000 + nth]);
      const day = await points('day', first + nth);
      expect(day.length).toBeGreaterThanOrEqual(36);
      for (const { cpu, mem } of day) expect([Math.round(cpu), mem]).toEqual([(nth % 10) * 10, 1_000 + nth]);
    }
    const deleted = () =>
      sql<{ rows: number }>(
        product,
        `select coalesce(sum(n_tup_del), 0)::int as rows from pg_stat_user_tables where relname like 'vps_charts%'`,
      );
    expect(await deleted()).toEqual([{ rows: 0 }]);
  }, 60_000);

  it('are reckoned of what was measured while no worker reckoned', async () => {
    product.clock.travel(3 * 60 * minuteMs);
    await product.periodic('vps.charts');
    const sample = sampler();
    const began = product.clock.now().getTime();
    for (let nth = 0; nth < 40; nth += 1) {
      await sample();
      product.clock.travel(minuteMs);
    }
    await product.periodic('vps.charts');
    const day = await points('day', first + 7);
    const since = day.filter(({ time }: { time: string }) => Date.parse(time) >= began);
    expect(since.length).toBeGreaterThanOrEqual(7);
    for (const { cpu } of since) expect(cpu).toBeCloseTo(70, 3);
  });

  it('go on while a backup holds on to the part that is to be emptied, which is emptied after it', async () => {
    const { partMs, count: parts } = chartParts('hour');
    // Into the middle of a part, of which the next one is spent.
    product.clock.travel(partMs * 1.5 - (product.clock.now().getTime() % partMs));
    const now = product.clock.now();
    const [nth = -1] = spentChartParts('hour', now);
    const old = new Date(now.getTime() - (parts - 1) * partMs);
    expect(partOf(chartParts('hour'), old)).toBe(nth);
    await putPoints(product, { serviceId: id, organizationId, times: [old] });
    const backup = new pg.Client({ connectionString: product.databaseUrl });
    await backup.connect();
    try {
      await backup.query(`begin; lock table vps_charts_hour_${nth} in access share mode`);
      await expect(product.periodic('vps.emptyCharts')).rejects.toThrow('Something else is changing this');
      const sample = sampler();
      await sample();
      product.clock.travel(10_000);
      await sample();
      await product.periodic('vps.charts');
      expect((await points('hour', first + 3)).at(-1).cpu).toBeCloseTo(30, 3);
      expect((await points('day', first + 3)).at(-1).cpu).toBeCloseTo(30, 3);
    } finally {
      await backup.end();
    }
    expect(await count(`vps_charts_hour_${nth}`)).toBeGreaterThan(0);
    await product.periodic('vps.emptyCharts');
    expect(await count(`vps_charts_hour_${nth}`)).toBe(0);
  });

  it('stand in no part that is emptied while they are kept, and in the same one whoever reckons it', async () => {
    const moment = fc.date({ min: new Date('2024-01-01'), max: new Date('2099-01-01'), noInvalidDate: true });
    const moments = fc.sample(moment, 200);
    for (const period of periods) {
      const keepMs = resolutions[period].keepS * 1_000;
      fc.assert(
        fc.property(moment, fc.integer({ min: 1 - keepMs, max: aheadMs }), (now, offMs) => {
          const time = new Date(now.getTime() + offMs);
          const part = partOf(chartParts(period), time);
          expect(spentChartParts(period, now)).not.toContain(part);
          expect(chartPartsSince(period, new Date(time.getTime() - 1), now)).toContain(part);
        }),
      );
      const { partS, partCount } = chartPartsInSql(period);
      const reckoned = await sql<{ part: number }>(
        product,
        `select ${partInSql('time').replace(':partS', '$2').replace(':partCount', '$3')} as part
         from unnest($1::timestamptz[]) with ordinality m(time, nth) order by nth`,
        ...[moments, partS, partCount],
      );
      expect(reckoned.map(({ part }) => part)).toEqual(
        moments.map((time) => partOf(chartParts(period), time)),
      );
      // And there always comes a part that is spent before it is written again.
      const { partMs } = chartParts(period);
      expect(spentChartParts(period, new Date(partMs * 1_000 + partMs / 2))).toEqual([1]);
    }
  });
});

describe('what a process of the version before has written', () => {
  const write = (serviceIds: readonly number[], secondsAgo: readonly number[]) =>
    sql(
      product,
      `insert into vps_samples (service_id, organization_id, interval_s, time, cpu, mem, maxmem, disk_read, disk_write, netin, netout)
       select s, $2, r, to_timestamp(floor(extract(epoch from $3::timestamptz - n * interval '1 second') / r) * r), 42, 7, 1, 1, 1, 1, 1
       from unnest($1::bigint[]) s, unnest($4::int[]) r, unnest($5::int[]) n
       on conflict (service_id, interval_s, time) do update set cpu = excluded.cpu`,
      ...[serviceIds, organizationId, product.clock.now()],
      ...[periods.map((period) => resolutions[period].intervalS), secondsAgo],
    );

  it('moves over with all that is kept of it, whole, while that process goes on', async () => {
    product.clock.travel(400 * 24 * 60 * minuteMs);
    await product.periodic('vps.emptyCharts');
    const ids = Array.from({ length: 120 }, (_, nth) => first + 1 + nth);
    await write(ids, [86_400, 3 * 86_400, 100 * 86_400, 380 * 86_400, 600]);
    await product.periodic('vps.charts');
    const seen = async (serviceId: number) =>
      Promise.all(periods.map(async (period) => (await points(period, serviceId)).length));
    for (const serviceId of [ids[0], ids[60], ids[119]])
      expect(await seen(serviceId ?? 0)).toEqual([1, 1, 3, 3, 4]);
    expect(await count('vps_samples')).toBe(0);
    await write(ids.slice(3, 5), [60, 86_400]);
    await product.periodic('vps.charts');
    await product.periodic('vps.charts');
    expect(await count('vps_samples')).toBe(0);
    expect((await points('hour', ids[3])).length).toBe(2);
    expect((await points('hour', ids[0])).length).toBe(1);
  });
});
