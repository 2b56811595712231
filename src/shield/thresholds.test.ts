import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../test/noted.ts';
import { sql } from '../../test/sql.ts';
import { partOf } from './analytics/parts.ts';
import { type DrivenProduct, newestAttack, reflected, startDriven } from './mitigation/driven.testbed.ts';
import { newTenant, packet, type Tenant } from './testbed.ts';

const changes = watchChanges();
let product: DrivenProduct;
let tenant: Tenant;
let productId: number;
beforeAll(async () => {
  product = await startDriven();
  tenant = await newTenant(product);
  const { body } = await tenant.get(`/dashboard/services/${tenant.serviceId}`);
  productId = body.data.service.product.id;
});
afterAll(() => product.stop());

const path = () => `/shield/v2/sensitivity/${tenant.address}`;
const read = async () => (await tenant.get(path())).body.data.sensitivity;
const productPath = () => `/staff/shield/products/${productId}`;

describe('the product that an address came with', () => {
  it('says what is done until its owner says otherwise, also for what was sold already', async () => {
    expect(await read()).toMatchObject({
      level: 'medium',
      mode: 'monitor',
      set_by: { level: 'default', mode: 'default' },
    });
    const { status, body } = await product.staff.patch(productPath(), {
      mode: 'enabled',
      thresholds: { reflection: { pps: 100 } },
    });
    expect([status, body.data.product]).toEqual([
      200,
      expect.objectContaining({ id: productId, mode: 'enabled', level: null }),
    ]);
    expect(await read()).toMatchObject({ mode: 'enabled', set_by: { level: 'default', mode: 'product' } });
    expect((await read()).limits.reflection.pps).toEqual({ value: 100, by: 'product' });
    await product.seconds(4);
    const ntp = reflected(tenant.address);
    await product.seconds(2, [ntp, 300]);
    expect(await product.second([ntp, 300])).toEqual([0]);
    await tenant.patch(path(), { mode: 'monitor', thresholds: { reflection: { pps: 200 } } });
    expect(await read()).toMatchObject({ mode: 'monitor', set_by: { mode: 'own' } });
    expect((await read()).limits.reflection.pps).toEqual({ value: 200, by: 'own' });
    expect(await product.seconds(4, [ntp, 300])).toEqual([300]);
    await tenant.patch(path(), { mode: null, thresholds: null });
    expect(await read()).toMatchObject({ mode: 'enabled', thresholds: {}, set_by: { mode: 'product' } });
    await product.seconds(35);
    await product.staff.patch(productPath(), { mode: null, thresholds: { reflection: null } });
    expect(await read()).toMatchObject({ mode: 'monitor', set_by: { mode: 'default' } });
  });

  it('is staff’s alone to set, and refuses what makes no sense', async () => {
    expect((await tenant.patch(productPath(), { mode: 'enabled' })).status).toBe(403);
    expect((await product.staff.patch(productPath(), { mode: 'always' })).status).toBe(400);
    expect((await product.staff.patch(productPath(), { thresholds: { udp: { pps: 0 } } })).status).toBe(400);
    expect((await product.staff.patch('/staff/shield/products/424242', { mode: 'enabled' })).status).toBe(
      404,
    );
    const { body } = await product.staff.get('/staff/shield/products?limit=100');
    expect(body.data.products.find(({ id }: { id: number }) => id === productId)).toMatchObject({
      mode: null,
      thresholds: {},
    });
  });
});

describe('the own weeks of an address', () => {
  const hour = 3_600_000;
  /** So much came in each of so many hours before now. */
  async function lived(hours: number, pps: number, who = tenant) {
    const now = Math.floor(product.clock.now().getTime() / hour) * hour;
    for (let nth = 1; nth <= hours; nth += 1) {
      const time = new Date(now - nth * hour);
      await sql(
        product,
        `insert into shield_traffic_hours (part, address, time, organization_id, packets, bytes, dropped_packets, dropped_bytes)
         values ($1, $2::inet, $3, $4, $5, $6, 0, 0)`,
        ...[partOf('hours', time), who.address, time, who.organizationId, pps * 3_600, pps * 3_600 * 100],
      );
    }
  }

  it('raise what is no attack of a busy one once two weeks are known, and say so; its attacks are left out', async () => {
    const busy = await newTenant(product);
    tenant = busy;
    await lived(335, 10_000);
    await product.periodic('shield.learnUsual');
    expect((await read()).usual).toMatchObject({ hours: 335, pps: 10_000, mbps: 8, enough: false });
    expect((await read()).limits.udp.pps).toEqual({ value: 20_000, by: 'level' });
    await sql(product, 'delete from shield_traffic_hours where address = $1::inet', busy.address);
    await lived(340, 10_000);
    // In one of these hours it was attacked.
    const [attacked] = await sql<{ time: Date }>(
      product,
      "update shield_traffic_hours set packets = packets * 1000 where address = $1::inet and time = (select min(time) + interval '9 hours' from shield_traffic_hours where address = $1::inet) returning time",
      busy.address,
    );
    await sql(
      product,
      `insert into shield_attacks (id, organization_id, service_id, address, node_id, kind, ratio, readings, started_at,
         last_over_at, ended_at, peak_pps, peak_mbps, packets, bytes, ports, counted, created_at, updated_at, closed_at)
       values (4242, $1, $2, $3::inet, $4, 'udp', 2, 2, $5, $5, $5, 1, 1, 1, 1, '{}', '{}', $5, $5, $5)`,
      ...[busy.organizationId, busy.serviceId, busy.address, product.nodeId, attacked?.time],
    );
    product.clock.travel(25 * hour);
    await product.periodic('shield.learnUsual');
    const { usual, limits } = await read();
    expect(usual).toMatchObject({ pps: 10_000, enough: true });
    expect(usual.hours).toBe(339);
    expect(limits.udp.pps).toEqual({ value: 50_000, by: 'usual' });
    expect(limits.total.pps).toEqual({ value: 50_000, by: 'usual' });
    expect(limits.syn.pps).toEqual({ value: 5_000, by: 'level' });
    // What is usual here is an attack elsewhere.
    const calm = await newTenant(product);
    for (const who of [busy, calm])
      await who.patch(`/shield/v2/sensitivity/${who.address}`, { level: 'high' });
    await product.seconds(4);
    const game = (who: Tenant) => packet(who.address, { protocol: 17, flags: null, length: 100 });
    await product.seconds(4, [game(busy), 20_000], [game(calm), 20_000]);
    expect(await newestAttack(calm)).toMatchObject({ kind: 'udp' });
    const now = (await busy.get('/shield/v2/attacks')).body.data.attacks;
    expect(now.filter(({ ended_at }: { ended_at: string }) => ended_at === '')).toEqual([]);
    await product.seconds(32);
  });

  it('are its owner’s alone: whoever has the address next has none', async () => {
    await sql(
      product,
      'update shield_usual set service_id = service_id + 1 where address = $1::inet',
      tenant.address,
    );
    expect((await read()).usual).toBeNull();
    await product.periodic('shield.learnUsual');
    expect((await read()).usual).not.toBeNull();
    await tenant.post(`/dashboard/services/${tenant.serviceId}/cancel`, { type: 'immediate' });
    for (let nth = 0; nth < 40; nth += 1) {
      await product.second();
      const rows = await sql(
        product,
        "select 1 from addresses where address = $1::inet and state = 'taken'",
        tenant.address,
      );
      if (rows.length === 0) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await product.periodic('shield.learnUsual');
    expect(await sql(product, 'select 1 from shield_usual where address = $1::inet', tenant.address)).toEqual(
      [],
    );
  });
});

changes.leaveEntries(() => product, ['updateShieldProduct']);
