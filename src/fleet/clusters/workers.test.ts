import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeDataDir } from '../../../test/dataDir.ts';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type SimulatedCluster, simulatedCluster } from '../../../test/simulatedCluster.ts';
import { sql } from '../../../test/sql.ts';
import {
  type Cluster,
  HypervisorError,
  type OpenCluster,
  simulatedHypervisor,
} from '../../drivers/hypervisor/index.ts';
import { createLog } from '../../platform/index.ts';
import { type Product, startProduct } from '../../product.ts';
import { type ClusterBed, clusterBed } from './clusters.testbed.ts';

/** Two processes that do jobs, each with a way of its own to the cluster. */
let simulated: SimulatedCluster;
const first = { isCut: false };
const second = { isCut: false };
let bed: ClusterBed;
let other: Product;
let dataDir: string;
let customer: Person;
let id: number;

function over(way: { isCut: boolean }): OpenCluster {
  const behind = <T extends object>(thing: T): T =>
    new Proxy(thing, {
      get: (target, name) => {
        const found = target[name as keyof T];
        if (typeof found !== 'function') return found;
        if (name === 'on') return (member: string) => behind((found as Cluster['on'])(member));
        if (name === 'watch' || name === 'close') return found;
        return async (...given: unknown[]) => {
          if (way.isCut) throw new HypervisorError('host_not_ready', 'no way leads there', { waits: true });
          return (found as (...given: unknown[]) => unknown)(...given);
        };
      },
    });
  return (...given) => behind(simulated.open(...given));
}

// All of it anew for each try: what one has done to the cluster stands in the way of the next.
beforeEach(async () => {
  simulated = simulatedCluster(['n1']);
  first.isCut = false;
  second.isCut = false;
  const env = { SECRET_KEY: Buffer.alloc(32, 7).toString('base64') };
  bed = await clusterBed(['n1'], { env, drivers: { openCluster: over(first) } });
  dataDir = mkdtempSync(join(tmpdir(), 'innkeeper-worker-'));
  const config = {
    ...bed.product.ctx.config,
    role: 'worker' as const,
    nodeName: 'node-2',
    dataDir,
    workerPort: 0,
  };
  const drivers = { hypervisor: simulatedHypervisor(), openCluster: over(second) };
  const silent = { stage: () => undefined, say: () => undefined };
  other = await startProduct(config, silent, { clock: bed.product.clock, drivers, log: createLog('silent') });
  await sql(bed.product, `update nodes set state = 'draining'`);
  customer = await newCustomer(bed.product, { creditMinor: 50_000 });
}, 120_000);
afterEach(async () => {
  await other?.stop();
  await bed?.stop();
  if (dataDir) await removeDataDir(dataDir);
});

/** Who has the say over the cluster; null where who had it has left it to others. */
const watchedBy = async () =>
  (
    await sql<{ by: string }>(
      bed.product,
      'select watched_by as by from clusters where watched_until is not null',
    )
  )[0]?.by ?? null;
const overview = async () => (await customer.get(`/dashboard/service/${id}/vps/overview`)).body.data.vps;
const patienceMs = 90_000;
/** How many processes serve the node of the cluster, as their locks show. */
const serving = () =>
  sql<{ count: number }>(
    bed.product,
    `select count(*)::int as count from pg_locks l join nodes n on n.id = l.objid::bigint
     where l.locktype = 'advisory' and l.classid = 741103 and n.cluster_id is not null and l.database =
       (select oid from pg_database where datname = current_database())`,
  );
const servedBy = (count: number) => until(serving, ([row]) => row?.count === count, patienceMs);

it('what a member is asked for is done by whoever reaches its cluster', { timeout: 300_000 }, async () => {
  // Which process looks whether a cluster is fit, and which brings it its images, is not said: both reach it by then.
  expect((await bed.add()).check).toMatchObject({ state: 'ok', problems: [] });
  await until(
    async () => (await bed.product.staff.get('/staff/images/tiny')).body.data.image,
    ({ clusters }) => clusters[0]?.state === 'ready',
    patienceMs,
  );
  await servedBy(2);
  second.isCut = true;
  await servedBy(1);
  ({ serviceId: id } = await runningVps(bed.product, customer, {}, patienceMs));
  const writer = await until(watchedBy, (by) => by !== null, patienceMs);

  second.isCut = false;
  await servedBy(2);
  first.isCut = true;
  await servedBy(1);
  await customer.post(`/dashboard/service/${id}/vps/stop`);
  await until(overview, ({ state, locked }) => state === 'stopped' && !locked, patienceMs);
  const jobs = await sql<{ state: string; attempts: number }>(
    bed.product,
    `select state, attempts from jobs where name = 'vps.stop'`,
  );
  expect(jobs.every(({ attempts }) => attempts === 0)).toBe(true);

  // Who writes down what is heard changes with it, before anybody takes the member for silent.
  await until(watchedBy, (by) => by !== null && by !== writer, patienceMs);
  expect(await bed.nodes((nodes) => nodes.length === 1)).toMatchObject([{ reachable: true }]);
  expect(
    await sql(bed.product, `select id from journal where action in ('node.silent', 'cluster.silent')`),
  ).toEqual([]);
});
