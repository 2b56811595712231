/** A host that holds no machines and filters for those of other nodes, beside a product whose simulated machines are behind it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orderVps } from '../../../test/orders.ts';
import { sql } from '../../../test/sql.ts';
import {
  dropSsh,
  enforced,
  newTenant,
  packet,
  ruleInForce,
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

  it('takes over what is wanted before a node when staff says so, and gives it back', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address, { order: 50 }));
    expect((await router.standBefore(nodes)).status).toBe(200);
    await heldBy(router.edge, tenant.address);
    await heldBy(product.edge, tenant.address, false);
    expect([product.edge.pass(packet(tenant.address)), router.edge.pass(packet(tenant.address))]).toEqual([
      true,
      false,
    ]);
    expect((await edgeOf(router.edgeId)).nodes).toEqual(nodes);
    const https = dropSsh(tenant.address, { destination_port: { match_type: 'eq', match_value: [443] } });
    await ruleInForce(tenant, https);
    const web = packet(tenant.address, { ports: { source: 40_000, destination: 443 } });
    expect([product.edge.pass(web), router.edge.pass(web)]).toEqual([true, false]);
    expect((await router.standBefore([])).status).toBe(200);
    await heldBy(product.edge, tenant.address);
    await heldBy(router.edge, tenant.address, false);
    await enforced(tenant, id);
    expect([product.edge.pass(web), router.edge.pass(web)]).toEqual([false, true]);
  });
});
