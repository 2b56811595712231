/** A host that holds no machines and filters for those of other nodes, beside a product whose simulated machines are behind it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orderVps } from '../../../test/orders.ts';
import { until } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import type { Packet } from '../../drivers/edge/index.ts';
import { defended, newestAttack, reflected } from '../mitigation/driven.testbed.ts';
import {
  dropSsh,
  enforced,
  newTenant,
  packet,
  ruleInForce,
  rulesPath,
  type ShieldedProduct,
  startShielded,
  type Tenant,
} from '../testbed.ts';
import { heldBy, machineNodes, type RouterProcess, startRouter } from './router.testbed.ts';

let product: ShieldedProduct;
let router: RouterProcess;
let tenant: Tenant;
let nodes: number[];
beforeAll(async () => {
  product = await startShielded();
  nodes = await machineNodes(product);
  router = await startRouter(product, 'router-1', { env: { LOCATION: 'FRONT' } });
  tenant = await newTenant(product);
}, 120_000);
afterAll(async () => {
  await router?.stop();
  await product?.stop();
});

const edgeOf = async (id: number) => (await product.staff.get(`/staff/shield/edges/${id}`)).body.data.edge;

/** Where packets go that come to a machine behind it. */
const comesThrough = (each: Packet) => router.edge.pass(each) && product.edge.pass(each);
const web = () => packet(tenant.address, { ports: { source: 40_000, destination: 443 } });
const counted = async (id: number) =>
  (await tenant.get(`${rulesPath}/${id}`)).body.data.rule.counters.packets;
const settledAt = async (has: RouterProcess['edge'], hasNot: RouterProcess['edge']) => {
  await heldBy(has, tenant.address);
  await heldBy(hasNot, tenant.address, false);
  await until(
    () => edgeOf(router.edgeId),
    ({ moving }) => moving.length === 0,
  );
};

describe('a host that only filters', () => {
  it('is a node that has nothing to promise, of which no machine, image or pool comes', async () => {
    const { node } = (await product.staff.get(`/staff/nodes/${router.nodeId}`)).body.data;
    expect(node).toMatchObject({
      ...{ name: 'router-1', runs_machines: false, accepts_machines: false, reachable: true, machines: 0 },
      capacity: { cpu_cores: 0, memory_mib: 0, disk_gib: 0 },
      promised: { cpu_cores: 0, memory_mib: 0, disk_gib: 0 },
    });
    expect(await edgeOf(router.edgeId)).toMatchObject({
      ...{ kind: 'router', name: 'router-1', engine: 'memory', reason: null, served: true, nodes: [] },
      node: { id: router.nodeId, name: 'router-1', reachable: true },
    });
    for (let nth = 0; nth < 3; nth += 1) await orderVps(product, product.customer);
    const placed = await sql<{ node_id: number }>(product, 'select distinct node_id from placements');
    expect(placed.map(({ node_id }) => Number(node_id))).toEqual(nodes);
    expect(await sql(product, `select distinct location from address_pools`)).toHaveLength(1);
  });

  it('filters for no machine before staff has it do so', async () => {
    await ruleInForce(tenant, dropSsh(tenant.address));
    expect(product.edge.pass(packet(tenant.address))).toBe(false);
    expect(await router.edge.list()).toEqual([]);
  });

  it('takes over what is wanted before a node when staff says so, and gives it back, with nothing let through between', async () => {
    const denied = await ruleInForce(tenant, dropSsh(tenant.address, { order: 50 }));
    const permits = await ruleInForce(tenant, {
      ...dropSsh(tenant.address, { action: 'permit', order: 60 }),
      destination_port: { match_type: 'eq', match_value: [443] },
    });
    const begun = await counted(denied);
    let sent = 0;
    let calm = 0;
    const send = () => {
      sent += 1;
      if (comesThrough(packet(tenant.address))) throw new Error('a packet came through');
      comesThrough(web());
    };
    const sending = setInterval(send, 2);
    const sendCalmly = () => {
      for (let nth = 0; nth < 100; nth += 1) send();
      calm += 100;
    };
    for (let nth = 0; nth < 2; nth += 1) {
      expect((await router.standBefore(nodes)).status).toBe(200);
      await settledAt(router.edge, product.edge);
      expect((await edgeOf(router.edgeId)).nodes).toEqual(nodes);
      sendCalmly();
      expect((await router.standBefore([])).status).toBe(200);
      await settledAt(product.edge, router.edge);
      expect((await edgeOf(router.edgeId)).nodes).toEqual([]);
      sendCalmly();
    }
    clearInterval(sending);
    await until(
      () => counted(denied),
      (packets) => packets - begun === sent,
    );
    // Of what comes through, what passed while it went over is counted at one of both at most.
    const through = await until(
      () => counted(permits),
      (packets) => packets >= calm,
    );
    expect(through).toBeLessThanOrEqual(sent);
    expect(await enforced(tenant, denied)).toMatchObject({ enforced: { active: true, error: null } });
  });

  it('has each change of rules of those behind it, and what is tried out goes over with its time', async () => {
    const trial = { rules: [], destinations: [tenant.address], confirm_within_s: 60 };
    const { apply_id: id } = (await tenant.post(`${rulesPath}/apply`, trial)).body.data;
    await until(
      async () => product.edge.pass(packet(tenant.address)),
      (passed) => passed,
    );
    await router.standBefore(nodes);
    await settledAt(router.edge, product.edge);
    await until(
      async () => router.edge.pass(packet(tenant.address)),
      (passed) => passed,
    );
    expect((await tenant.post(`${rulesPath}/apply/${id}/cancel`)).status).toBe(200);
    await until(
      async () => router.edge.pass(packet(tenant.address)),
      (passed) => !passed,
    );
    const https = dropSsh(tenant.address, { order: 1 });
    await ruleInForce(tenant, { ...https, destination_port: { match_type: 'eq', match_value: [443] } });
    expect([product.edge.pass(web()), router.edge.pass(web())]).toEqual([true, false]);
    expect(await product.edge.list()).not.toContainEqual(
      expect.objectContaining({ destination: `${tenant.address}/32` }),
    );
  });

  it('traces packets to those behind it, for who asks elsewhere', async () => {
    const sending = setInterval(() => comesThrough(packet(tenant.address)), 20);
    const asked = { source: packet(tenant.address).source, destination: tenant.address, protocol: 6 };
    const body = { ...asked, destination_port: 22, live: true, packets: 3, seconds: 5 };
    const { status, body: answer } = await tenant.post(`${rulesPath}/explain`, body);
    clearInterval(sending);
    expect(status, JSON.stringify(answer)).toBe(200);
    const { rule_id, live } = answer.data;
    expect(live.packets).toHaveLength(3);
    expect(live.packets[0]).toMatchObject({ action: 'deny', by: 'rule', rule_id });
    const none = await tenant.post(`${rulesPath}/explain`, { ...body, destination_port: 7, seconds: 1 });
    expect(none.body.data.live.packets).toEqual([]);
    expect(await sql(product, 'select 1 from shield_traces')).toEqual([]);
  });
});

describe('an attack on a machine behind a host that only filters', () => {
  it('goes on as the same when that takes over, and what meets it stands all the while', async () => {
    const attacked = await newTenant(product);
    await defended(attacked);
    await router.standBefore([]);
    await settledAt(product.edge, router.edge);
    const ntp = reflected(attacked.address);
    const measureAt = async (edge: RouterProcess['edge']) =>
      (await edge.list()).some(
        (each) => each.as === 'mitigation' && each.destination === `${attacked.address}/32`,
      );
    let through = 0;
    const sending = setInterval(() => {
      for (let nth = 0; nth < 100; nth += 1) through += comesThrough(ntp) ? 1 : 0;
    }, 100);
    try {
      await until(() => measureAt(product.edge), Boolean);
      const { attack_id: id, mitigations } = await until(
        () => newestAttack(attacked),
        (attack) => attack?.mitigations[0]?.in_force === true,
      );
      through = 0;
      for (const [ids, has, hasNot] of [
        [nodes, router.edge, product.edge],
        [[], product.edge, router.edge],
        [nodes, router.edge, product.edge],
      ] as const) {
        expect((await router.standBefore(ids)).status).toBe(200);
        await until(async () => (await measureAt(has)) && !(await measureAt(hasNot)), Boolean);
      }
      expect(through).toBe(0);
      expect(await newestAttack(attacked)).toMatchObject({
        ...{ attack_id: id, ended_at: '' },
        mitigations: mitigations.map(({ id: each }: { id: number }) => ({ id: each, released_at: null })),
      });
    } finally {
      clearInterval(sending);
    }
  }, 120_000);
});

describe('staff', () => {
  const path = () => `/staff/shield/edges/${router.edgeId}`;

  it('is refused what makes no sense, and nothing changes', async () => {
    const second = await startRouter(product, 'router-2');
    const fronts = () => sql(product, 'select node_id, edge_id, in_charge from shield_fronts');
    const before = await fronts();
    const { edges } = (await product.staff.get('/staff/shield/edges?kind=node')).body.data;
    const refused: [string, unknown, number][] = [
      [path(), [4_242], 400],
      [path(), [router.nodeId], 400],
      [path(), [second.nodeId], 400],
      [path(), [...nodes, 4_242], 400],
      [path(), [-1], 400],
      [path(), ['node-1'], 400],
      [path(), 'all', 400],
      [path(), [1.5], 400],
      [`/staff/shield/edges/${edges[0].id}`, nodes, 400],
      // One stands before it already.
      [`/staff/shield/edges/${second.edgeId}`, nodes, 400],
      ['/staff/shield/edges/424242', nodes, 404],
    ];
    for (const [where, wanted, status] of refused) {
      const answer = await product.staff.patch(where, { nodes: wanted });
      expect([where, wanted, answer.status]).toEqual([where, wanted, status]);
    }
    const { body } = await product.staff.patch(`/staff/shield/edges/${second.edgeId}`, { nodes });
    expect(JSON.stringify(body)).toContain('router-1');
    expect((await tenant.patch(path(), { nodes: [] })).status).toBe(403);
    expect((await product.staff.delete(path())).body).toMatchObject({ code: 'edge_in_use' });
    expect(await fronts()).toEqual(before);
    await second.stop();
  });
});

describe('a host that only filters and is silent', () => {
  const silence = async () => {
    product.clock.travel(61_000);
    await product.periodic('fleet.watchNodes');
  };

  it('keeps in force what was, which staff sees; what is wanted then goes to the node when staff takes it away', async () => {
    const { edge, folder } = router;
    await router.stop({ keeps: true });
    await silence();
    expect(edge.pass(packet(tenant.address))).toBe(false);
    expect(await edgeOf(router.edgeId)).toMatchObject({ node: { reachable: false }, nodes });
    const { concerns } = (await product.staff.get('/staff/attention')).body.data;
    expect(JSON.stringify(concerns)).toContain('router-1');
    const { body } = await tenant.post(
      rulesPath,
      dropSsh(tenant.address, { destination_port: { match_type: 'eq', match_value: [80] } }),
    );
    const { rule } = (await tenant.get(`${rulesPath}/${body.data.rule_id}`)).body.data;
    expect(rule.enforced).toMatchObject({ active: false });
    expect(rule.enforced.error).toContain('not heard of');
    expect((await product.staff.patch(`/staff/shield/edges/${router.edgeId}`, { nodes: [] })).status).toBe(
      200,
    );
    await enforced(tenant, body.data.rule_id);
    expect(product.edge.pass(packet(tenant.address))).toBe(false);
    const again = await product.staff.patch(`/staff/shield/edges/${router.edgeId}`, { nodes });
    expect([again.status, again.body.code]).toEqual([409, 'conflict']);
    // Once it is back it lets go of what it has no more to do with.
    router = await startRouter(product, 'router-1', { edge, folder });
    await heldBy(edge, tenant.address, false);
    await enforced(tenant, body.data.rule_id);
  });

  it('is taken out of the list by staff, unless it is heard of or nodes are behind it', async () => {
    const at = `/staff/shield/edges/${router.edgeId}`;
    expect((await product.staff.delete(at)).body.code).toBe('edge_in_use');
    await router.standBefore(nodes);
    await settledAt(router.edge, product.edge);
    const { folder } = router;
    await router.stop({ keeps: true });
    await silence();
    expect((await product.staff.delete(at)).body.code).toBe('edge_in_use');
    // Nor does it become a host with machines meanwhile, and none that has some becomes such a host.
    const env = { HYPERVISOR: 'simulator', EDGE: 'memory' };
    await expect(startRouter(product, 'router-1', { env, folder })).rejects.toThrow(
      '"router-1" filters for the machines of node-1: start it with HYPERVISOR=none',
    );
    await expect(startRouter(product, 'node-1')).rejects.toThrow('DATA_DIR');
    await product.staff.patch(at, { nodes: [] });
    await heldBy(product.edge, tenant.address);
    expect((await product.staff.delete(at)).status).toBe(200);
    router = await startRouter(product, 'router-1', { folder });
  });
});
