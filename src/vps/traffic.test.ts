import { afterAll, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../../test/orders.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { sql } from '../../test/sql.ts';
import { createSampler } from './charts.ts';

const machines = 1_000;
const first = 8_000_000;

let product: TestProduct;

beforeAll(async () => {
  // Twelve minutes before the month ends.
  product = await startTestProduct({ startsAt: new Date('2026-03-31T23:48:00Z') });
  const { serviceId } = await runningVps(product, product.customer);
  await sql(
    product,
    `with sold as (insert into services select (jsonb_populate_record(s, jsonb_build_object('id', $2::bigint + n, 'position', 100 + n))).*
       from services s, generate_series(1, $3::int) n where s.id = $1)
     insert into machines select (jsonb_populate_record(m, jsonb_build_object('service_id', $2::bigint + n,
       'mac', '02ff0000' || lpad(to_hex(n), 4, '0')))).* from machines m, generate_series(1, $3::int) n where m.service_id = $1`,
    ...[serviceId, first, machines],
  );
});
afterAll(() => product.stop());

/** What stands of all by months, and by how many transactions it was written last. */
async function written() {
  return sql<{ month: string; machines: number; least: number; most: number; writings: number }>(
    product,
    `select month::text, count(*)::int as machines, min(bytes)::int as least, max(bytes)::int as most,
       count(distinct xmin::text)::int as writings
     from vps_traffic where service_id > $1 group by month order by month`,
    first,
  );
}

it('the traffic of a thousand machines is written every five minutes, each byte once and in its month', async () => {
  const began = product.clock.now().getTime();
  let looks = 0;
  const sampler = createSampler(
    product.ctx,
    () => [1],
    async () => {
      const at = new Date(began + looks * 10_000);
      const counted = {
        cpuMs: 0,
        memoryUsedBytes: 1,
        memoryTotalBytes: 1,
        diskReadBytes: 0,
        diskWrittenBytes: 0,
      };
      return Array.from({ length: machines }, (_, nth) => ({
        ...{ id: `vps-${first + 1 + nth}`, at, startedAt: new Date(0), ...counted },
        ...{ netInBytes: looks * 30, netOutBytes: looks * 70 },
      }));
    },
  );
  const look = async (times: number) => {
    for (let nth = 0; nth < times; nth += 1) {
      await sampler();
      looks += 1;
      product.clock.travel(10_000);
    }
  };
  const march = (bytes: number) => ({
    ...{ month: '2026-03-01', machines, least: bytes, most: bytes, writings: 1 },
  });
  await look(20);
  expect(await written()).toEqual([]);
  await look(12); // the first look brings none; what comes at the end of five minutes is of the next ones
  const [once] = await written();
  expect(once).toEqual(march(once?.least ?? 0));
  expect(once?.least).toBeGreaterThanOrEqual(2_000);
  await look(20);
  expect(await written()).toEqual([once]);
  await look(27);
  await sampler.finish();
  const [before, after, ...others] = await written();
  expect(others).toEqual([]);
  expect(before).toEqual(march(before?.least ?? 0));
  expect(after).toMatchObject({ month: '2026-04-01', machines });
  expect((before?.least ?? 0) + (after?.least ?? 0)).toBe((looks - 1) * 100);
  expect(after?.least).toBe(after?.most);
  await sampler.finish();
  expect(await written()).toEqual([before, after]);
});

it('what a machine sent while nobody could be asked about it is counted once it is told of again', async () => {
  const machine = first + machines;
  const bytesOf = async () =>
    (
      await sql<{ bytes: number }>(
        product,
        'select coalesce(sum(bytes), 0)::int as bytes from vps_traffic where service_id = $1',
        machine,
      )
    )[0]?.bytes ?? 0;
  const counters = {
    cpuMs: 0,
    memoryUsedBytes: 1,
    memoryTotalBytes: 1,
    diskReadBytes: 0,
    diskWrittenBytes: 0,
  };
  const told = [100, null, null, 700, 800];
  const began = product.clock.now().getTime();
  let look = 0;
  const sampler = createSampler(
    product.ctx,
    () => [1],
    async () => {
      const at = new Date(began + look * 10_000);
      const netInBytes = told[look];
      look += 1;
      if (netInBytes == null) return [];
      return [{ id: `vps-${machine}`, at, startedAt: new Date(0), ...counters, netInBytes, netOutBytes: 0 }];
    },
  );
  const before = await bytesOf();
  for (const _ of told) await sampler();
  await sampler.finish();
  expect((await bytesOf()) - before).toBe(700);
});
