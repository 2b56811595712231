/** Guests that have run in a cluster while their move was under way, and the room of what is left of machines. */
import { beforeAll, expect, it } from 'vitest';
import type { Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { leftRooms, wrongRooms } from '../../../test/rooms.ts';
import { settled, sql } from '../../../test/sql.ts';
import {
  HypervisorError,
  type HypervisorErrorCode,
  type SimulatedHypervisor,
} from '../../drivers/hypervisor/index.ts';
import type { ClusterBed } from '../../fleet/clusters/clusters.testbed.ts';
import { machineIdOf } from '../machine.ts';
import { departing } from './departing.testbed.ts';

const { store, atHost, vps, read, ended, ordered, inCluster, hereIs, there } = departing();
let bed: ClusterBed;
let customer: Person;
let host: number;
let cluster: number;

beforeAll(() => {
  ({ bed, customer, host, cluster } = there());
});

const evacuate = (...ids: number[]) =>
  bed.product.staff.post(`/staff/nodes/${host}/evacuate`, {
    cluster_id: cluster,
    service_ids: ids,
    cold: true,
  });
const concerns = async () =>
  JSON.stringify((await bed.product.staff.get('/staff/attention')).body.data.concerns);
const rooms = () => leftRooms(bed.product);

/** Has every member do a thing in another way; gives how to end that. */
function members(calls: Partial<SimulatedHypervisor>): () => void {
  const all = [...bed.simulated.members.values()].map(({ hypervisor }) => ({
    hypervisor,
    before: { ...hypervisor },
  }));
  for (const { hypervisor } of all) Object.assign(hypervisor, calls);
  return () => {
    for (const { hypervisor, before } of all) Object.assign(hypervisor, before);
  };
}

function goesDown(id: number): void {
  for (const { store: member } of bed.simulated.members.values()) {
    const machine = member.machines.get(machineIdOf(id, 2));
    if (machine !== undefined) machine.startedAtMs = null;
  }
}

/** A guest that is started, and of which nobody hears then. */
const ready = (id: number, code: HypervisorErrorCode, permanent: boolean) => ({
  waitUntilReady: async () => {
    if (code === 'machine_died') goesDown(id);
    throw new HypervisorError(code, 'not a word of it', { permanent });
  },
});

const stuckJob = (id: number) =>
  until(
    () =>
      sql<{ id: string; stuck_reason: string }>(
        bed.product,
        `select id::text as id, stuck_reason from jobs where state = 'stuck' and name = 'vps.moveIntoCluster' and (payload->>'serviceId')::bigint = $1`,
        id,
      ),
    (found) => found.length > 0,
    60_000,
  );

it('one that was started there and went down has moved: what it wrote is there, its host keeps what it had, and staff is told', async () => {
  const id = await ordered('died.example.com');
  const end = members(ready(id, 'machine_died', false));
  await evacuate(id);
  const { machines, halted_for } = await ended();
  end();
  expect(machines).toMatchObject([
    {
      state: 'moved',
      reason: expect.stringMatching(/it was started in the cluster and went down there. Look at it/),
    },
  ]);
  expect([hereIs(id), Object.keys(await inCluster(id))]).toEqual(['stopped', [machineIdOf(id, 2)]]);
  expect(halted_for ?? 'it has ended').toMatch(/went down there$|^it has ended$/);
  await until(
    concerns,
    (all) => all.includes(`node-1 has a machine ${machineIdOf(id)} that no service has`),
    60_000,
  );
  // It is the machine now: like every one that should run and is down it is started again.
  await until(
    () => inCluster(id),
    (found) => found[machineIdOf(id, 2)] === 'running',
    60_000,
  );
  expect(hereIs(id)).toBe('stopped');
  // Its disk is held for until a person has removed it; its cores and memory are not.
  const [left] = await rooms();
  expect(left).toMatchObject({ node: 'node-1', machine: machineIdOf(id), cpu_cores: 0, memory_mib: 0 });
  expect(left?.disk_gib).toBeGreaterThan(0);
  expect(await wrongRooms(bed.product)).toEqual([]);
  store.machines.delete(machineIdOf(id));
  await until(rooms, (all) => all.length === 0, 60_000);
  expect(await wrongRooms(bed.product)).toEqual([]);
}, 120_000);

it('one that has run there is taken away by no job, whatever fails then: it waits for a person', async () => {
  const id = await ordered('ran.example.com');
  const end = members(ready(id, 'disk_failed', true));
  await evacuate(id);
  const [job] = await stuckJob(id);
  end();
  expect([hereIs(id), await inCluster(id)]).toEqual(['stopped', { [machineIdOf(id, 2)]: 'running' }]);
  expect(await read()).toMatchObject({ machines: [{ state: 'moving' }] });
  expect(job?.stuck_reason).toMatch(/is left alone: it may be the machine by now/);
  expect(await concerns()).toContain('vps.moveIntoCluster');
  // Once a person has removed it the job goes on, and the machine starts where it was.
  for (const { hypervisor } of bed.simulated.members.values()) await hypervisor.destroy(machineIdOf(id, 2));
  await bed.product.staff.post(`/staff/jobs/${job?.id}/retry`);
  expect((await ended()).machines).toMatchObject([{ state: 'stays' }]);
  await until(
    async () => hereIs(id),
    (power) => power === 'running',
    60_000,
  );
  await settled(bed.product);
  await until(rooms, (all) => all.length === 0, 60_000);
  expect(await wrongRooms(bed.product)).toEqual([]);
}, 120_000);

it('one whose engine refused its start has not run, and goes back by itself', async () => {
  const id = await ordered('refused.example.com');
  const end = members({
    start: async () => {
      throw new HypervisorError('start_failed', 'no way', { permanent: true });
    },
  });
  await evacuate(id);
  expect((await ended()).machines).toMatchObject([
    { state: 'stays', reason: expect.stringMatching(/no way/) },
  ]);
  end();
  await settled(bed.product);
  expect([hereIs(id), await inCluster(id)]).toEqual(['running', {}]);
}, 120_000);

it('its host holds room for what it has of it until that is gone, and is promised to nobody meanwhile', async () => {
  const id = await ordered('room.example.com');
  await until(rooms, (all) => all.length === 0, 60_000);
  const nodeOf = async () => (await bed.product.staff.get(`/staff/nodes/${host}`)).body.data.node;
  const before = await nodeOf();
  let during: unknown;
  let held: unknown;
  bed.simulated.recovering.before = async (machine) => {
    if (machine !== machineIdOf(id, 2)) return null;
    during = (await nodeOf()).taken;
    held = await rooms();
    return null;
  };
  await evacuate(id);
  expect((await ended()).machines).toMatchObject([{ state: 'moved', reason: null }]);
  expect(during).toEqual(before.taken);
  expect(held).toMatchObject([{ node: 'node-1', machine: machineIdOf(id), cpu_cores: 1 }]);
  const after = await nodeOf();
  expect([await rooms(), await wrongRooms(bed.product)]).toEqual([[], []]);
  expect(after.taken.memory_mib).toBeLessThan(before.taken.memory_mib);

  // One that comes back to it holds no more than it did.
  const other = await ordered('back.example.com');
  const placed = await nodeOf();
  atHost.keep = () => new HypervisorError('machine_absent', 'no such disk', { permanent: true });
  await evacuate(other);
  expect((await ended()).machines).toMatchObject([{ state: 'stays' }]);
  await settled(bed.product);
  await until(rooms, (all) => all.length === 0, 60_000);
  expect([(await nodeOf()).taken, await wrongRooms(bed.product)]).toEqual([placed.taken, []]);
}, 120_000);

it('after a restore a restart that would wait for a silent cluster stops nothing, and says so at once', async () => {
  const id = await ordered('restart.example.com');
  // It was to go into the cluster when the backup was made.
  await sql(
    bed.product,
    `with e as (insert into vps_evacuations (node_id, kind, cold, cluster_id, state, started_at, ended_at)
       values ($1, 'evacuate', true, $2, 'stopped', now(), now()) returning id)
     insert into vps_moves (id, evacuation_id, service_id, organization_id, state)
     select 4343, e.id, m.service_id, m.organization_id, 'stays' from e, machines m where m.service_id = $3`,
    ...[host, cluster, id],
  );
  bed.simulated.isReachable = false;
  bed.product.clock.travel(31_000);
  await until(
    async () => (await bed.product.staff.get(`/staff/clusters/${cluster}`)).body.data.cluster.trouble,
    (trouble) => trouble !== null,
    60_000,
  );
  const [restore] = await sql<{ id: string }>(
    bed.product,
    'insert into restores (made_at, restored_at, settled_at) values ($1, $1, $1) returning id::text as id',
    bed.product.clock.now(),
  );
  const since = store.machines.get(machineIdOf(id))?.startedAtMs;
  for (const [path, body] of [
    ['restart', {}],
    ['reinstall', { os: 'tiny' }],
  ] as const) {
    const { id: action } = (await customer.post(vps(id, path), body)).body.data.action;
    const failed = await until(
      async () => (await customer.get(vps(id, `history/${action}`))).body.data.action,
      ({ status }) => status === 'error' || status === 'success',
      30_000,
    );
    expect(failed, path).toMatchObject({
      status: 'error',
      error: {
        message: expect.stringMatching(
          /^Another copy of this machine may exist; .*Try again in a few minutes/,
        ),
      },
    });
    expect((await customer.get(vps(id, 'overview'))).body.data.vps, path).toMatchObject({
      ...{ state: 'running', locked: false },
    });
  }
  expect(store.machines.get(machineIdOf(id))?.startedAtMs).toBe(since);
  await bed.product.staff.post(`/staff/restores/${restore?.id}/release`);
  bed.simulated.isReachable = true;
  await settled(bed.product);
}, 120_000);
