/** Attacks and routers as a whole: a real gobgpd and a real BIRD, told by a process that is killed, of attacks that another one watches. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Child, startChild } from '../../../test/child.ts';
import { until } from '../../../test/product.ts';
import { openRouters, type Routers, withoutRouters } from '../../drivers/edge/bgp/routers.testbed.ts';
import {
  type DrivenProduct,
  defended,
  newestAttack,
  reflected,
  startDriven,
} from '../mitigation/driven.testbed.ts';
import { newTenant, packet, type Tenant } from '../testbed.ts';

if (withoutRouters !== null) console.warn(`skipped, attacks told to real routers: ${withoutRouters}`);

describe.skipIf(withoutRouters !== null)('routers in front', { timeout: 180_000 }, () => {
  let routers: Routers;
  let product: DrivenProduct;
  let tenant: Tenant;
  let speaking: Child;
  let folder: string;
  let edgePath: string;
  const speak = () =>
    startChild(folder, {
      ...{ DATABASE_URL: product.databaseUrl, ROLE: 'worker', NODE_NAME: 'in-front', LOCATION: 'FRONT' },
      ...{ NETWORK4: '10.78.0.0/24', NETWORK6: 'fd77:0:0:78::/64' },
      ...{ HYPERVISOR: 'simulator', EDGE: 'none', DEMO: 'off', GOBGPD: routers.address },
    });

  beforeAll(async () => {
    routers = await openRouters();
    product = await startDriven();
    tenant = await newTenant(product);
    await defended(tenant, { blackhole: true });
    folder = await mkdtemp('/tmp/innkeeper-speaks-');
    await copyFile(path.join(product.ctx.config.dataDir, 'secret.key'), path.join(folder, 'secret.key'));
    speaking = await speak();
    const { edges } = (await product.staff.get('/staff/shield/edges?kind=routers')).body.data;
    edgePath = `/staff/shield/edges/${edges[0].id}`;
    await product.staff.patch(edgePath, { blackholes: true });
    await product.staff.post('/staff/shield/prefixes', {
      edge_id: edges[0].id,
      network: `${tenant.address}/32`,
    });
    const lines = { flowspec_from_pps: 400, blackhole_from_pps: 2_000 };
    expect((await product.staff.patch('/staff/settings', { shield: lines })).status).toBe(200);
  }, 180_000);
  afterAll(async () => {
    await speaking?.end('SIGTERM');
    await product?.stop();
    await routers?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const flows = async () => (await routers.table()).flows.map(({ text }) => text);
  const blackholes = async () => (await routers.table()).blackholes;
  const edge = async () => (await product.staff.get(edgePath)).body.data.edge;
  const standing = async (measure: string) =>
    (await newestAttack(tenant))?.mitigations.find(
      (each: { measure: string; because: string | null }) =>
        each.measure === measure && each.because === null,
    );
  /** An attack goes on until something is so. */
  const attackUntil = (
    count: number,
    kind: Parameters<DrivenProduct['second']>[0][0],
    isSo: () => Promise<boolean>,
  ) =>
    until(
      async () => {
        await product.second([kind, count]);
        return isSo();
      },
      Boolean,
      25_000,
    );

  it('have FlowSpec of an attack in full, also after either side died, and the product killed amid it', async () => {
    const ntp = reflected(tenant.address);
    await attackUntil(1_500, ntp, async () => (await flows()).length > 0);
    const there = await flows();
    expect(there.join('\n')).toContain(`dst ${tenant.address}/32; proto 17; sport 123`);
    await attackUntil(1_500, ntp, async () => (await standing('flowspec'))?.in_force === true);
    expect(await edge()).toMatchObject({
      health: { error: null, peers_down_since: null },
      routers: { routes: there.length, peers: [{ address: '10.99.0.2', state: 'established' }] },
    });
    // gobgpd dies: its peers forget everything. It is told again by itself.
    await routers.gobgpd.kill();
    await until(flows, (each) => each.length === 0, 60_000);
    await attackUntil(1_500, ntp, async () => ((await standing('flowspec'))?.error ?? null) !== null);
    expect(await product.second([ntp, 100])).toEqual([0]);
    await routers.gobgpd.start();
    await until(flows, (each) => each.length === there.length, 60_000);
    // The router dies: that is said with the mitigation, and it has all of it as soon as it is back.
    await routers.bird.kill();
    await attackUntil(1_500, ntp, async () => ((await standing('flowspec'))?.error ?? null) !== null);
    expect((await edge()).health.peers_down_since).not.toBeNull();
    await routers.bird.start();
    await until(flows, (each) => each.length === there.length, 60_000);
    await attackUntil(1_500, ntp, async () => (await standing('flowspec'))?.error === null);
    // Whoever speaks to them is killed: what was announced stands, and its next start tells nobody anything.
    await speaking.end('SIGKILL');
    await sleep(3_000);
    expect(await flows()).toEqual(there);
    const before = await routers.updates();
    speaking = await speak();
    await sleep(5_000);
    expect([await flows(), await routers.updates()]).toEqual([there, before]);
    const { id } = await standing('flowspec');
    expect((await product.staff.post(`/staff/shield/mitigations/${id}/release`)).status).toBe(200);
    await attackUntil(1_500, ntp, async () => (await flows()).length === 0);
  });

  it('lead an address to nowhere that its owner gives up, and take it back when that is forbidden meanwhile', async () => {
    const syn = packet(tenant.address);
    await attackUntil(6_000, syn, async () => (await blackholes()).length > 0);
    expect((await blackholes())[0]).toContain(`${tenant.address}/32`);
    // It is forbidden while nobody speaks to them.
    await speaking.end('SIGKILL');
    const organization = `/staff/shield/organizations/${tenant.organizationId}`;
    expect((await product.staff.patch(organization, { blackholes: 'forbidden' })).status).toBe(200);
    await product.seconds(4, [syn, 6_000]);
    expect(await blackholes()).toHaveLength(1);
    speaking = await speak();
    await until(blackholes, (each) => each.length === 0, 60_000);
  });

  it('that take fewer routes than they are told of are said to, and have all of it as soon as they take more', async () => {
    tenant = await newTenant(product);
    await defended(tenant, { whitelist: ['198.51.100.0/24', '198.18.0.0/24'] });
    const { id } = await edge();
    await product.staff.post('/staff/shield/prefixes', { edge_id: id, network: `${tenant.address}/32` });
    const ntp = reflected(tenant.address);
    const isInForce = async () => (await standing('flowspec'))?.in_force === true;
    await attackUntil(1_500, ntp, isInForce);
    const there = await until(flows, (each) => each.length >= 3);
    // The next session has to do with less than that, and is broken off each time.
    await routers.limitFlows(2);
    await routers.bird.kill();
    await routers.bird.start();
    await attackUntil(1_500, ntp, async () => (await edge()).routers.peers[0].refusals > 0);
    await attackUntil(1_500, ntp, async () => (await standing('flowspec'))?.error !== null);
    const { refusals } = (await edge()).routers.peers[0];
    // It comes back and goes again: nobody takes that for being well.
    await attackUntil(1_500, ntp, async () => {
      expect(await standing('flowspec')).toMatchObject({ in_force: false, error: expect.any(String) });
      const { health, routers: of } = await edge();
      expect(health.peers_down_since).not.toBeNull();
      return of.peers[0].refusals >= refusals + 2;
    });
    const { body } = await product.staff.get('/staff/attention');
    expect(JSON.stringify(body.data)).toMatch(
      /10\.99\.0\.2 is (connecting|refusing), and has broken off \d+ times/,
    );
    expect(await product.second([ntp, 100])).toEqual([0]);
    await routers.limitFlows(null);
    await attackUntil(1_500, ntp, isInForce);
    expect((await flows()).toSorted()).toEqual(there.toSorted());
    expect((await edge()).health.peers_down_since).toBeNull();
  });
});
