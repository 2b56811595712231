/** Moves that stand still, and machines that the database has forgotten: nothing runs twice, and nothing that may be the machine is taken away. */
import { beforeAll, expect, it } from 'vitest';
import type { Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { HypervisorError } from '../../drivers/hypervisor/index.ts';
import type { ClusterBed, NodeSeen } from '../../fleet/clusters/clusters.testbed.ts';
import { machineIdOf } from '../machine.ts';
import { departing } from './departing.testbed.ts';

const { store, atHost, vps, read, ended, lastAction, ordered, inCluster, hereIs, there } = departing();
let bed: ClusterBed;
let customer: Person;
let host: number;
let cluster: number;

beforeAll(() => {
  ({ bed, customer, host, cluster } = there());
});

const evacuate = (ids: number[]) =>
  bed.product.staff.post(`/staff/nodes/${host}/evacuate`, {
    cluster_id: cluster,
    service_ids: ids,
    cold: true,
  });
const refused = (message: string) => new HypervisorError('disk_failed', message, { permanent: true });
const jobs = async () => (await bed.product.staff.get('/staff/jobs')).body.data.jobs;
const concerns = async () =>
  JSON.stringify((await bed.product.staff.get('/staff/attention')).body.data.concerns);

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

/** A move whose machine was made in the cluster, and neither starts there nor goes away again. */
async function standing(id: number): Promise<string> {
  const letGo = resisting();
  await evacuate([id]);
  const job = await until(
    async () =>
      (await jobs()).find(
        (each: { state: string; payload: { serviceId: number } }) =>
          each.state === 'stuck' && each.payload.serviceId === id,
      ),
    (found) => found !== undefined,
    60_000,
  );
  letGo();
  return job.id;
}
const dismiss = (job: string) =>
  bed.product.staff.post(`/staff/jobs/${job}/dismiss`, { reason: 'Seen to by hand' });
async function removeThere(id: number): Promise<void> {
  for (const { hypervisor } of bed.simulated.members.values())
    for (const name of Object.keys(await inCluster(id))) await hypervisor.destroy(name);
}

it('a dismissed move that goes on later takes away nothing that another has made since', async () => {
  const id = await ordered('again.example.com');
  const job = await standing(id);
  await dismiss(job);
  await ended();
  await removeThere(id);
  await until(
    () => sql(bed.product, 'select 1 from vps_unknown_machines where service_id = $1', id),
    (found) => found.length === 0,
    60_000,
  );
  await settled(bed.product);
  if (hereIs(id) !== 'running') await customer.post(vps(id, 'start'), {});
  await settled(bed.product);
  await evacuate([id]);
  expect((await ended()).machines).toMatchObject([{ state: 'moved' }]);
  const there = await inCluster(id);
  expect(Object.values(there)).toEqual(['running']);
  await bed.product.staff.post(`/staff/jobs/${job}/retry`);
  await settled(bed.product);
  expect([await inCluster(id), hereIs(id)]).toEqual([there, 'absent']);
}, 240_000);

it('nothing starts beside what a dismissed move may have left, even if it never ran by what is known; it starts by itself once that is gone', async () => {
  const id = await ordered('beside.example.com');
  const job = await standing(id);
  // As in a backup from before its start there, which it has had since.
  await sql(bed.product, 'update vps_moves set may_run_there = false where service_id = $1', id);
  for (const { store: there } of bed.simulated.members.values())
    for (const [name, machine] of there.machines)
      if (name.startsWith(`${machineIdOf(id)}-`)) machine.startedAtMs = Date.now();
  await dismiss(job);
  await ended();
  const { state } = await stateOf(id);
  await customer.post(vps(id, 'restart'), {});
  await settled(bed.product);
  await customer.post(vps(id, 'start'), {});
  await settled(bed.product);
  expect([state, hereIs(id), Object.values(await inCluster(id))]).toEqual(['error', 'stopped', ['running']]);
  await removeThere(id);
  await until(
    async () => hereIs(id),
    (power) => power === 'running',
    90_000,
  );
}, 240_000);

it('what a backup passed as on its way goes with the move that failed, and keeps no machine from its start', async () => {
  const id = await ordered('passes.example.com');
  await sql(bed.product, 'update machines set backup_enabled = (service_id = $1), backup_hour = 0', id);
  await bed.product.periodic('vps.backups');
  await settled(bed.product);
  const passing = machineIdOf(id, 3);
  bed.simulated.recovering.after = (machine) => (machine === passing ? refused('the pool is full') : null);
  await evacuate([id]);
  expect((await ended()).machines).toMatchObject([
    { state: 'moved', reason: expect.stringMatching(/the pool is full/) },
  ]);
  expect(await inCluster(id)).toEqual({ [machineIdOf(id, 2)]: 'running' });
}, 120_000);

it('what only backups passed as is no reason not to start the machine', async () => {
  const id = await ordered('leftover.example.com');
  await evacuate([id]);
  await ended();
  const [anew, passing] = [machineIdOf(id, 2), machineIdOf(id, 3)];
  const there = [...bed.simulated.members.values()].find((each) => each.store.machines.has(anew))?.store;
  const machine = there?.machines.get(anew);
  if (there === undefined || machine === undefined) throw new Error('it has moved');
  there.machines.set(passing, { ...structuredClone(machine), startedAtMs: null });
  await until(
    () => sql(bed.product, 'select 1 from vps_unknown_machines where machine = $1', passing),
    (found) => found.length > 0,
    60_000,
  );
  machine.startedAtMs = null;
  await until(
    () => inCluster(id),
    (found) => found[anew] === 'running',
    60_000,
  );
  expect(await inCluster(id)).toEqual({ [anew]: 'running', [passing]: 'stopped' });
  there.machines.delete(passing);
}, 120_000);

it('after a restore a cluster that is silent keeps no machine off that never had to do with it, and others unlocked until staff releases the restore', async () => {
  const [own, other] = [await ordered('own.example.com'), await ordered('maybe.example.com')];
  const down = await ordered('down.example.com');
  for (const id of [own, other]) await customer.post(vps(id, 'stop'), {});
  await settled(bed.product);
  // They were to go into the cluster when the backup was made.
  await sql(
    bed.product,
    `with e as (insert into vps_evacuations (node_id, kind, cold, cluster_id, state, started_at, ended_at)
       values ($1, 'evacuate', true, $2, 'stopped', now(), now()) returning id)
     insert into vps_moves (id, evacuation_id, service_id, organization_id, state)
     select 4242 + row_number() over (), e.id, m.service_id, m.organization_id, 'stays' from e, machines m where m.service_id = any($3)`,
    ...[host, cluster, [other, down]],
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
  for (const id of [other, own]) await customer.post(vps(id, 'start'), {});
  await until(
    async () => hereIs(own),
    (power) => power === 'running',
    30_000,
  );
  // Its customer is told what to do, and nothing keeps the machine from what else they want of it.
  const refusal = await until(
    () => lastAction(other),
    ({ status }) => status === 'error',
    10_000,
  );
  expect(refusal).toMatchObject({
    command: 'start',
    error: {
      code: 'not_compared',
      message: expect.stringMatching(/not started before that is known. Try again in a few minutes/),
    },
  });
  expect([hereIs(other), await stateOf(other)]).toEqual([
    'stopped',
    expect.objectContaining({ state: 'stopped', locked: false }),
  ]);
  // One that goes down by itself needs no hand, and is not locked while it waits.
  const machine = store.machines.get(machineIdOf(down));
  if (machine) machine.startedAtMs = null;
  await until(
    () => stateOf(down),
    ({ state }) => state === 'error',
    60_000,
  );
  await customer.post(vps(down, 'start'), {});
  await settled(bed.product);
  expect([hereIs(down), await stateOf(down)]).toEqual([
    'stopped',
    expect.objectContaining({ state: 'error', locked: false }),
  ]);
  const actions = async () =>
    (await customer.get(vps(down, 'history?limit=50'))).body.data.actions.filter(
      ({ command }: { command: string }) => command === 'start',
    );
  const before = await actions();
  await bed.product.staff.post(`/staff/restores/${restore?.id}/release`);
  bed.product.clock.travel(60_000);
  await until(
    async () => hereIs(down),
    (power) => power === 'running',
    60_000,
  );
  expect(await actions()).toHaveLength(before.length + 1);
  await customer.post(vps(other, 'start'), {});
  await until(
    async () => hereIs(other),
    (power) => power === 'running',
    60_000,
  );
  bed.simulated.isReachable = true;
  await bed.nodes((all) => all.every(({ reachable }: NodeSeen) => reachable));
}, 120_000);

it('what is switched off with force, or suspended, is off in the cluster as well while its move stands still', async () => {
  const id = await ordered('abused.example.com');
  const job = await standing(id);
  const run = () => {
    for (const { store: there } of bed.simulated.members.values())
      for (const [name, machine] of there.machines)
        if (name.startsWith(`${machineIdOf(id)}-`)) machine.startedAtMs = Date.now();
  };
  const off = () =>
    until(
      () => inCluster(id),
      (found) => found[machineIdOf(id, 2)] === 'stopped',
      20_000,
    );
  run();
  await customer.post(vps(id, 'stop'), { force: true });
  await off();
  run();
  await bed.product.staff.post(`/staff/services/${id}/suspend`, { reason: 'test' });
  await off();
  await removeThere(id);
  await dismiss(job);
  await ended();
}, 120_000);

it('a machine of which there may be another copy runs on: nothing that would have to start it again stops it, and its customer reads no names', async () => {
  const id = await ordered('copy.example.com');
  const mine = store.machines.get(machineIdOf(id));
  const there = bed.simulated.members.get('n1')?.store;
  if (mine === undefined || there === undefined) throw new Error('it is there');
  there.machines.set(machineIdOf(id, 2), { ...structuredClone(mine), startedAtMs: null });
  await until(
    () => sql(bed.product, 'select 1 from vps_unknown_machines where service_id = $1', id),
    (found) => found.length > 0,
    60_000,
  );
  const since = mine.startedAtMs;
  for (const [path, body] of [
    ['restart', {}],
    ['reinstall', { os: 'tiny' }],
  ] as const) {
    expect((await customer.post(vps(id, path), body)).status).toBe(200);
    await settled(bed.product);
    expect(await lastAction(id)).toMatchObject({
      ...{ command: path, status: 'error' },
      error: {
        message: expect.stringMatching(/^Another copy of this machine may exist; our staff has been told/),
      },
    });
    expect([hereIs(id), store.machines.get(machineIdOf(id))?.startedAtMs]).toEqual(['running', since]);
  }
  there.machines.delete(machineIdOf(id, 2));
}, 120_000);

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
    { state: 'stays', reason: expect.stringMatching(/-2, a later one of vps-\d+ than the database knows/) },
  ]);
  expect([hereIs(id), await inCluster(id)]).toEqual(['stopped', { [machineIdOf(id, 2)]: 'running' }]);
  expect(row?.node_id).not.toBe(host);
}, 240_000);

it('one that is off goes into no cluster while another node has a later copy of it', async () => {
  const id = await ordered('older.example.com');
  await customer.post(vps(id, 'stop'), {});
  await settled(bed.product);
  await sql(
    bed.product,
    `with node as (
       insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, seen_at, created_at, state)
       select 'host-9', location, 8, 65536, 1000, now() + interval '1 day', now(), 'draining' from nodes where id = $2 returning id)
     insert into vps_unknown_machines (node_id, machine, service_id, addresses, found_at)
     select node.id, 'vps-' || $1::bigint || '-2', $1::bigint, '{}', now() from node`,
    ...[id, host],
  );
  await evacuate([id]);
  expect((await ended()).machines).toMatchObject([
    { state: 'stays', reason: expect.stringMatching(/^host-9 has vps-\d+-2, a later one of vps-\d+ than/) },
  ]);
  expect([hereIs(id), await inCluster(id)]).toEqual(['stopped', {}]);
}, 120_000);
