import { afterAll, afterEach, beforeAll } from 'vitest';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import type { HypervisorError, SimulatedCall } from '../../drivers/hypervisor/index.ts';
import { simulatorStore } from '../../drivers/hypervisor/index.ts';
import { type ClusterBed, clusterBed, type NodeSeen } from '../../fleet/clusters/clusters.testbed.ts';
import { machineIdOf } from '../machine.ts';

/** A host of our own beside a cluster of two members, into which its machines go, and a customer whose they are. */
export interface Departing {
  bed: ClusterBed;
  customer: Person;
  host: number;
  cluster: number;
}

/** Declares the world of a file, and what is read and done in it. */
export function departing() {
  const store = simulatorStore();
  /** What fails of the own host, or begins there, at its next call of this name. */
  const atHost: Partial<Record<SimulatedCall, () => HypervisorError | null>> = {};
  let world: Departing;

  beforeAll(async () => {
    const failure = (call: SimulatedCall) => atHost[call]?.() ?? null;
    const bed = await clusterBed(['n1', 'n2'], { simulator: { store, failure } });
    const customer = await newCustomer(bed.product, { creditMinor: 200_000 });
    const [own] = await sql<{ id: number }>(bed.product, 'select id::int as id from nodes');
    const { id: cluster } = await bed.add();
    world = { bed, customer, host: Number(own?.id), cluster };
    await bed.nodes((all) => all.length === 2);
    await until(
      async () => (await bed.product.staff.get('/staff/images/tiny')).body.data.image,
      ({ clusters }) => clusters[0]?.state === 'ready',
    );
  }, 120_000);
  afterEach(async () => {
    world.bed.simulated.isReachable = true;
    world.bed.simulated.recovering = { before: () => null, after: () => null };
    for (const call of Object.keys(atHost)) delete atHost[call as SimulatedCall];
    await sql(world.bed.product, `update nodes set state = 'active'`);
  });
  afterAll(() => world?.bed.stop());

  const vps = (id: number, path: string) => `/dashboard/service/${id}/vps/${path}`;
  const read = async () =>
    (await world.bed.product.staff.get(`/staff/nodes/${world.host}/evacuation`)).body.data.evacuation;
  return {
    ...{ store, atHost, vps, read },
    /** Once it has begun. */
    there: () => world,
    ended: () => until(read, ({ state, moving }) => state !== 'running' && moving === 0, 60_000),
    lastAction: async (id: number) =>
      (await world.customer.get(vps(id, 'history?limit=1'))).body.data.actions[0],
    /** A machine on the own host. */
    ordered: async (domain: string): Promise<number> => {
      const { bed, customer } = world;
      const members = (await bed.nodes(() => true)).map(({ id }: NodeSeen) => id);
      await sql(bed.product, `update nodes set state = 'draining' where id = any($1)`, members);
      const { serviceId } = await runningVps(bed.product, customer, { domain }, 30_000);
      await sql(bed.product, `update nodes set state = 'active'`);
      if (!store.machines.has(machineIdOf(serviceId))) throw new Error('it is not on the own host');
      return serviceId;
    },
    /** What the cluster's members have of a service, by its name there: its power. */
    inCluster: async (id: number): Promise<Record<string, string>> => {
      const lists = ['n1', 'n2'].map((member) => world.bed.simulated.hypervisor(member).list());
      const mine = (await Promise.all(lists)).flat().filter((each) => each.id.startsWith(machineIdOf(id)));
      return Object.fromEntries(mine.map((each) => [each.id, each.power]));
    },
    /** How it is on the own host. */
    hereIs: (id: number) => {
      const machine = store.machines.get(machineIdOf(id));
      return machine === undefined ? 'absent' : machine.startedAtMs === null ? 'stopped' : 'running';
    },
  };
}
