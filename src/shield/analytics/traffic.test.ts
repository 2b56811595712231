import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { datagram, watched } from '../attacks/flood.testbed.ts';
import {
  newTenant,
  ruleInForce,
  rulesPath,
  type ShieldedProduct,
  startShielded,
  type Tenant,
} from '../testbed.ts';
import { spentParts } from './parts.ts';

let product: ShieldedProduct;
let tenant: Tenant;
beforeAll(async () => {
  product = await startShielded();
  tenant = await newTenant(product);
  await watched(product, tenant.address);
});
afterAll(() => product.stop());

type Row = [number, number, number];

async function trafficOf(query: string, who = tenant): Promise<{ interval: number; traffic: Row[] }> {
  const { status, body } = await who.get(`/shield/v2/analytics/traffic?${query}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.data;
}

const sum = (rows: Row[], nth: 1 | 2) => rows.reduce((all, row) => all + row[nth], 0);

/** What is written down once it is as `check` says; minutes go by meanwhile. */
function written(address: string, check: (found: { packets: number; dropped: number }) => boolean) {
  return until(
    async () => {
      product.clock.travel(20_000);
      const [row] = await sql<{ packets: number; dropped: number }>(
        product,
        `select coalesce(sum(packets), 0)::int as packets, coalesce(sum(dropped_packets), 0)::int as dropped
         from shield_traffic_minutes where address = $1::inet`,
        address,
      );
      return row ?? { packets: 0, dropped: 0 };
    },
    check,
    60_000,
  );
}

const send = (count: number, length: number, address = tenant.address) => {
  for (let nth = 0; nth < count; nth += 1) product.edge.pass(datagram(address, { length }));
};

describe('traffic', () => {
  it('is counted as rows of three integers by the minute', { timeout: 120_000 }, async () => {
    send(12_000, 1_000);
    expect((await written(tenant.address, ({ packets }) => packets >= 12_000)).packets).toBe(12_000);
    const { interval, traffic } = await trafficOf(`ip=${tenant.address}&unit=pps&time=60`);
    expect(interval).toBe(1);
    expect(traffic).toHaveLength(60);
    for (const row of traffic) {
      expect(row).toHaveLength(3);
      for (const each of row) expect(Number.isInteger(each)).toBe(true);
    }
    const times = traffic.map(([at]) => at);
    expect(times).toEqual(times.map((_, nth) => (times[0] ?? 0) + nth * 60));
    expect(Math.abs((times.at(-1) ?? 0) * 1_000 - product.clock.now().getTime())).toBeLessThan(120_000);
    expect([sum(traffic, 1) * 60, sum(traffic, 2)]).toEqual([12_000, 0]);
    const bits = await trafficOf(`ip=${tenant.address}%2F32&unit=mbps&time=60`);
    for (const row of bits.traffic) expect(row.map(Number.isInteger)).toEqual([true, true, true]);
    expect(sum(bits.traffic, 1)).toBe(Math.round((12_000 * 1_000 * 8) / 1e6 / 60));
  });

  it('is said to be dropped where a rule drops it', { timeout: 120_000 }, async () => {
    const other = await newTenant(product);
    await watched(product, other.address);
    const { address } = other;
    await ruleInForce(other, { destination: address, action: 'deny', protocol: 17, order: 1 });
    // What rules count is read in turn: some of it may be written down with the next minute that has any.
    const sending = setInterval(() => send(100, 500, address), 50);
    await written(address, ({ dropped }) => dropped >= 6_000);
    clearInterval(sending);
    const { traffic } = await trafficOf(`ip=${address}&unit=pps&time=360`, other);
    expect(sum(traffic, 2)).toBeGreaterThan(0);
    const [rule] = (await other.get(rulesPath)).body.data.rules;
    const [row] = await sql<{ packets: number; dropped: number }>(
      product,
      `select sum(packets)::int as packets, sum(dropped_packets)::int as dropped from shield_traffic_minutes
       where address = $1::inet`,
      address,
    );
    expect(row?.dropped).toBeLessThanOrEqual(row?.packets ?? 0);
    await until(
      async () => (await other.get(`${rulesPath}/${rule.id}`)).body.data.rule.matched_packets,
      (matched) => matched >= (row?.dropped ?? 0),
    );
  });

  it('has wider rows for a longer time, up to a year by the day', async () => {
    const widths = await Promise.all(
      [360, 361, 1_440, 10_080, 44_640, 527_040].map(async (time) => {
        const { interval, traffic } = await trafficOf(`ip=${tenant.address}&time=${time}`);
        return [interval, traffic.length];
      }),
    );
    expect(widths).toEqual([
      [1, 360],
      [5, 73],
      [5, 288],
      [30, 336],
      [120, 372],
      [1_440, 366],
    ]);
    const byHour = await sql<{ packets: number }>(
      product,
      'select sum(packets)::int as packets from shield_traffic_hours where address = $1::inet',
      tenant.address,
    );
    expect(byHour[0]?.packets).toBe(12_000);
    await sql(
      product,
      'update shield_traffic_hours set packets = 86400000 where address = $1::inet',
      tenant.address,
    );
    const { traffic } = await trafficOf(`ip=${tenant.address}&unit=pps&time=527040`);
    expect(sum(traffic, 1)).toBe(1_000);
  });

  it('is its owner’s alone, also after the address had another one', async () => {
    const other = await newTenant(product);
    expect((await other.get(`/shield/v2/analytics/traffic?ip=${tenant.address}`)).status).toBe(403);
    expect((await other.get('/shield/v2/analytics/traffic?ip=192.0.2.1')).status).toBe(403);
    expect((await other.get('/shield/v2/analytics/traffic?ip=x')).status).toBe(400);
    await sql(
      product,
      'insert into shield_traffic_minutes values (0, $1::inet, $2::timestamptz, $3, 600000, 600000, 0, 0)',
      ...[other.address, new Date(product.clock.now().getTime() - 600_000), tenant.organizationId],
    );
    const { traffic } = await trafficOf(`ip=${other.address}&unit=pps&time=60`, other);
    expect([sum(traffic, 1), sum(traffic, 2)]).toEqual([0, 0]);
  });

  it('is forgotten a part at once when settings keep it no longer, and no earlier', async () => {
    const count = async (table: string) => {
      const [row] = await sql<{ count: number }>(
        product,
        `select count(*)::int as count from ${table} where address = $1::inet`,
        tenant.address,
      );
      return row?.count ?? 0;
    };
    const both = async () => [await count('shield_traffic_minutes'), await count('shield_traffic_hours')];
    const [minutes = 0, hours = 0] = await both();
    expect([minutes > 0, hours > 0]).toEqual([true, true]);
    product.clock.travel(30 * 86_400_000);
    await product.periodic('shield.forgetTraffic');
    expect(await both()).toEqual([minutes, hours]);
    product.clock.travel(9 * 86_400_000);
    await product.periodic('shield.forgetTraffic');
    expect(await both()).toEqual([0, hours]);
    product.clock.travel(430 * 86_400_000);
    await product.periodic('shield.forgetTraffic');
    expect(await both()).toEqual([0, 0]);
  });

  it('leaves the part that comes next empty, whenever and however much is kept', () => {
    for (let day = 0; day < 800; day += 1) {
      const now = new Date(Date.parse('2026-01-01T00:00:00Z') + day * 86_400_000 + day * 61_000);
      for (const [resolution, most, length] of [
        ['minutes', 42, 7 * 1_440],
        ['hours', 540, 92 * 1_440],
        ['flows', 180, 30],
      ] as const) {
        const next = (Math.floor(now.getTime() / 60_000 / length) + 1) % 8;
        expect(spentParts(resolution, now, most)).toContain(next);
        expect(spentParts(resolution, now, 1)).not.toContain((next + 7) % 8);
      }
    }
  });
});
