/** After the restore of a backup from before a machine was made anew: the database follows the later copy by one action. */
import { beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import type { Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { leftRooms, wrongRooms } from '../../../test/rooms.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type Hypervisor, HypervisorError } from '../../drivers/hypervisor/index.ts';
import type { ClusterBed } from '../../fleet/clusters/clusters.testbed.ts';
import { machineIdOf } from '../machine.ts';
import { departing } from '../moves/departing.testbed.ts';

const changes = watchChanges();
const { store, vps, ended, ordered, inCluster, hereIs, lastAction, there } = departing();
let bed: ClusterBed;
let customer: Person;
let host: number;
let cluster: number;
let id: number;
let unknown: number;

beforeAll(() => {
  ({ bed, customer, host, cluster } = there());
});

const adopt = (which: number, body: { confirm?: string } = {}) =>
  bed.product.staff.post(`/staff/unknown-machines/${which}/adopt`, body);
const overview = async () => (await customer.get(vps(id, 'overview'))).body.data.vps;
const concerns = async () =>
  (await bed.product.staff.get('/staff/attention')).body.data.concerns as {
    kind: string;
    message: string;
    subject: { id: number };
  }[];
const unknownNamed = async (machine: string) =>
  (
    await until(
      () =>
        sql<{ id: number }>(
          bed.product,
          'select id::int as id from vps_unknown_machines where machine = $1',
          machine,
        ),
      (found) => found.length > 0,
      60_000,
    )
  )[0]?.id ?? 0;

/** The database as it was before the machine went into the cluster, whose host had not let go of its copy. */
async function restored(): Promise<void> {
  const before = structuredClone(store.machines.get(machineIdOf(id)));
  await bed.product.staff.post(`/staff/nodes/${host}/evacuate`, {
    ...{ cluster_id: cluster, service_ids: [id], cold: true },
  });
  await ended();
  if (before) store.machines.set(machineIdOf(id), { ...before, startedAtMs: null });
  await sql(bed.product, 'delete from vps_moves where service_id = $1', id);
  await sql(bed.product, 'delete from vps_unknown_machines');
  await sql(
    bed.product,
    `with gone as (select node_id, cpu_cores, memory_mib, disk_gib + copies_gib as disk_gib from placements where service_id = $1),
     off as (update nodes n set cpu_cores_taken = n.cpu_cores_taken - gone.cpu_cores, memory_mib_taken = n.memory_mib_taken - gone.memory_mib,
       disk_gib_taken = n.disk_gib_taken - gone.disk_gib from gone where n.id = gone.node_id),
     back as (update nodes n set cpu_cores_taken = n.cpu_cores_taken + gone.cpu_cores, memory_mib_taken = n.memory_mib_taken + gone.memory_mib,
       disk_gib_taken = n.disk_gib_taken + gone.disk_gib from gone where n.id = $2)
     update placements set node_id = $2 where service_id = $1`,
    id,
    host,
  );
  await sql(
    bed.product,
    'insert into restores (made_at, restored_at, settled_at) values ($1, $1, $1)',
    bed.product.clock.now(),
  );
  await sql(
    bed.product,
    `update machines set incarnation = 1, node_id = $2, state = 'running', wanted = 'running' where service_id = $1`,
    id,
    host,
  );
}

it('staff sees the later copy with what can be done, and nothing starts beside it', async () => {
  id = await ordered('later.example.com');
  await restored();
  await until(overview, ({ state }) => state === 'error', 90_000);
  unknown = await unknownNamed(machineIdOf(id, 2));
  expect(await concerns()).toContainEqual(
    expect.objectContaining({
      kind: 'machine.unknown',
      message: expect.stringMatching(
        new RegExp(
          `^ams1/n[12] has a machine ${machineIdOf(id, 2)}, a later one of service ${id} than the database knows: adopt it, or`,
        ),
      ),
      subject: expect.objectContaining({ id: unknown }),
    }),
  );
  expect([hereIs(id), await inCluster(id)]).toEqual(['stopped', { [machineIdOf(id, 2)]: 'running' }]);
}, 240_000);

const read = async (which: number) =>
  (await bed.product.staff.get(`/staff/unknown-machines/${which}`)).body.data?.unknown_machine;

it('staff reads whose it may be, and that it can be adopted', async () => {
  expect(await read(unknown)).toMatchObject({
    ...{ id: unknown, machine: machineIdOf(id, 2), node: expect.stringMatching(/^ams1/), answers: true },
    ...{ service_id: id, hostname: 'later.example.com' },
    old_copy: { machine: machineIdOf(id), node_id: host, state: 'error', power: 'stopped' },
    confirm: null,
    actions: { adopt: { allowed: true, reason: null, code: null } },
  });
  expect((await customer.get(`/staff/unknown-machines/${unknown}`)).status).toBe(403);
});

it('its cluster is not removed with it: the old copy would start beside it', async () => {
  const { status, body } = await bed.product.staff.delete(`/staff/clusters/${cluster}`);
  expect([status, body.message]).toEqual([409, expect.stringContaining(machineIdOf(id, 2))]);
  expect((await read(unknown)).machine).toBe(machineIdOf(id, 2));
});

it('refuses in words what is not the machine, or cannot be known, and changes nothing', async () => {
  expect((await adopt(424_242)).status).toBe(404);
  expect((await customer.post(`/staff/unknown-machines/${unknown}/adopt`, {})).status).toBe(403);
  const refused = async () => {
    const { status, body } = await adopt(unknown);
    return [status, body.message];
  };
  const { ips } = await overview();
  await sql(
    bed.product,
    `update vps_unknown_machines set addresses = '{203.0.113.77}' where id = $1`,
    unknown,
  );
  expect(await refused()).toEqual([
    409,
    expect.stringMatching(/answers on 203\.0\.113\.77, which service \d+ does not have/),
  ]);
  await sql(bed.product, `update vps_unknown_machines set addresses = $2::inet[] where id = $1`, unknown, [
    ips[0].address,
  ]);
  await sql(
    bed.product,
    `with e as (insert into vps_evacuations (node_id, kind, cold, cluster_id, state, started_at, ended_at)
       values ($1, 'evacuate', true, $2, 'stopped', now(), now()) returning id)
     insert into vps_moves (id, evacuation_id, service_id, organization_id, state, incarnation)
     select 4242, e.id, m.service_id, m.organization_id, 'stays', 2 from e, machines m where m.service_id = $3`,
    ...[host, cluster, id],
  );
  expect(await refused()).toEqual([
    409,
    expect.stringMatching(/is what an attempt of ours has left, and never ran/),
  ]);
  await sql(bed.product, 'delete from vps_moves where id = 4242');
  expect(await overview()).toMatchObject({ state: 'error', locked: false });
});

it('an old copy that runs keeps the later one from being adopted, although the database does not say that it runs', async () => {
  const old = store.machines.get(machineIdOf(id));
  if (old === undefined) throw new Error('it is there');
  // Its customer writes to it: two of one service would run from then on, and what was written last would be left behind.
  old.startedAtMs = Date.now();
  const runs = /^vps-\d+ runs on node-1, and may be what its customer uses now/;
  for (const body of [{}, { confirm: 'node-1' }]) {
    const { status, body: answer } = await adopt(unknown, body);
    expect([status, answer.message, await overview()]).toEqual([
      ...[409, expect.stringMatching(runs)],
      expect.objectContaining({ state: 'error', locked: false }),
    ]);
  }
  expect(await read(unknown)).toMatchObject({
    old_copy: { state: 'error', power: 'running' },
    actions: { adopt: { allowed: false, reason: expect.stringMatching(runs), code: 'conflict' } },
  });
  expect([hereIs(id), await inCluster(id)]).toEqual(['running', { [machineIdOf(id, 2)]: 'running' }]);
  old.startedAtMs = null;
});

/** An engine that says nothing of a machine, until that ends. */
function silent(engine: Pick<Hypervisor, 'inspect'>, machine: string): () => void {
  const before = engine.inspect;
  const { promise: gone, reject } = Promise.withResolvers<never>();
  gone.catch(() => undefined);
  engine.inspect = (which) => (which === machine ? gone : before(which));
  return () => {
    engine.inspect = before;
    reject(new HypervisorError('host_not_ready', 'it is away', { waits: true }));
  };
}

it('where the old copy’s engine says nothing its node has to be named, and nobody waits for it for longer than seconds', async () => {
  const speaks = silent(bed.product.hypervisor, machineIdOf(id));
  try {
    const asked = Date.now();
    expect(await read(unknown)).toMatchObject({
      ...{ old_copy: { power: 'unknown' }, confirm: 'node-1', actions: { adopt: { allowed: true } } },
    });
    expect(Date.now() - asked).toBeLessThan(15_000);
    const { status, body } = await adopt(unknown);
    expect([status, body.message]).toEqual([
      409,
      expect.stringMatching(/^node-1 does not say whether vps-\d+ runs there: .* confirm with node-1$/),
    ]);
    const mistyped = await adopt(unknown, { confirm: 'node-2' });
    expect([mistyped.status, mistyped.body.details?.[0]?.field]).toEqual([400, 'confirm']);
    expect(await overview()).toMatchObject({ state: 'error', locked: false });
  } finally {
    speaks();
  }
}, 60_000);

it('the database follows it: service, addresses and access stay, and the old copy is left where it is', async () => {
  const before = await overview();
  const { status, body } = await adopt(unknown);
  expect([status, body.data?.adopted]).toEqual([
    200,
    {
      ...{ service_id: id, machine: machineIdOf(id, 2), old_copy: machineIdOf(id) },
      node: expect.stringMatching(/^ams1\/n[12]$/),
    },
  ]);
  const after = await until(overview, ({ state }) => state === 'running', 60_000);
  expect(after).toMatchObject({ ips: before.ips, hostname: before.hostname, locked: false });
  // What is done with it is done with the later one, and the old copy stays off.
  // Its cluster has to have said since the restore what it has.
  await until(
    async () => {
      await customer.post(vps(id, 'restart'), {});
      await settled(bed.product);
      return lastAction(id);
    },
    ({ command, status }) => command === 'restart' && status === 'success',
    60_000,
  );
  expect([hereIs(id), await inCluster(id)]).toEqual(['stopped', { [machineIdOf(id, 2)]: 'running' }]);

  // Its host goes on holding the old disk's room until that is removed; it is no later one of anything.
  const old = await unknownNamed(machineIdOf(id));
  expect((await adopt(old)).body.message).toMatch(/is no later one of .*, but an old copy$/);
  expect(
    await until(
      () => leftRooms(bed.product),
      ([room]) => room?.memory_mib === 0,
    ),
  ).toMatchObject([{ node: 'node-1', machine: machineIdOf(id), cpu_cores: 0 }]);
  expect(await wrongRooms(bed.product)).toEqual([]);
  store.machines.delete(machineIdOf(id));
  await until(
    () => leftRooms(bed.product),
    (all) => all.length === 0,
    60_000,
  );
  expect(await wrongRooms(bed.product)).toEqual([]);
  expect((await adopt(unknown)).status).toBe(404);
}, 120_000);

it('a later copy on the very node of the old one has room there beside it', async () => {
  const member = [...bed.simulated.members.values()].find((each) =>
    each.store.machines.has(machineIdOf(id, 2)),
  )?.store;
  const mine = member?.machines.get(machineIdOf(id, 2));
  if (member === undefined || mine === undefined) throw new Error('it is there');
  member.machines.set(machineIdOf(id, 3), { ...structuredClone(mine), startedAtMs: Date.now() });
  mine.startedAtMs = null;
  await until(overview, ({ state }) => state === 'error', 90_000);
  const next = await unknownNamed(machineIdOf(id, 3));
  // Its engine cannot say how the old copy is; whoever knows it names the member.
  const at = (await read(next)).node;
  const [seen] = [...bed.simulated.members.values()].filter(({ store: its }) => its === member);
  if (seen === undefined) throw new Error('it is there');
  const speaks = silent(seen.hypervisor, machineIdOf(id, 2));
  const { status } = await adopt(next, { confirm: at });
  speaks();
  expect(status).toBe(200);
  const [told] = await sql<{ confirmed: string }>(
    bed.product,
    `select data->>'confirmed' as confirmed from journal where action = 'vps.adopted' order by id desc limit 1`,
  );
  expect(told).toEqual({ confirmed: at });
  expect(await leftRooms(bed.product)).toMatchObject([
    { machine: machineIdOf(id, 2), disk_gib: expect.any(Number) },
  ]);
  expect(await wrongRooms(bed.product)).toEqual([]);
}, 120_000);

describe('a change', () => changes.leaveEntries(() => bed.product, ['adoptMachine']));
