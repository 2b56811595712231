import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { until } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { EdgeError, memoryEdge, type Packet } from '../../drivers/edge/index.ts';
import { dropSsh, newTenant, packet, type Tenant } from '../testbed.ts';
import { createWatcher } from '../watch/watcher.ts';
import {
  type DrivenProduct,
  defended,
  newestAttack,
  noRouters,
  reflected,
  startDriven,
} from './driven.testbed.ts';

const changes = watchChanges();
let product: DrivenProduct;
let tenant: Tenant;
beforeAll(async () => {
  product = await startDriven();
});
afterAll(() => product.stop());

/** With a machine whose traffic is watched, and that is defended. */
async function someone(change: Record<string, unknown> = {}): Promise<Tenant> {
  const made = await newTenant(product);
  await defended(made, change);
  await product.seconds(4);
  return made;
}

const web = (address: string) => packet(address, { ports: { source: 40_000, destination: 443 } });
const measuresOf = async (who: Tenant) =>
  (await newestAttack(who)).mitigations.map(({ measure }: { measure: string }) => measure);
const measureAt = async (address: string) =>
  (await product.edge.list()).filter(
    (each) => each.as === 'mitigation' && each.destination.startsWith(`${address}/`),
  );

describe('an attack', () => {
  it('is only told of where that is all its owner wants', async () => {
    tenant = await newTenant(product);
    await product.seconds(4);
    const ntp = reflected(tenant.address);
    expect(await product.seconds(5, [ntp, 10_000])).toEqual([10_000]);
    expect(await newestAttack(tenant)).toMatchObject({ description: 'NTP reflection', mitigations: [] });
    await product.seconds(32);
  });

  it('is met where they say so: what is reflected is dropped, others pass, and it ends with the attack', async () => {
    tenant = await someone();
    const { address } = tenant;
    const [ntp, time] = [reflected(address), reflected(address, 123, 76)];
    expect(await product.seconds(2, [ntp, 500])).toEqual([500]);
    const sent: Parameters<typeof product.second> = [
      [ntp, 500],
      [time, 20],
      [web(address), 30],
    ];
    expect(await product.seconds(4, ...sent)).toEqual([0, 20, 30]);
    const going = await newestAttack(tenant);
    expect(going).toMatchObject({ ended_at: '', description: 'NTP reflection' });
    const [met] = going.mitigations;
    expect(going.mitigations).toHaveLength(1);
    expect(met).toMatchObject({
      ...{ kind: 'reflection', measure: 'drop_reflection', ports: [123], in_force: true, error: null },
      why: { arrived: { mbps: 2 }, past: null, limit: { pps: 100, mbps: 1_000 } },
      ...{ counters: { packets: 2_000, bytes: 2_000 * 468 }, released_at: null, because: null },
    });
    let dropped = 2_000;
    for (let nth = 0; nth < 33; nth += 1) dropped += 7 - ((await product.second([ntp, 7]))[0] ?? 0);
    expect((await newestAttack(tenant)).ended_at).not.toBe('');
    await product.seconds(2);
    const [over] = (await newestAttack(tenant)).mitigations;
    // What it dropped until it was taken away is counted, to the last packet.
    expect(over).toMatchObject({ because: 'attack_over', in_force: false, counters: { packets: dropped } });
    expect(await measureAt(address)).toEqual([]);
    expect((await product.edge.readRules([address])).filter(({ of }) => of === 'mitigation')).toEqual([]);
    for (const action of ['shield_mitigation_started', 'shield_mitigation_released']) {
      const path = `/dashboard/organizations/${tenant.organizationId}/activity?action=${action}`;
      expect((await tenant.get(path)).body.data.activity, action).toHaveLength(1);
    }
  });

  it('is met harder only when what was begun did not help, which the figures say', async () => {
    tenant = await someone();
    // As long as usual answers: the first measure lets them through.
    const dns = reflected(tenant.address, 53, 500);
    await product.seconds(3, [dns, 400]);
    expect(await measuresOf(tenant)).toEqual(['drop_reflection']);
    expect(await product.second([dns, 400])).toEqual([400]);
    expect(await product.seconds(3, [dns, 400])).toEqual([0]);
    const [first, then, ...others] = (await newestAttack(tenant)).mitigations;
    expect([first.measure, then.measure, others]).toEqual(['drop_reflection', 'drop_answers', []]);
    expect(then.why.limit.pps).toBe(100);
    expect(then.why.past).toEqual(then.why.arrived);
    expect(then.why.past.pps).toBeGreaterThan(200);
    await product.seconds(32);
  });

  it('of two kinds is met in both', async () => {
    tenant = await someone();
    const [ntp, part] = [
      reflected(tenant.address),
      packet(tenant.address, { protocol: 17, ports: null, flags: null, fragment: true }),
    ];
    await product.seconds(2, [ntp, 300], [part, 300]);
    expect(await product.second([ntp, 300], [part, 300], [web(tenant.address), 10])).toEqual([0, 0, 10]);
    expect((await measuresOf(tenant)).toSorted()).toEqual(['drop_fragments', 'drop_reflection']);
    await product.seconds(32);
  });

  it('of few senders has each held to a rate; others are not', async () => {
    tenant = await someone();
    const flood = packet(tenant.address, { protocol: 17, flags: null, source: '192.0.2.1' });
    const game = packet(tenant.address, { protocol: 17, flags: null, source: '198.51.100.1' });
    await product.seconds(3, [flood, 1_000], [game, 3]);
    const [through, played] = await product.seconds(5, [flood, 1_000], [game, 3]);
    expect(played).toBe(3);
    // A twentieth of what all may send.
    expect(through).toBeGreaterThanOrEqual(5);
    expect(through).toBeLessThanOrEqual(20);
    expect(await measuresOf(tenant)).toEqual(['limit_sources']);
    await product.seconds(32);
  });

  it('of SYNs is never met by a limit of the address; where its owner says that the machine has no cookies the edge answers last', {
    timeout: 120_000,
  }, async () => {
    const [plain, without] = [await someone(), await someone({ synproxy: true })];
    const syns = (who: Tenant): [Packet, number][] =>
      Array.from({ length: 400 }, (_, nth) => [
        packet(who.address, { source: `198.51.${nth >> 8}.${nth & 255}` }),
        1,
      ]);
    const sum = (through: number[]) => through.reduce((all, each) => all + each, 0);
    expect(sum(await product.seconds(12, ...syns(plain)))).toBe(400);
    expect(await measuresOf(plain)).toEqual(['drop_malformed', 'limit_sources']);
    await product.seconds(12, ...syns(without));
    expect(await measuresOf(without)).toEqual(['drop_malformed', 'limit_sources', 'synproxy']);
    expect((await newestAttack(without)).mitigations[2].counters.packets).toBeGreaterThan(0);
    await product.seconds(33);
  });

  it('spares whom a rule of its owner permits by name', async () => {
    tenant = await someone();
    const { address } = tenant;
    const permit = dropSsh(address, { action: 'permit', protocol: 17, source: '198.51.100.0/24' });
    delete (permit as { destination_port?: unknown }).destination_port;
    expect((await tenant.post('/shield/v2/rules', permit)).status).toBe(200);
    const ntp = reflected(address);
    const friend = { ...ntp, source: '198.51.100.7' };
    await product.seconds(2, [ntp, 300]);
    expect(await product.second([ntp, 300], [friend, 50])).toEqual([0, 50]);
    await product.seconds(32);
  });

  it('is none of what comes from those whom its owner trusts', async () => {
    tenant = await someone({ whitelist: ['198.51.100.0/24'] });
    const { address } = tenant;
    const [ntp, trusted] = [reflected(address), { ...reflected(address), source: '198.51.100.7' }];
    expect(await product.seconds(6, [trusted, 2_000])).toEqual([2_000]);
    expect(await newestAttack(tenant)).toBeUndefined();
    await product.seconds(2, [trusted, 2_000], [ntp, 300]);
    expect(await product.seconds(2, [trusted, 2_000], [ntp, 300])).toEqual([2_000, 0]);
    expect((await newestAttack(tenant)).mitigations[0].why.arrived.pps).toBeLessThan(400);
    await product.seconds(32);
    expect(
      (await tenant.patch(`/shield/v2/sensitivity/${address}`, { whitelist: ['2001:db8::/32'] })).status,
    ).toBe(400);
    expect(
      (await tenant.patch(`/shield/v2/sensitivity/${address}`, { whitelist: ['0.0.0.0/0'] })).status,
    ).toBe(400);
    expect(
      (await tenant.patch(`/shield/v2/sensitivity/${address}`, { whitelist: null })).body.data.sensitivity
        .whitelist,
    ).toEqual([]);
    await product.seconds(4);
    expect(await measureAt(address)).toEqual([]);
  });
});

describe('what stands', () => {
  it('stays after the attack where its owner wants that, until somebody releases it', async () => {
    tenant = await someone({ mitigation: 'permanent' });
    const ntp = reflected(tenant.address);
    await product.seconds(3, [ntp, 300]);
    await product.seconds(35);
    const attack = await newestAttack(tenant);
    const [stands] = attack.mitigations;
    expect([attack.ended_at === '', stands.in_force]).toEqual([false, true]);
    expect(await product.second([ntp, 5])).toEqual([0]);
    // The next attack finds it there, and shows it.
    await product.seconds(3, [ntp, 300]);
    const next = await newestAttack(tenant);
    expect(next.attack_id).not.toBe(attack.attack_id);
    expect(next.mitigations.map(({ id }: { id: number }) => id)).toEqual([stands.id]);
    await product.seconds(32);
    const release = await tenant.post(`/shield/v2/mitigations/${stands.id}/release`);
    expect(release.body.data.mitigation).toMatchObject({ releasing: true });
    await product.seconds(5);
    expect(await product.second([ntp, 5])).toEqual([5]);
    expect((await newestAttack(tenant)).mitigations[0]).toMatchObject({
      because: 'released_by_owner',
      releasing: false,
    });
  });

  it('is not begun again in the same attack once somebody has released it', async () => {
    tenant = await someone();
    const fragments = packet(tenant.address, { protocol: 17, ports: null, flags: null, fragment: true });
    await product.seconds(3, [fragments, 300]);
    const [first] = (await newestAttack(tenant)).mitigations;
    await tenant.post(`/shield/v2/mitigations/${first.id}/release`);
    expect(await product.seconds(6, [fragments, 300])).toEqual([300]);
    product.restart();
    expect(await product.seconds(4, [fragments, 300])).toEqual([300]);
    expect(await measuresOf(tenant)).toEqual(['drop_fragments']);
    await product.seconds(33);
    await product.seconds(2, [fragments, 300]);
    expect(await product.second([fragments, 300])).toEqual([0]);
    await product.seconds(33);
  });

  it('ends when its owner wants to be told only', async () => {
    tenant = await someone();
    const ntp = reflected(tenant.address);
    await product.seconds(3, [ntp, 300]);
    await tenant.patch(`/shield/v2/sensitivity/${tenant.address}`, { mode: 'monitor' });
    expect(await product.seconds(5, [ntp, 300])).toEqual([300]);
    expect((await newestAttack(tenant)).mitigations[0].because).toBe('switched_off');
    await product.seconds(32);
  });

  it('is another organization’s to release as little as to see', async () => {
    tenant = await someone();
    const ntp = reflected(tenant.address);
    await product.seconds(3, [ntp, 300]);
    const [stands] = (await newestAttack(tenant)).mitigations;
    const other = await newTenant(product);
    expect((await other.post(`/shield/v2/mitigations/${stands.id}/release`)).status).toBe(403);
    expect((await other.post('/shield/v2/mitigations/42/release')).status).toBe(404);
    expect(await product.seconds(4, [ntp, 300])).toEqual([0]);
    await product.seconds(33);
  });

  it('goes on under whoever looks after the node next, in the same writing, and counts nothing twice', async () => {
    tenant = await someone();
    const ntp = reflected(tenant.address);
    await product.seconds(3, [ntp, 300]);
    const before = await measureAt(tenant.address);
    product.restart();
    expect(await product.seconds(3, [ntp, 300])).toEqual([0]);
    expect(await measureAt(tenant.address)).toEqual(before);
    const [stands, ...others] = (await newestAttack(tenant)).mitigations;
    expect([stands.counters.packets, others]).toEqual([1_200, []]);
    await product.seconds(33);
    expect(await measureAt(tenant.address)).toEqual([]);
  });

  it('is put right where the edge has lost it, has what nobody knows of, or is newer than a restored database', async () => {
    tenant = await someone();
    const ntp = reflected(tenant.address);
    await product.seconds(3, [ntp, 300]);
    const [held] = await measureAt(tenant.address);
    const generation = Number(held?.generation);
    await product.edge.release([{ destination: `${tenant.address}/32`, generation }]);
    const stray = { destination: '10.250.0.1/32', generation: 1, measure: { kind: 'blackhole' } } as const;
    await product.edge.mitigate(stray);
    expect(await product.second([ntp, 300])).toEqual([300]);
    await product.seconds(61, [ntp, 300]);
    expect(await product.second([ntp, 300])).toEqual([0]);
    expect(await measureAt('10.250.0.1')).toEqual([]);
    const newer = { kind: 'filter', rules: [], exempt: [] } as const;
    await product.edge.mitigate({
      destination: `${tenant.address}/32`,
      generation: generation + 86_400_000,
      measure: newer,
    });
    await product.seconds(61, [ntp, 300]);
    expect(await product.second([ntp, 300])).toEqual([0]);
    await product.seconds(33);
  });

  it('begins and goes on while the database does not answer, and is written down once it does', {
    timeout: 120_000,
  }, async () => {
    tenant = await someone();
    const ntp = reflected(tenant.address);
    const holder = new pg.Client({ connectionString: product.databaseUrl });
    await holder.connect();
    await holder.query('begin; lock table shield_attacks, shield_rules, addresses in access exclusive mode');
    await product.seconds(2, [ntp, 300]);
    expect(await product.seconds(3, [ntp, 300])).toEqual([0]);
    await holder.query('rollback');
    await holder.end();
    const met = await until(
      async () => {
        await product.second();
        return newestAttack(tenant);
      },
      (attack) => attack?.mitigations[0]?.counters.packets === 900,
    );
    expect(met).toMatchObject({ description: 'NTP reflection', counters: { packets: 1_500 } });
    expect(met.mitigations).toMatchObject([{ measure: 'drop_reflection', in_force: true }]);
    await product.seconds(33);
  });

  it('says why the edge does not take it, to its owner in plain words and to staff in full, and is tried again', async () => {
    tenant = await someone();
    const ntp = reflected(tenant.address);
    const sound = product.edge.mitigate;
    product.edge.mitigate = async () => {
      throw new EdgeError('edge_refused', 'nft exited with 1: no space left on device');
    };
    await product.seconds(4, [ntp, 300]);
    const [failed] = (await newestAttack(tenant)).mitigations;
    expect(failed).toMatchObject({ in_force: false, in_force_since: null });
    expect(failed.error).toMatch(/tried again/);
    const { body } = await product.staff.get('/staff/attention');
    expect(JSON.stringify(body.data)).toContain('no space left on device');
    product.edge.mitigate = sound;
    await product.seconds(6, [ntp, 300]);
    expect(await product.second([ntp, 300])).toEqual([0]);
    expect((await newestAttack(tenant)).mitigations[0]).toMatchObject({ in_force: true, error: null });
    await product.seconds(33);
  });

  it('goes along with a machine that moves to another node, with its attack, and is let go of where it was', async () => {
    tenant = await someone();
    const { address } = tenant;
    const ntp = reflected(address);
    await product.seconds(3, [ntp, 300]);
    const attack = await newestAttack(tenant);
    const [node] = await sql<{ id: number }>(
      product,
      `insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, created_at, state)
       select 'other', location, cpu_cores, memory_mib, disk_gib, created_at, 'draining' from nodes where id = $1 returning id`,
      product.nodeId,
    );
    const there = memoryEdge({ now: () => product.clock.now().getTime() });
    const watch = createWatcher(product.ctx, Number(node?.id), () => there, noRouters);
    await watch();
    const move = (to: unknown) =>
      sql(product, 'update placements set node_id = $1 where service_id = $2', to, tenant.serviceId);
    await move(node?.id);
    for (let nth = 0; nth < 4; nth += 1) {
      for (let sent = 0; sent < 300; sent += 1) there.pass(ntp);
      await product.second();
      await watch();
    }
    expect([product.edge.pass(ntp), there.pass(ntp)]).toEqual([true, false]);
    expect(await newestAttack(tenant)).toMatchObject({ attack_id: attack.attack_id, ended_at: '' });
    expect((await newestAttack(tenant)).mitigations).toMatchObject([
      { id: attack.mitigations[0].id, released_at: null },
    ]);
    for (let nth = 0; nth < 35; nth += 1) {
      product.clock.travel(1_000);
      await watch();
    }
    expect((await newestAttack(tenant)).mitigations).toMatchObject([{ because: 'attack_over' }]);
    expect(there.pass(ntp)).toBe(true);
    await move(product.nodeId);
  });

  it('goes before the next owner when the address is given back', async () => {
    tenant = await someone({ mitigation: 'permanent' });
    const ntp = reflected(tenant.address);
    await product.seconds(3, [ntp, 300]);
    expect(await measureAt(tenant.address)).toHaveLength(1);
    await tenant.post(`/dashboard/services/${tenant.serviceId}/cancel`, { type: 'immediate' });
    for (let nth = 0; nth < 20 && (await measureAt(tenant.address)).length > 0; nth += 1)
      await product.second([ntp, 300]);
    expect(await measureAt(tenant.address)).toEqual([]);
    await product.seconds(3);
    const [over] = await sql<{ because: string }>(
      product,
      'select because from shield_mitigations where address = $1::inet',
      tenant.address,
    );
    expect(over?.because).toBe('given_back');
    expect(
      await sql(product, 'select 1 from shield_filters where address = $1::inet', tenant.address),
    ).toEqual([]);
  });
});

changes.leaveEntries(() => product, ['releaseShieldMitigation']);
