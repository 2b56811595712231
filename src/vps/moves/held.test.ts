/** Moves that stand still, and machines that the database has forgotten: nothing runs twice, and nothing that may be the machine is taken away. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { HypervisorError, type SimulatedCall, simulatorStore } from '../../drivers/hypervisor/index.ts';
import { type ClusterBed, clusterBed, type NodeSeen } from '../../fleet/clusters/clusters.testbed.ts';
import { machineIdOf } from '../machine.ts';

const store = simulatorStore();
const atHost: Partial<Record<SimulatedCall, () => HypervisorError | null>> = {};
let bed: ClusterBed;
let customer: Person;
let host: number;
let cluster: number;

beforeAll(async () => {
  const failure = (call: SimulatedCall) => atHost[call]?.() ?? null;
  bed = await clusterBed(['n1', 'n2'], { simulator: { store, failure } });
  customer = await newCustomer(bed.product, { creditMinor: 200_000 });
  const [own] = await sql<{ id: number }>(bed.product, 'select id::int as id from nodes');
  host = Number(own?.id);
  ({ id: cluster } = await bed.add());
  await bed.nodes((all) => all.length === 2);
  await until(
    async () => (await bed.product.staff.get('/staff/images/tiny')).body.data.image,
    ({ clusters }) => clusters[0]?.state === 'ready',
  );
}, 120_000);
afterEach(async () => {
  bed.simulated.isReachable = true;
  bed.simulated.recovering = { before: () => null, after: () => null };
  for (const call of Object.keys(atHost)) delete atHost[call as SimulatedCall];
  await sql(bed.product, `update nodes set state = 'active'`);
});
afterAll(() => bed?.stop());

const vps = (id: number, path: string) => `/dashboard/service/${id}/vps/${path}`;
const evacuate = (ids: number[]) =>
  bed.product.staff.post(`/staff/nodes/${host}/evacuate`, {
    cluster_id: cluster,
    service_ids: ids,
    cold: true,
  });
const read = async () =>
  (await bed.product.staff.get(`/staff/nodes/${host}/evacuation`)).body.data.evacuation;
const ended = () => until(read, ({ state, moving }) => state !== 'running' && moving === 0, 60_000);
const refused = (message: string) => new HypervisorError('disk_failed', message, { permanent: true });
const lastAction = async (id: number) =>
  (await customer.get(vps(id, 'history?limit=1'))).body.data.actions[0];
const jobs = async () => (await bed.product.staff.get('/staff/jobs')).body.data.jobs;
const concerns = async () =>
  JSON.stringify((await bed.product.staff.get('/staff/attention')).body.data.concerns);

async function ordered(domain: string): Promise<number> {
  const members = (await bed.nodes(() => true)).map(({ id }: NodeSeen) => id);
  await sql(bed.product, `update nodes set state = 'draining' where id = any($1)`, members);
  const { serviceId } = await runningVps(bed.product, customer, { domain }, 30_000);
  await sql(bed.product, `update nodes set state = 'active'`);
  return serviceId;
}

const inCluster = async (id: number) => {
  const lists = ['n1', 'n2'].map((member) => bed.simulated.hypervisor(member).list());
  const mine = (await Promise.all(lists)).flat().filter((each) => each.id.startsWith(machineIdOf(id)));
  return Object.fromEntries(mine.map((each) => [each.id, each.power]));
};
const hereIs = (id: number) => {
  const machine = store.machines.get(machineIdOf(id));
  return machine === undefined ? 'absent' : machine.startedAtMs === null ? 'stopped' : 'running';
};
const stateOf = async (id: number) =>
  (await customer.get(vps(id, 'overview'))).body.data.vps as { state: string; locked: boolean };

/** Has what was made in the cluster neither start nor be taken away; gives how to end that. */
function resisting(): () => void {
  const all = [...bed.simulated.members.values()].map(({ hypervisor }) => ({
    hypervisor,
    before: { destroy: hypervisor.destroy, start: hypervisor.start },
  }));
  for (const { hypervisor } of all)
    Object.assign(hypervisor, {
      start: async () => {
        throw refused('it does not start');
      },
      destroy: async () => {
        bed.product.clock.travel(31_000);
        throw refused('it does not go away');
      },
    });
  return () => {
    for (const { hypervisor, before } of all) Object.assign(hypervisor, before);
  };
}

it('a move that stands still keeps its machine locked and begins no other; retried it comes to its end', async () => {
  const ids = [
    await ordered('one.example.com'),
    await ordered('two.example.com'),
    await ordered('three.example.com'),
  ];
  const letGo = resisting();
  await evacuate(ids);
  const stuck = await until(
    async () => (await jobs()).filter(({ state }: { state: string }) => state === 'stuck'),
    (all) => all.length === 2,
    60_000,
  );
  const [first, second]: number[] = stuck.map(
    (job: { payload: { serviceId: number } }) => job.payload.serviceId,
  );
  const third = ids.find((id) => id !== first && id !== second) ?? 0;
  if (first === undefined || second === undefined) throw new Error('two stand still');
  letGo();
  expect((await customer.post(vps(first, 'start'), {})).body.code).toBe('locked');
  expect(await stateOf(first)).toMatchObject({ locked: true });
  expect((await lastAction(first)).note).toMatch(/^It stands still/);
  expect(await read()).toMatchObject({ state: 'running', moving: 2, waiting: 1 });
  expect([hereIs(first), hereIs(third)]).toEqual(['stopped', 'running']);

  expect((await bed.product.staff.post(`/staff/jobs/${stuck[0].id}/retry`)).status).toBe(200);
  await until(
    async () => hereIs(first),
    (power) => power === 'running',
    60_000,
  );
  await until(
    () => stateOf(first),
    ({ locked }) => !locked,
  );
  // Its turn has come: two at once.
  await until(
    async () => hereIs(third),
    (power) => power === 'absent',
    60_000,
  );

  // The other one staff has seen to, and its job is not asked about any more.
  const [, other] = stuck;
  await bed.product.staff.post(`/staff/jobs/${other.id}/dismiss`, { reason: 'Taken away by hand' });
  const { machines } = await ended();
  expect(machines.find((each: { service_id: number }) => each.service_id === second)).toMatchObject({
    ...{ state: 'stays', reason: 'Staff has seen to it by other means' },
  });
  expect(await stateOf(second)).toMatchObject({ locked: false });
  // It may run in the cluster: nobody starts it here while something of that is there.
  await customer.post(vps(second, 'start'), {});
  await settled(bed.product);
  expect([hereIs(second), (await lastAction(second)).status]).toEqual(['stopped', 'error']);
  for (const { hypervisor } of bed.simulated.members.values())
    for (const name of Object.keys(await inCluster(second))) await hypervisor.destroy(name);
  await until(
    () => sql(bed.product, 'select 1 from vps_unknown_machines where service_id = $1', second),
    (found) => found.length === 0,
    60_000,
  );
  await customer.post(vps(second, 'start'), {});
  await until(
    async () => hereIs(second),
    (power) => power === 'running',
    60_000,
  );
  await settled(bed.product);
  // Going on with it then starts nothing that its customer has stopped since.
  await customer.post(vps(second, 'stop'), {});
  await until(
    async () => hereIs(second),
    (power) => power === 'stopped',
    60_000,
  );
  await settled(bed.product);
  await bed.product.staff.post(`/staff/jobs/${other.id}/retry`);
  await settled(bed.product);
  expect([hereIs(second), await inCluster(second)]).toEqual(['stopped', {}]);
}, 240_000);

it('a move that was held goes no further once it has ended: what the machine has written since is not left behind', async () => {
  const id = await ordered('held.example.com');
  let isCut = true;
  atHost.keep = () => (isCut ? new HypervisorError('host_not_ready', 'away', { waits: true }) : null);
  await evacuate([id]);
  await until(
    async () => hereIs(id),
    (power) => power === 'stopped',
  );
  const [job] = await until(
    () =>
      sql<{ id: string; error_code: string | null }>(
        bed.product,
        `select id::text as id, error_code from jobs where name = 'vps.moveIntoCluster' and (payload->>'serviceId')::bigint = $1`,
        id,
      ),
    ([row]) => row?.error_code != null,
  );
  // As after a restore, whose machine somebody has seen to since.
  await sql(
    bed.product,
    `update jobs set state = 'stuck', worker = null, finished_at = now(), held_at = now() where id = $1::bigint`,
    job?.id,
  );
  await bed.product.staff.post(`/staff/jobs/${job?.id}/dismiss`, { reason: 'It stays' });
  await ended();
  await until(
    async () => hereIs(id),
    (power) => power === 'running',
    60_000,
  );
  isCut = false;
  await bed.product.staff.post(`/staff/jobs/${job?.id}/retry`);
  await settled(bed.product);
  expect([hereIs(id), await inCluster(id)]).toEqual(['running', {}]);
}, 120_000);

it('moves that waited when the backup was made which was restored begin once staff has released it', async () => {
  const ids = [
    await ordered('h1.example.com'),
    await ordered('h2.example.com'),
    await ordered('h3.example.com'),
  ];
  const beginsAt = new Date(bed.product.clock.now().getTime() + 60_000).toISOString();
  await bed.product.staff.post(`/staff/nodes/${host}/evacuate`, {
    ...{ cluster_id: cluster, service_ids: ids, cold: true, begins_at: beginsAt },
  });
  const [restore] = await sql<{ id: string }>(
    bed.product,
    'insert into restores (made_at, restored_at, settled_at) values ($1, $1, $1) returning id::text as id',
    new Date(Date.parse(beginsAt) + 1_000),
  );
  bed.product.clock.travel(120_000);
  await until(read, ({ moved }) => moved === 2, 60_000);
  await settled(bed.product);
  expect(await read()).toMatchObject({ state: 'running', waiting: 1, moving: 0 });
  const { status } = await bed.product.staff.post(`/staff/restores/${restore?.id}/release`);
  expect(status).toBe(200);
  expect((await ended()).moved).toBe(3);
}, 120_000);

it('a machine that went into a cluster after the backup that was restored is not started beside itself, nor taken for a leftover', async () => {
  const id = await ordered('twice.example.com');
  const before = structuredClone(store.machines.get(machineIdOf(id)));
  await evacuate([id]);
  await ended();
  expect(Object.values(await inCluster(id))).toEqual(['running']);
  const [row] = await sql<{ node_id: number }>(
    bed.product,
    'select node_id::int as node_id from machines where service_id = $1',
    id,
  );

  // The host had not let go of its copy, and the database is as it was before.
  if (before) store.machines.set(machineIdOf(id), { ...before, startedAtMs: null });
  await sql(bed.product, 'delete from vps_moves where service_id = $1', id);
  await sql(bed.product, 'update placements set node_id = $2 where service_id = $1', id, host);
  await sql(bed.product, 'delete from vps_unknown_machines');
  await sql(
    bed.product,
    `insert into restores (made_at, restored_at, settled_at) values ($1, $1, $1)`,
    bed.product.clock.now(),
  );
  await sql(
    bed.product,
    `update machines set incarnation = 1, node_id = $2, state = 'running', wanted = 'running' where service_id = $1`,
    id,
    host,
  );
  await until(
    () => stateOf(id),
    ({ state }) => state === 'error',
    90_000,
  );
  expect(await concerns()).toContain(machineIdOf(id, 2));
  await customer.post(vps(id, 'start'), {});
  await settled(bed.product);
  expect([hereIs(id), await inCluster(id)]).toEqual(['stopped', { [machineIdOf(id, 2)]: 'running' }]);

  await evacuate([id]);
  expect((await ended()).machines).toMatchObject([
    { state: 'stays', reason: expect.stringMatching(/-2 already, which this database does not know/) },
  ]);
  expect([hereIs(id), await inCluster(id)]).toEqual(['stopped', { [machineIdOf(id, 2)]: 'running' }]);
  expect(row?.node_id).not.toBe(host);
}, 240_000);
