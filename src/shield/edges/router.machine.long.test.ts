/** A worker on a router, with real packets: from outside over the router and a node behind it to a guest. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Child, startChild } from '../../../test/child.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { settled } from '../../../test/sql.ts';
import { nftablesEdge } from '../../drivers/edge/index.ts';
import { runAsRoot } from '../../platform/host/program.ts';
import { newTenant, ruleInForce, rulesPath, type Tenant } from '../testbed.ts';
import { type RoutedNetwork, routedNetwork } from './network.testbed.ts';
import { machineNodes } from './router.testbed.ts';

const patienceMs = 60_000;

describe('a worker on a router, of packets to machines behind it', { timeout: 300_000 }, () => {
  let network: RoutedNetwork;
  let product: TestProduct;
  let tenant: Tenant;
  let router: Child;
  let folder: string;
  let edgePath: string;
  let nodes: number[];
  let denies: number;
  let permits: number;
  const startRouter = () =>
    startChild(
      folder,
      {
        ...{ DATABASE_URL: product.databaseUrl, ROLE: 'worker', HYPERVISOR: 'none', EDGE: 'nftables' },
        ...{ NODE_NAME: 'router-1', LOCATION: 'FRONT', DEMO: 'off' },
      },
      patienceMs,
      undefined,
      network.atRouter,
    );
  const rule = (port: number, change: Record<string, unknown>) => ({
    ...{ destination: tenant.address, action: 'deny', protocol: 17, order: port },
    destination_port: { match_type: 'eq', match_value: [port] },
    ...change,
  });
  const counted = async (id: number) =>
    (await tenant.get(`${rulesPath}/${id}`)).body.data.rule.counters.packets as number;
  const edge = async () => (await product.staff.get(edgePath)).body.data.edge;
  /** Which text of which policy stands at a host, by its table. */
  const policies = async (at: RoutedNetwork['atNode']) =>
    (await runAsRoot(at(['nft', 'list', 'map', 'inet', 'innkeeper_edge', 'policies4']))).stdout;
  const isAt = async (at: RoutedNetwork['atNode']) => (await policies(at)).includes(`${tenant.address} :`);
  const standBefore = async (ids: number[]) => {
    expect((await product.staff.patch(edgePath, { nodes: ids })).status).toBe(200);
    const there = ids.length > 0 ? [true, false, 0] : [false, true, 0];
    await until(
      async () => [await isAt(network.atRouter), await isAt(network.atNode), (await edge()).moving.length],
      (seen) => seen.join() === there.join(),
      patienceMs,
    );
  };

  beforeAll(async () => {
    network = await routedNetwork();
    const own = nftablesEdge({ bridged: false, inside: network.atNode });
    product = await startTestProduct({ drivers: { edge: own } });
    tenant = await newTenant(product);
    await network.lead(tenant.address, tenant.address6);
    nodes = await machineNodes(product);
    folder = await mkdtemp('/tmp/innkeeper-router-');
    await copyFile(path.join(product.ctx.config.dataDir, 'secret.key'), path.join(folder, 'secret.key'));
    router = await startRouter();
    const { edges } = (await product.staff.get('/staff/shield/edges?kind=router')).body.data;
    edgePath = `/staff/shield/edges/${edges[0].id}`;
    denies = await ruleInForce(tenant, rule(9, {}));
    permits = await ruleInForce(tenant, rule(10, { action: 'permit' }));
    await ruleInForce(tenant, rule(9, { destination: tenant.address6 }));
  }, 180_000);
  afterAll(async () => {
    await router?.end('SIGTERM');
    await product?.stop();
    await network?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const sendBoth = async (closed: number, open: number) => {
    const before = [network.arrived(9), network.arrived(10)];
    await network.send(tenant.address, 9, closed);
    await network.send(tenant.address, 10, open);
    await until(
      async () => network.arrived(10) - (before[1] ?? 0),
      (arrived) => arrived >= open,
    );
    return [network.arrived(9) - (before[0] ?? 0), network.arrived(10) - (before[1] ?? 0)];
  };

  it('closes ports there, and counts each packet once', async () => {
    expect(await edge()).toMatchObject({ kind: 'router', engine: 'nftables', served: true, reason: null });
    expect(await sendBoth(100, 100)).toEqual([0, 100]);
    await standBefore(nodes);
    expect(await sendBoth(500, 300)).toEqual([0, 300]);
    await network.send(tenant.address6, 9, 50);
    await until(
      () => Promise.all([counted(denies), counted(permits)]),
      ([closed, open]) => closed === 600 && open === 400,
      patienceMs,
    );
    // The chain at the node is gone: what is closed, is so before it.
    const { body } = await tenant.post(rulesPath, rule(9, { order: 1, source: '198.18.0.0/24' }));
    await until(
      async () => (await tenant.get(`${rulesPath}/${body.data.rule_id}`)).body.data.rule.enforced.active,
      Boolean,
      patienceMs,
    );
    expect(await isAt(network.atNode)).toBe(false);
    expect((await tenant.delete(`${rulesPath}/${body.data.rule_id}`)).status).toBe(200);
    await settled(product);
    await until(
      () => edge(),
      ({ health }) => health.seen_at !== null && health.error === null,
      patienceMs,
    );
    expect(network.arrived(9)).toBe(0);
  });

  it('leaves them closed when it is killed, and changes nothing when it is back', async () => {
    const before = await policies(network.atRouter);
    expect(before).toContain(tenant.address);
    const closed = await counted(denies);
    await router.end('SIGKILL');
    expect(await sendBoth(200, 200)).toEqual([0, 200]);
    router = await startRouter();
    await until(
      () => counted(denies),
      (packets) => packets === closed + 200,
      // A reading that took long while the process began is followed by a rest that is twenty times as long.
      180_000,
    );
    expect(await policies(network.atRouter)).toBe(before);
  });

  it('hands over to the node and takes over from it under traffic, with nothing let through and none counted twice', async () => {
    const begun = await Promise.all([counted(denies), counted(permits)]);
    const arrived = [network.arrived(9), network.arrived(10)];
    const sending = [9, 10].map((port) => network.send(tenant.address, port, 4_000, 400));
    await standBefore([]);
    await standBefore(nodes);
    await standBefore([]);
    await Promise.all(sending);
    await until(
      async () => network.arrived(10) - (arrived[1] ?? 0),
      (seen) => seen === 4_000,
    );
    expect(network.arrived(9)).toBe(arrived[0]);
    await until(
      () => counted(denies),
      (packets) => packets === (begun[0] ?? 0) + 4_000,
      patienceMs,
    );
    expect(await counted(permits)).toBeLessThanOrEqual((begun[1] ?? 0) + 4_000);
    // The router lets all through now: the node filters by itself, and counts all of it.
    await router.end('SIGTERM');
    const calm = await counted(permits);
    expect(await sendBoth(150, 150)).toEqual([0, 150]);
    await until(
      () => Promise.all([counted(denies), counted(permits)]),
      ([closed, open]) => closed === (begun[0] ?? 0) + 4_150 && (open ?? 0) >= calm + 150,
      patienceMs,
    );
  });
});
