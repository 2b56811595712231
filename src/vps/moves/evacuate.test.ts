import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { wrongRooms } from '../../../test/rooms.ts';
import { settled, sql } from '../../../test/sql.ts';
import { HypervisorError } from '../../drivers/hypervisor/index.ts';
import { type ClusterBed, clusterBed, type NodeSeen } from '../../fleet/clusters/clusters.testbed.ts';
import { machineIdOf } from '../machine.ts';

const changes = watchChanges();
let bed: ClusterBed;
let customer: Person;
let ids: [number, number, number];

beforeAll(async () => {
  bed = await clusterBed(['n1', 'n2', 'n3']);
  await sql(bed.product, `update nodes set state = 'draining'`);
  customer = await newCustomer(bed.product, { creditMinor: 50_000 });
  await bed.add();
  await bed.nodes((all) => all.length === 3);
  await until(
    async () => (await bed.product.staff.get('/staff/images/tiny')).body.data.image,
    ({ clusters }) => clusters[0]?.state === 'ready',
  );
  for (const name of ['n2', 'n3']) await setState(name, 'draining');
  const made: number[] = [];
  for (const domain of ['a.example.com', 'b.example.com', 'c.example.com'])
    made.push((await runningVps(bed.product, customer, { domain }, 30_000)).serviceId);
  ids = made as typeof ids;
  await customer.post(vps(ids[2], 'stop'));
  await settled(bed.product);
  for (const name of ['n2', 'n3']) await setState(name, 'active');
}, 120_000);
afterEach(() => {
  bed.simulated.isReachable = true;
  bed.simulated.moving = { before: () => null, after: () => null };
});
afterAll(() => bed?.stop());

const vps = (id: number, path: string) => `/dashboard/service/${id}/vps/${path}`;
const nodeOf = async (member: string): Promise<NodeSeen> =>
  (await bed.nodes(() => true)).find(({ name }) => name.endsWith(`/${member}`));
const setState = async (member: string, state: string) =>
  bed.product.staff.patch(`/staff/nodes/${(await nodeOf(member)).id}`, { state });
const at = async (member: string, path: string) => `/staff/nodes/${(await nodeOf(member)).id}/${path}`;
const evacuate = async (member: string, body: object = {}) =>
  bed.product.staff.post(await at(member, 'evacuate'), body);
const ended = async (member: string) =>
  until(
    async () => (await bed.product.staff.get(await at(member, 'evacuation'))).body.data.evacuation,
    ({ state, moving }) => state !== 'running' && moving === 0,
    60_000,
  );
const lastAction = async (id: number) =>
  (await customer.get(vps(id, 'history?limit=1'))).body.data.actions[0];
const notPossible = () => new HypervisorError('not_possible', 'not while it runs', { permanent: true });
const lost = () => new HypervisorError('host_not_ready', 'no answer came', { waits: true });

/** Members that have a machine, by what each has itself. */
async function membersWith(id: number): Promise<string[]> {
  const names = [...bed.simulated.members.keys()];
  const lists = await Promise.all(names.map((name) => bed.simulated.hypervisor(name).list()));
  return names.filter((_, nth) => lists[nth]?.some((each) => each.id === machineIdOf(id)));
}

const powerOf = async (id: number) => {
  const [member = ''] = await membersWith(id);
  return (await bed.simulated.hypervisor(member).inspect(machineIdOf(id))).power;
};

it('takes all machines away live or off, and names those that stay; what ran runs again only where staff allowed it to go down', {
  timeout: 120_000,
}, async () => {
  const [live, stubborn, off] = ids;
  bed.simulated.moving.before = (id, _to, runs) =>
    id === machineIdOf(stubborn) && runs ? notPossible() : null;
  const begun = await evacuate('n1');
  expect([begun.status, begun.body.data.evacuation.machines.length]).toEqual([200, 3]);
  const first = await ended('n1');
  expect(first).toMatchObject({ state: 'done', cold: false, moved: 2, stay: 1 });
  expect(first.machines).toMatchObject(
    [
      { service_id: live, state: 'moved', live: true, away_s: null, reason: null },
      { service_id: stubborn, state: 'stays', live: null, reason: 'not while it runs', node: 'ams1/n1' },
      { service_id: off, state: 'moved', live: null, away_s: null },
    ].sort((one, other) => one.service_id - other.service_id),
  );
  expect(await membersWith(stubborn)).toEqual(['n1']);
  expect(await Promise.all(ids.map(powerOf))).toEqual(['running', 'running', 'stopped']);
  expect(await nodeOf('n1')).toMatchObject({ state: 'draining', machines: 1, accepts_machines: false });
  expect(await lastAction(live)).toMatchObject({
    ...{ command: 'move', status: 'success', note: 'It ran on while it went to another host' },
  });
  expect(await lastAction(stubborn)).toMatchObject({ command: 'move', status: 'error' });

  expect((await evacuate('n1', { cold: true })).status).toBe(200);
  const second = await ended('n1');
  expect(second.machines).toMatchObject([
    { service_id: stubborn, state: 'moved', live: false, away_s: expect.any(Number) },
  ]);
  expect([await membersWith(stubborn), await powerOf(stubborn)]).toEqual([
    [expect.stringMatching(/n[23]/)],
    'running',
  ]);
  expect((await lastAction(stubborn)).note).toMatch(
    /^It was off for \d+ seconds while it went to another host$/,
  );
  expect(await nodeOf('n1')).toMatchObject({ machines: 0, taken: { memory_mib: 0, disk_gib: 0 } });

  // What both evacuations took away comes back, and once only.
  const body = { bring_back: true, cold: true };
  const restored = (await bed.product.staff.post(await at('n1', 'restore'), body)).body.data.evacuation;
  expect([restored.kind, restored.machines.length]).toEqual(['restore', 3]);
  expect(await ended('n1')).toMatchObject({ state: 'done', moved: 3 });
  expect(await Promise.all(ids.map(membersWith))).toEqual([['n1'], ['n1'], ['n1']]);
  expect(await Promise.all(ids.map(powerOf))).toEqual(['running', 'running', 'stopped']);
  expect(await nodeOf('n1')).toMatchObject({ state: 'active', machines: 3 });
  const again = (await bed.product.staff.post(await at('n1', 'restore'), body)).body.data.evacuation;
  expect(again).toMatchObject({ state: 'done', machines: [] });
});

it('keeps a machine locked while it moves, and stops where staff says so', { timeout: 120_000 }, async () => {
  for (const name of ['n2', 'n3']) {
    await setState(name, 'draining');
    for (const id of ids)
      if ((await membersWith(id)).includes(name)) bed.simulated.moveByHand(machineIdOf(id), 'n1');
  }
  await bed.nodes((all) => all.some(({ name, machines }) => name.endsWith('/n1') && machines === 3));
  for (const name of ['n2', 'n3']) await setState(name, 'active');
  let open: () => void = () => undefined;
  const gate = new Promise<null>((resolve) => {
    open = () => resolve(null);
  });
  bed.simulated.moving.before = () => gate;
  await evacuate('n1');
  const read = async () => (await bed.product.staff.get(await at('n1', 'evacuation'))).body.data.evacuation;
  const { machines } = await until(read, ({ moving }) => moving === 2);
  const [moving] = machines.filter(
    (each: { state: string; service_id: number }) => each.state === 'moving' && each.service_id !== ids[2],
  );
  const refused = await customer.post(vps(moving.service_id, 'restart'), {});
  expect([refused.status, refused.body.code]).toEqual([409, 'locked']);
  expect((await evacuate('n1')).body.code).toBe('conflict');

  const path = await at('n1', 'evacuation');
  const stopped = await bed.product.staff.delete(path);
  expect(stopped.body.data.evacuation).toMatchObject({ state: 'stopped', moving: 2, stay: 1, waiting: 0 });
  expect((await bed.product.staff.delete(path)).body.code).toBe('conflict');
  open();
  expect(await ended('n1')).toMatchObject({ state: 'stopped', moved: 2, stay: 1 });
  expect(await nodeOf('n1')).toMatchObject({ state: 'draining', machines: 1 });
  expect((await customer.post(vps(moving.service_id, 'restart'), {})).status).toBe(200);
  await settled(bed.product);
});

it('refuses what cannot be evacuated in words, and changes nothing', async () => {
  const [own] = await sql<{ id: number }>(
    bed.product,
    'select id::int as id from nodes where cluster_id is null',
  );
  const refused = await bed.product.staff.post(`/staff/nodes/${own?.id}/evacuate`, {});
  expect([refused.status, refused.body.message]).toEqual([
    409,
    'node-1 is a host of our own, whose machines go into a cluster alone: say with cluster_id into which. What has gone there does not come back',
  ]);
  expect((await bed.product.staff.post('/staff/nodes/4242/evacuate', {})).status).toBe(404);
  expect((await bed.product.staff.get(`/staff/nodes/${own?.id}/evacuation`)).body.data.evacuation).toBe(null);
  expect((await bed.product.staff.get('/staff/nodes/4242/evacuation')).status).toBe(404);
  expect((await evacuate('n2', { cold: 'yes' })).status).toBe(400);
  expect((await customer.post(await at('n2', 'evacuate'), {})).status).toBe(403);
});

it('a machine for which no other member has room stays, and what is cut off anywhere goes on where it was', {
  timeout: 240_000,
}, async () => {
  const [id] = ids;
  await setState('n1', 'active');
  for (const name of ['n1', 'n2', 'n3'])
    if (!(await membersWith(id)).includes(name)) await setState(name, 'draining');
  const [full = ''] = await membersWith(id);
  await evacuate(full);
  const { machines } = await ended(full);
  expect(machines.find((each: { service_id: number }) => each.service_id === id)).toMatchObject({
    ...{ state: 'stays', reason: 'No other member of the cluster that takes machines has room for it' },
  });
  expect(await nodeOf(full)).toMatchObject({ state: 'draining' });

  /** The cluster is away from this moment on, for a while. */
  const cut = <T>(answer: T): T => {
    bed.simulated.isReachable = false;
    setTimeout(() => {
      bed.simulated.isReachable = true;
    }, 500);
    return answer;
  };
  const once = (work: () => HypervisorError | null) => {
    let isDone = false;
    return (machine: string, _to: string, runs: boolean) => {
      if (machine !== machineIdOf(id)) return null;
      if (isDone) return runs ? notPossible() : null;
      isDone = true;
      return work();
    };
  };
  const nothing = () => null;
  const cuts: Record<string, typeof bed.simulated.moving> = {
    'once it is there and runs': { before: nothing, after: once(lost) },
    'when it is to be shut down': { before: once(() => cut(notPossible())), after: nothing },
    'once it is there and off': {
      before: (_machine, _to, runs) => (runs ? notPossible() : null),
      after: once(lost),
    },
    'when it is to start': {
      before: (_machine, _to, runs) => (runs ? notPossible() : null),
      after: once(() => cut(null)),
    },
  };
  for (const [when, moving] of Object.entries(cuts)) {
    for (const name of ['n1', 'n2', 'n3']) await setState(name, 'active');
    const [from = ''] = await membersWith(id);
    bed.simulated.moving = moving;
    expect((await evacuate(from, { cold: true })).status, when).toBe(200);
    const { machines: after } = await ended(from);
    expect(
      after.find((each: { service_id: number }) => each.service_id === id),
      when,
    ).toMatchObject({
      state: 'moved',
    });
    bed.simulated.moving = { before: nothing, after: nothing };
    const [to = '', ...more] = await membersWith(id);
    expect([to === from, more, await powerOf(id)], when).toEqual([false, [], 'running']);
    const [row] = await sql<{ held: string; name: string }>(
      bed.product,
      `select h.name as held, n.name from machines m join placements p on p.service_id = m.service_id
       join nodes n on n.id = m.node_id join nodes h on h.id = p.node_id where m.service_id = $1`,
      id,
    );
    expect(row, when).toEqual({ held: `ams1/${to}`, name: `ams1/${to}` });
  }
  // What nodes hold adds up, whatever was taken back on the way.
  const off = await wrongRooms(bed.product);
  expect(off).toEqual([]);
});

describe('a change', () =>
  changes.leaveEntries(() => bed.product, ['evacuateNode', 'stopEvacuation', 'restoreNode']));
