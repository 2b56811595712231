import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, newMember, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { newMeteredSwitch, rentAgain, rentedServer } from '../../../test/rack/metered.ts';
import { sql } from '../../../test/sql.ts';
import { openSwitches, simulatedSwitches } from '../../drivers/switch/index.ts';

const fiveMinutes = 300_000;
const switches = simulatedSwitches();
const open = openSwitches(switches);
let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct({
    startsAt: new Date('2026-03-10T12:00:30Z'),
    env: { HYPERVISOR: 'simulator', NETWORK4: '10.83.0.0/24' },
    drivers: { switch: (connection) => open({ ...connection, kind: 'simulated' }) },
  });
  customer = await newCustomer(product, { creditMinor: 100_000_000 });
});
afterAll(() => product.stop());

type Rented = Awaited<ReturnType<typeof rentedServer>>;
const bandwidth = async ({ path }: Pick<Rented, 'path'>, period = 'day') =>
  (await customer.get(`${path}/bandwidth?period=${period}`)).body.data;
/** Of a month, in bytes. */
const usedBy = async (server: Pick<Rented, 'path'>) =>
  Math.round((await bandwidth(server)).monthlyUsageGB * 1_000_000_000);

/** A server at a port that was read once since it is its customer's. */
async function metered() {
  const at = await newMeteredSwitch(product, switches, ['eth1', 'eth2']);
  const server = await rentedServer(product, customer);
  await at.plug('eth1', server.macs[0]);
  await at.readAfter(fiveMinutes);
  return { at, server };
}

describe('traffic of a server', () => {
  it('that its port takes in is what the server sent, and is drawn in bytes a second', async () => {
    const { at, server } = await metered();
    for (let nth = 0; nth < 6; nth += 1) {
      // 8 Mbit/s from the server, 0.8 to it.
      at.carry('eth1', 300_000_000n, 30_000_000n);
      await at.readAfter(fiveMinutes);
    }
    const { points, ...month } = await bandwidth(server);
    expect(month).toEqual({ monthlyUsageGB: 1.98, monthlyUsageTB: 0.001_98, monthlyLimitTB: null });
    const whole = points.slice(1);
    expect(whole.length).toBeGreaterThanOrEqual(3);
    for (const { time, netin, netout } of whole) {
      expect(time % 300).toBe(0);
      expect(netout).toBeGreaterThan(980_000);
      expect(netout).toBeLessThanOrEqual(1_000_000);
      expect(netout / netin).toBeCloseTo(10, 2);
    }
    const summary = (await customer.get(`${server.path}/bandwidth/summary`)).body.data;
    expect(summary).toMatchObject(month);
    expect(summary.percentile95_out_mbps).toBeCloseTo(8, 0);
    expect(summary.percentile95_in_mbps).toBeCloseTo(0.8, 1);
    const { traffic } = (await customer.get(`${server.path}/overview`)).body.data.dedicated;
    expect(traffic).toEqual({ used_gb: 1.98, limit_gb: null, resets_at: '2026-04-01T00:00:00.000Z' });
  });

  it('is drawn for a week, a month and a year as well, and adds up to the same', async () => {
    const { at, server } = await metered();
    at.carry('eth1', 3_600_000_000n, 300_000_000n);
    await at.readAfter(8 * 3_600_000);
    await at.readAfter(fiveMinutes);
    await at.readAfter(fiveMinutes);
    for (const [period, step] of [
      ['week', 1_800],
      ['month', 7_200],
    ] as const) {
      const { points } = await bandwidth(server, period);
      expect(points.every(({ time }: { time: number }) => time % step === 0)).toBe(true);
      expect(Math.max(...points.map(({ netout }: { netout: number }) => netout))).toBeCloseTo(125_000, -3);
    }
    const [day] = (await bandwidth(server, 'year')).points;
    const now = product.clock.now().getTime() / 1_000;
    expect(day.time % 86_400).toBe(0);
    expect(day.netout * (now - day.time)).toBeCloseTo(3_600_000_000, -7);
  });

  it.each(['hour', 'decade', ''])('has no period "%s"', async (period) => {
    const { server } = await metered();
    const answer = await customer.get(`${server.path}/bandwidth?period=${period}`);
    expect([answer.status, answer.body.details[0].field]).toEqual([400, 'period']);
  });

  it('of all its ports is added up, also at two switches', async () => {
    const { at, server } = await metered();
    const other = await newMeteredSwitch(product, switches, ['swp7']);
    await other.plug('swp7', server.macs[1]);
    await other.readAfter(fiveMinutes);
    at.carry('eth1', 1_000n, 200n);
    other.carry('swp7', 30_000n, 4_000n);
    product.clock.travel(fiveMinutes);
    await at.readAfter(1_000);
    await other.readAfter(fiveMinutes);
    expect(await usedBy(server)).toBe(35_200);
  });

  it('goes on where a counter wraps, and where a switch began anew with what it counted since', async () => {
    const { at, server } = await metered();
    at.carry('eth1', 2n ** 64n - 5_000n, 0n);
    await at.readAfter(fiveMinutes);
    // No port carries that much in five minutes.
    expect(await usedBy(server)).toBe(0);
    const [port] = at.it.ports;
    if (port) port.counters = { in: 2_000n, out: 0n };
    await at.readAfter(fiveMinutes);
    expect(await usedBy(server)).toBe(7_000);
    if (port) port.counters = { in: 300n, out: 40n };
    at.it.uptimeMs = -200_000;
    await at.readAfter(fiveMinutes);
    expect(await usedBy(server)).toBe(7_340);
  });

  it('is nobody’s guess where a counter is gone, its port is gone, or has another name', async () => {
    const { at, server } = await metered();
    const [port] = at.it.ports;
    if (port === undefined) throw new Error('no port');
    port.counters = null;
    await at.readAfter(fiveMinutes);
    port.counters = { in: 70_000n, out: 70_000n };
    await at.readAfter(fiveMinutes);
    expect(await usedBy(server)).toBe(0);
    // A port that comes back with the counter that it had has carried what lies between.
    at.it.ports = at.it.ports.slice(1);
    await at.readAfter(fiveMinutes);
    port.counters = { in: 71_000n, out: 70_000n };
    at.it.ports = [port, ...at.it.ports];
    await at.readAfter(fiveMinutes);
    expect(await usedBy(server)).toBe(1_000);
    port.name = 'xe-0/0/1';
    port.counters = { in: 99_000n, out: 99_000n };
    await at.readAfter(fiveMinutes);
    await at.readAfter(fiveMinutes);
    expect(await usedBy(server)).toBe(1_000);
  });

  it('that came while the switch was silent counts, at its mean rate', async () => {
    const { at, server } = await metered();
    at.it.failing.isSilent = true;
    await at.readAfter(fiveMinutes);
    at.carry('eth1', 3_600_000_000n, 0n);
    at.it.failing = {};
    await at.readAfter(3_600_000 - fiveMinutes);
    await at.readAfter(2 * fiveMinutes);
    expect(await usedBy(server)).toBe(3_600_000_000);
    const { points } = await bandwidth(server);
    const rates = points.slice(1, -2).map(({ netout }: { netout: number }) => netout);
    expect(rates.length).toBeGreaterThanOrEqual(9);
    for (const rate of rates) expect(rate).toBeCloseTo(1_000_000, -5);
  });

  it('of whoever had it before is not theirs who have it now', async () => {
    const { at, server } = await metered();
    at.carry('eth1', 5_000n, 0n);
    await at.readAfter(fiveMinutes);
    await sql(
      product,
      `update servers set state = 'ready', service_id = null where id = $1`,
      server.serverId,
    );
    // Between two customers it carries what nobody pays for.
    at.carry('eth1', 600_000n, 0n);
    const [sold] = await sql<{ product_id: number }>(
      product,
      'select product_id::int from services where id = $1',
      server.id,
    );
    const id = await rentAgain(product, customer, sold?.product_id ?? 0);
    const again = { path: `/dashboard/service/${id}/dedicated` };
    await at.readAfter(fiveMinutes);
    expect(await bandwidth(again)).toMatchObject({ points: [], monthlyUsageGB: 0 });
    at.carry('eth1', 70n, 0n);
    await at.readAfter(fiveMinutes);
    expect([await usedBy(server), await usedBy(again)]).toEqual([5_000, 70]);
  });

  it('goes on at another port, and never counts what came there for others', async () => {
    const { at, server } = await metered();
    at.carry('eth1', 5_000n, 0n);
    await at.readAfter(fiveMinutes);
    at.carry('eth2', 900_000n, 0n);
    await at.plug('eth1', null);
    await at.plug('eth2', server.macs[0]);
    await at.readAfter(fiveMinutes);
    at.carry('eth1', 900_000n, 0n);
    at.carry('eth2', 30n, 0n);
    await at.readAfter(fiveMinutes);
    expect(await usedBy(server)).toBe(5_030);
  });

  it('across a restore of the database is nobody’s: somebody else may have had the server', async () => {
    const { at, server } = await metered();
    at.carry('eth1', 5_000n, 0n);
    await sql(
      product,
      'insert into restores (made_at, restored_at, settled_at, released_at, journal_from) values ($1, $1, $1, $1, 1)',
      product.clock.now(),
    );
    await at.readAfter(fiveMinutes);
    expect(await usedBy(server)).toBe(0);
    at.carry('eth1', 60n, 0n);
    await at.readAfter(fiveMinutes);
    expect(await usedBy(server)).toBe(60);
  });

  it('of another organization is not shown, and to who may only look it is', async () => {
    const { server } = await metered();
    for (const what of ['bandwidth', 'bandwidth/summary']) {
      expect((await product.other.get(`${server.path}/${what}`)).status).toBe(403);
      const viewer = await newMember(product, customer.organizationId, 'viewer');
      expect((await viewer.get(`${server.path}/${what}`)).status).toBe(200);
    }
  });
});
