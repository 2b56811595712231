/** A worker on a router that is killed at every step of taking over and of handing over, with real packets all the while. */
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Child, startChild } from '../../../test/child.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { nftablesEdge } from '../../drivers/edge/index.ts';
import { runAsRoot } from '../../platform/host/program.ts';
import { newTenant, ruleInForce, type Tenant } from '../testbed.ts';
import { type RoutedNetwork, routedNetwork } from './network.testbed.ts';
import { machineNodes } from './router.testbed.ts';

const patienceMs = 120_000;
/** Where packets are not let through. */
const closed = 9;

describe('a worker on a router that is killed', { timeout: 1_200_000 }, () => {
  let network: RoutedNetwork;
  let product: TestProduct;
  let tenant: Tenant;
  let router: Child;
  let folder: string;
  let edgePath: string;
  let nodes: number[];
  const file = (name: string) => path.join(folder, name);
  const start = () =>
    startChild(
      folder,
      {
        ...{ DATABASE_URL: product.databaseUrl, ROLE: 'worker', HYPERVISOR: 'none', EDGE: 'nftables' },
        ...{ NODE_NAME: 'router-1', DEMO: 'off', INNKEEPER_CRASH_AT: `@${file('crash')}` },
        INNKEEPER_TRACE_FAILPOINTS: file('passed'),
      },
      patienceMs,
      undefined,
      network.atRouter,
    );
  const crashAt = (name: string) => writeFile(file('crash'), name);
  const isAt = async (at: RoutedNetwork['atNode']) =>
    (await runAsRoot(at(['nft', 'list', 'map', 'inet', 'innkeeper_edge', 'policies4']))).stdout.includes(
      `${tenant.address} :`,
    );
  const settledAt = async (ids: readonly number[]) => {
    const there = ids.length > 0 ? 'true,false,0' : 'false,true,0';
    const moving = async () => (await product.staff.get(edgePath)).body.data.edge.moving.length as number;
    const seen = async () =>
      [await isAt(network.atRouter), await isAt(network.atNode), await moving()].join();
    await until(seen, (now) => now === there, patienceMs);
  };
  const standBefore = async (ids: readonly number[]) =>
    expect((await product.staff.patch(edgePath, { nodes: ids })).status).toBe(200);

  beforeAll(async () => {
    network = await routedNetwork();
    folder = await mkdtemp('/tmp/innkeeper-router-');
    product = await startTestProduct({
      drivers: { edge: nftablesEdge({ bridged: false, inside: network.atNode }) },
    });
    tenant = await newTenant(product);
    await network.lead(tenant.address, tenant.address6);
    nodes = await machineNodes(product);
    await copyFile(path.join(product.ctx.config.dataDir, 'secret.key'), file('secret.key'));
    await crashAt('nowhere');
    router = await start();
    const { edges } = (await product.staff.get('/staff/shield/edges?kind=router')).body.data;
    edgePath = `/staff/shield/edges/${edges[0].id}`;
    await ruleInForce(tenant, {
      ...{ destination: tenant.address, action: 'deny', protocol: 17, order: 9 },
      destination_port: { match_type: 'eq', match_value: [closed] },
    });
  }, 300_000);
  afterAll(async () => {
    await router?.end('SIGTERM');
    await product?.stop();
    await network?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  /** What it passes while it takes over and hands over. */
  async function stepsPassed(): Promise<string[]> {
    await writeFile(file('passed'), '');
    for (const ids of [nodes, []]) {
      await standBefore(ids);
      await settledAt(ids);
    }
    const passed = (await readFile(file('passed'), 'utf8')).split('\n');
    return [...new Set(passed)].filter((name) =>
      /shield\.(handOver|takeOver|apply|dismissBefore)/.test(name),
    );
  }

  it('at any step lets no packet through that is denied, and what was begun is done once it is back', async () => {
    const steps = await stepsPassed();
    console.info(`killed at ${steps.length} steps: ${steps.join('; ')}`);
    expect(steps.length).toBeGreaterThanOrEqual(6);
    let isOver = false;
    let sent = 0;
    const sending = (async () => {
      for (; !isOver; sent += 100) await network.send(tenant.address, closed, 100, 500);
    })();
    let kills = 0;
    try {
      for (const step of steps) {
        await crashAt(step);
        let isKilled = false;
        for (const ids of [nodes, []]) {
          await standBefore(ids);
          // Some steps come when all is settled.
          const last = ids.length === 0 && !isKilled ? 5_000 : 0;
          const isDead = await Promise.race([
            router.gone.then(() => true),
            settledAt(ids)
              .then(() => pause(last))
              .then(() => false),
          ]);
          if (!isDead) continue;
          isKilled = true;
          await crashAt('nowhere');
          router = await start();
          await settledAt(ids);
        }
        if (isKilled) kills += 1;
        expect(network.arrived(closed), `killed at ${step}`).toBe(0);
      }
    } finally {
      isOver = true;
      await sending;
    }
    expect(kills).toBe(steps.length);
    expect(sent).toBeGreaterThan(0);
    expect(network.arrived(closed)).toBe(0);
  });
});
