import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { simulatedCluster } from '../../../test/simulatedCluster.ts';
import { sql } from '../../../test/sql.ts';
import { type DrivenClusters, driveClusters } from '../../clusters.ts';
import { HypervisorError, type OpenCluster, openClusters } from '../../drivers/hypervisor/index.ts';
import { systemClock } from '../../platform/index.ts';
import { type ClusterBed, clusterBed } from './clusters.testbed.ts';

/** How a process gets on with the cluster. */
interface Way {
  /** What its next comparison waits for. */
  stall: Promise<void> | null;
  compared: number;
  sampled: number;
}

const simulated = simulatedCluster(['n1']);
const newWay = (): Way => ({ stall: null, compared: 0, sampled: 0 });
const [slow, other] = [newWay(), newWay()];
let bed: ClusterBed;
const driven: DrivenClusters[] = [];

function over(way: Way): OpenCluster {
  return (...given) => {
    const cluster = simulated.open(...given);
    return {
      ...cluster,
      list: async () => {
        way.compared += 1;
        await way.stall;
        return cluster.list();
      },
      sample: async () => {
        way.sampled += 1;
        return cluster.sample();
      },
    };
  };
}

/** The cluster as the product's own process sees it, which looks at it once and reaches it no more. */
const cut: OpenCluster = (...given) => ({
  ...simulated.open(...given),
  nodes: async () => {
    throw new HypervisorError('host_not_ready', 'no way leads there', { waits: true });
  },
});

const drive = (way: Way) => {
  const { ctx } = bed.product;
  const around = { imagesDir: '/nowhere', log: ctx.log };
  driven.push(
    driveClusters(
      ctx,
      openClusters((connection) => over(way)(connection, around), ['127.0.0.1']),
    ),
  );
};
const watchedBy = async () =>
  (await sql<{ by: string | null }>(bed.product, 'select watched_by as by from clusters'))[0]?.by ?? null;

beforeAll(async () => {
  bed = await clusterBed(['n1'], { drivers: { openCluster: cut } });
});
afterAll(async () => {
  await Promise.all(driven.map((each) => each.stop()));
  await bed?.stop();
});

it('drives the first cluster of a fleet within seconds of a job about it', { timeout: 60_000 }, async () => {
  const ctx = { ...bed.product.ctx, clock: systemClock };
  const clusters = openClusters(
    (connection) => simulated.open(connection, { imagesDir: '/nowhere', log: ctx.log }),
    ['127.0.0.1'],
  );
  const process = driveClusters(ctx, clusters);
  const { id } = await bed.add();
  const began = performance.now();
  const isDriven = async () => {
    try {
      return clusters.of(id) !== undefined;
    } catch {
      return false; // a job would wait
    }
  };
  await until(isDriven, (it) => it, 30_000);
  expect(performance.now() - began).toBeLessThan(12_000);
  await process.stop();
  expect((await bed.product.staff.delete(`/staff/clusters/${id}`)).status).toBe(200);
});

it('leaves what machines have sent to whoever has gone on with the cluster meanwhile', {
  timeout: 60_000,
}, async () => {
  const stall = Promise.withResolvers<void>();
  slow.stall = stall.promise;
  await bed.add();
  drive(slow);
  await until(
    async () => slow.compared,
    (count) => count === 1,
  );
  const before = await watchedBy();
  bed.product.clock.travel(16_000);
  drive(other);
  await until(watchedBy, (by) => by !== null && by !== before);
  await until(
    async () => other.sampled,
    (count) => count > 0,
  );
  slow.stall = null;
  stall.resolve();
  const counted = other.sampled;
  await until(
    async () => other.sampled,
    (count) => count > counted,
    30_000,
  );
  expect(slow.sampled).toBe(0);
});
