import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { orderVps, runningVps } from '../../../test/orders.ts';
import { newCustomer, type Person, signedIn } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { wrongRooms } from '../../../test/rooms.ts';
import { settled, sql } from '../../../test/sql.ts';
import { HypervisorError } from '../../drivers/hypervisor/index.ts';
import { type ClusterBed, clusterBed, type NodeSeen } from '../../fleet/clusters/clusters.testbed.ts';
import { machineIdOf } from '../machine.ts';

/** What staff, customers and the cluster do in any order while machines move. */
let bed: ClusterBed;
let customer: Person;
let ids: [number, number, number];

const names = ['n1', 'n2', 'n3'];
const nothing = () => null;
const vps = (id: number, path: string) => `/dashboard/service/${id}/vps/${path}`;
const nodeOf = async (member: string): Promise<NodeSeen> =>
  (await bed.nodes(() => true)).find(({ name }) => name.endsWith(`/${member}`));
const setState = async (member: string, state: string) =>
  bed.product.staff.patch(`/staff/nodes/${(await nodeOf(member)).id}`, { state });
const at = async (member: string, path: string) => `/staff/nodes/${(await nodeOf(member)).id}/${path}`;
const evacuate = async (member: string, body: object = {}) =>
  bed.product.staff.post(await at(member, 'evacuate'), body);
const restore = async (member: string) =>
  bed.product.staff.post(await at(member, 'restore'), { bring_back: true });
const evacuation = async (member: string) =>
  (await bed.product.staff.get(await at(member, 'evacuation'))).body.data.evacuation;
const ended = (member: string) =>
  until(
    () => evacuation(member),
    ({ state, moving }) => state !== 'running' && moving === 0,
    60_000,
  );
const lost = () => new HypervisorError('host_not_ready', 'no answer came', { waits: true });

/** The one member that has a machine. */
async function memberOf(id: number): Promise<string | undefined> {
  for (const name of names) {
    const all = await bed.simulated.hypervisor(name).list();
    if (all.some((each) => each.id === machineIdOf(id))) return name;
  }
  return undefined;
}

async function only(...active: string[]) {
  for (const name of names) await setState(name, active.includes(name) ? 'active' : 'draining');
}

let open: () => void = () => undefined;

/** From now on machines that move wait before they do, until `open` is called. */
function closedGate(): void {
  const gate = new Promise<null>((resolve) => {
    open = () => resolve(null);
  });
  bed.simulated.moving.before = () => gate;
}

beforeAll(async () => {
  bed = await clusterBed(names);
  await sql(bed.product, `update nodes set state = 'draining'`);
  customer = await newCustomer(bed.product, { creditMinor: 90_000 });
  await bed.add();
  await bed.nodes((all) => all.length === 3);
  await until(
    async () => (await bed.product.staff.get('/staff/images/tiny')).body.data.image,
    ({ clusters }) => clusters[0]?.state === 'ready',
  );
  await only('n1');
  const made: number[] = [];
  for (const domain of ['a.example.com', 'b.example.com', 'c.example.com'])
    made.push((await runningVps(bed.product, customer, { domain }, 30_000)).serviceId);
  ids = made.toSorted((one, other) => one - other) as typeof ids;
}, 120_000);
// Each begins with all machines on the first member, where new ones go.
beforeEach(async () => {
  bed.simulated.moving = { before: nothing, after: nothing };
  for (const member of bed.simulated.members.values()) member.answers = true;
  for (const id of ids) bed.simulated.moveByHand(machineIdOf(id), 'n1');
  await bed.nodes((all) => all.some(({ name, machines }) => name.endsWith('/n1') && machines === 3));
  await settled(bed.product);
}, 60_000);
afterEach(async () => {
  open(); // of a test that failed with machines before it
  // What nodes hold adds up, whatever was done in which order.
  const off = await wrongRooms(bed.product);
  expect(off).toEqual([]);
});
afterAll(() => bed?.stop());

describe('staff, in any order', () => {
  it('a node that is emptied gives away what is on its way to it as well', { timeout: 90_000 }, async () => {
    await only('n1', 'n2');
    closedGate();
    await evacuate('n1');
    await until(
      () => evacuation('n1'),
      ({ moving }) => moving === 2,
    );
    await setState('n3', 'active');
    expect((await evacuate('n2')).body.data.evacuation.machines.length).toBe(2);
    open();
    await ended('n1');
    expect(await ended('n2')).toMatchObject({ stay: 0 });
    await settled(bed.product);
    expect(await Promise.all(ids.map(memberOf))).toEqual(['n3', 'n3', 'n3']);
  });

  it('what was on its way when staff stopped and restored comes back, and what found no room comes with the next', {
    timeout: 90_000,
  }, async () => {
    await only('n1', 'n2');
    closedGate();
    await evacuate('n1');
    await until(
      () => evacuation('n1'),
      ({ moving }) => moving === 2,
    );
    expect((await bed.product.staff.delete(await at('n1', 'evacuation'))).status).toBe(200);
    expect((await restore('n1')).body.data.evacuation).toMatchObject({ kind: 'restore', waiting: 2 });
    open();
    await ended('n1');
    expect(await Promise.all(ids.map(memberOf))).toEqual(['n1', 'n1', 'n1']);

    bed.simulated.moving.before = nothing;
    await evacuate('n1');
    expect(await ended('n1')).toMatchObject({ moved: 3 });
    const { id, capacity, memory_reserve_mib: reserve } = await nodeOf('n1');
    const fill = (mib: number) => bed.product.staff.patch(`/staff/nodes/${id}`, { memory_reserve_mib: mib });
    expect((await fill(capacity.memory_mib)).status).toBe(200);
    await restore('n1');
    const full = await ended('n1');
    expect(full).toMatchObject({ stay: 3 });
    expect(full.machines[0].reason).toBe('ams1/n1 takes no machines now, or has no room for it');
    await fill(reserve);
    await restore('n1');
    expect(await ended('n1')).toMatchObject({ moved: 3, stay: 0 });
    expect(await Promise.all(ids.map(memberOf))).toEqual(['n1', 'n1', 'n1']);
  });

  it('at once has one evacuation, and the other is told so', { timeout: 60_000 }, async () => {
    await only('n1', 'n2');
    const answers = await Promise.all([evacuate('n1'), evacuate('n1', { cold: true }), evacuate('n1')]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    expect(await ended('n1')).toMatchObject({ moved: 3, stay: 0 });
  });

  it('room that was ordered and not paid goes along, and the machine is made where it is then', {
    timeout: 90_000,
  }, async () => {
    await only('n1');
    const waiting = await orderVps(bed.product, customer, { domain: 'late.example.com' });
    await only('n1', 'n2');
    await evacuate('n1');
    await ended('n1');
    expect(await nodeOf('n1')).toMatchObject({ machines: 0, taken: { memory_mib: 0 } });
    await customer.post(`/dashboard/invoices/${waiting.invoiceId}/pay`, { method: 'credit' });
    await until(
      () => customer.get(`/dashboard/services/${waiting.serviceId}`),
      ({ body }) => body.data.service.status === 'active',
      30_000,
    );
    expect(await memberOf(waiting.serviceId)).toBe('n2');
    await customer.post(`/dashboard/services/${waiting.serviceId}/cancel`, { type: 'immediate' });
    await settled(bed.product);
  });
});

describe('its customer', () => {
  it('gives a machine to another organization before its turn, and that one reads of the move', {
    timeout: 90_000,
  }, async () => {
    await only('n1', 'n2');
    const other = await newCustomer(bed.product, { creditMinor: 50_000 });
    await sql(
      bed.product,
      `insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, 'admin', now())`,
      ...[other.organizationId, customer.userId],
    );
    const here = await signedIn(bed.product, customer);
    closedGate();
    await evacuate('n1');
    const { machines } = await until(
      () => evacuation('n1'),
      ({ moving }) => moving === 2,
    );
    const id = machines.find(({ state }: { state: string }) => state === 'waiting').service_id;
    const [{ latest = 0 } = {}] = await sql<{ latest: number }>(
      bed.product,
      'select max(id)::float8 as latest from journal',
    );
    const given = await here.post(`/dashboard/services/${id}/move`, {
      organization_id: other.organizationId,
    });
    expect(given.status, JSON.stringify(given.body)).toBe(200);
    open();
    const after = await ended('n1');
    expect(after.machines.find((each: { service_id: number }) => each.service_id === id)).toMatchObject({
      ...{ state: 'moved', organization_id: other.organizationId },
    });
    const told = await sql(
      bed.product,
      `select distinct organization_id::float8 as of from journal where subject_id = $1 and id > $2
         and action in ('vps.action.succeeded', 'vps.moved')`,
      ...[id, latest],
    );
    expect(told).toEqual([{ of: other.organizationId }]);
    const { actions } = (await other.get(vps(id, 'history?limit=1'))).body.data;
    expect(actions[0]).toMatchObject({ command: 'move', status: 'success' });
    const back = await signedIn(bed.product, other);
    await sql(
      bed.product,
      `insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, 'admin', now())`,
      ...[customer.organizationId, other.userId],
    );
    expect(
      (await back.post(`/dashboard/services/${id}/move`, { organization_id: customer.organizationId }))
        .status,
    ).toBe(200);
  });

  it('cancels, stops with force and orders what changes a machine while it moves: each has its turn once it is there', {
    timeout: 90_000,
  }, async () => {
    await only('n1', 'n2');
    const { serviceId: ending } = await runningVps(
      bed.product,
      customer,
      { domain: 'd.example.com' },
      30_000,
    );
    const there = await memberOf(ending);
    if (there !== 'n1') bed.simulated.moveByHand(machineIdOf(ending), 'n1');
    await bed.nodes((all) => all.some(({ name, machines }) => name.endsWith('/n1') && machines === 4));
    const [id] = ids;
    closedGate();
    bed.simulated.moving.before = (
      (gate) => (machine: string, to: string, runs: boolean) =>
        [machineIdOf(id), machineIdOf(ending)].includes(machine) ? gate(machine, to, runs) : null
    )(bed.simulated.moving.before);
    await evacuate('n1');
    await until(
      () => evacuation('n1'),
      ({ machines }) =>
        machines.filter(
          ({ service_id, state }: { service_id: number; state: string }) =>
            state === 'moving' && [id, ending].includes(service_id),
        ).length === 2,
      60_000,
    );
    for (const [path, body] of [
      ['stop', {}],
      ['restart', {}],
      ['reinstall', { os: 'tiny' }],
      ['snapshots', { name: 'now' }],
    ] as const) {
      const refused = await customer.post(vps(id, path), body);
      expect([path, refused.status, refused.body.code]).toEqual([
        path,
        409,
        expect.stringMatching(/locked|not_supported/),
      ]);
    }
    const forced = await customer.post(vps(id, 'stop'), { force: true });
    expect(forced.status).toBe(200);
    const gone = await customer.post(`/dashboard/services/${ending}/cancel`, { type: 'immediate' });
    expect(gone.status).toBe(200);
    open();
    await ended('n1');
    await settled(bed.product);
    expect([await memberOf(id), await memberOf(ending)]).toEqual(['n2', undefined]);
    expect((await bed.simulated.hypervisor('n2').inspect(machineIdOf(id))).power).toBe('stopped');
    const { vps: seen } = (await customer.get(vps(id, 'overview'))).body.data;
    expect(seen).toMatchObject({ state: 'stopped', locked: false });
    await customer.post(vps(id, 'start'), {});
    await settled(bed.product);
  });
});

describe('a member that falls silent', () => {
  const silence = async (name: string) => {
    const member = bed.simulated.members.get(name);
    if (member) member.answers = false;
    await bed.nodes((all) => all.some((node) => node.name.endsWith(`/${name}`) && !node.reachable));
  };

  it('keeps no job of a machine that came up elsewhere, and none that staff retries', {
    timeout: 90_000,
  }, async () => {
    await only('n1', 'n2');
    const [id] = ids;
    await silence('n1');
    const { id: stop } = (await customer.post(vps(id, 'stop'), {})).body.data.action;
    bed.simulated.moveByHand(machineIdOf(id), 'n2');
    await until(
      async () => (await customer.get(vps(id, `history/${stop}`))).body.data.action,
      ({ status }) => status === 'success',
      30_000,
    );
    await customer.post(vps(id, 'start'), {});
    await settled(bed.product);
    expect((await bed.simulated.hypervisor('n2').inspect(machineIdOf(id))).power).toBe('running');
  });

  it('keeps no move of a machine that the engine had come up elsewhere meanwhile', {
    timeout: 90_000,
  }, async () => {
    await only('n1', 'n2');
    const [id] = ids;
    let isLost = false;
    bed.simulated.moving.before = (machine) => {
      if (machine !== machineIdOf(id) || isLost) return null;
      isLost = true;
      const member = bed.simulated.members.get('n1');
      if (member) member.answers = false;
      return lost();
    };
    await evacuate('n1');
    await bed.nodes((all) => all.some((node) => node.name.endsWith('/n1') && !node.reachable));
    for (const each of ids) bed.simulated.moveByHand(machineIdOf(each), 'n3');
    const { machines } = await ended('n1');
    expect(machines.map(({ state }: { state: string }) => state)).toEqual(['moved', 'moved', 'moved']);
    expect(await nodeOf('n1')).toMatchObject({ machines: 0 });
    await settled(bed.product);
  });
});

describe('its cluster', () => {
  it('is reached in another way while something is done there, and that waits without a try being used up', {
    timeout: 90_000,
  }, async () => {
    const [id] = ids;
    const { hypervisor } = bed.simulated.members.get('n1') ?? {};
    if (hypervisor === undefined) throw new Error('n1 is gone');
    const { shutdown } = hypervisor;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let isAsked = false;
    hypervisor.shutdown = async (...given) => {
      isAsked = true;
      await gate;
      await shutdown(...given);
    };
    const { id: restart } = (await customer.post(vps(id, 'restart'), {})).body.data.action;
    await until(
      async () => isAsked,
      (asked) => asked,
    );
    const [{ id: clusterId }] = (await bed.product.staff.get('/staff/clusters')).body.data.clusters;
    bed.simulated.findings.problems = ['The token lacks everything'];
    const changed = await bed.product.staff.patch(`/staff/clusters/${clusterId}`, { bridge: 'br9' });
    expect(changed.status).toBe(200);
    await bed.checked(clusterId);
    await until(
      async () => bed.simulated.opened.length,
      (count) => count === 0,
    );
    open();
    const job = async () =>
      (
        await sql<{ state: string; attempts: number; code: string | null }>(
          bed.product,
          `select j.state, j.attempts, j.error_code as code from jobs j where name = 'vps.restart' and payload @> $1`,
          JSON.stringify({ actionId: restart }),
        )
      )[0];
    await until(job, (seen) => seen?.code !== null);
    expect(await job()).toEqual({ state: 'ready', attempts: 0, code: 'host_not_ready' });
    hypervisor.shutdown = shutdown;
    bed.simulated.findings.problems = [];
    await bed.product.staff.post(`/staff/clusters/${clusterId}/check`);
    await bed.checked(clusterId);
    await until(
      async () => (await customer.get(vps(id, `history/${restart}`))).body.data.action,
      ({ status }) => status === 'success',
      30_000,
    );
  });

  it('cannot have a system that somebody would reinstall to: refused in words, with the machine as it was', async () => {
    const [id] = ids;
    const write = (state: string) =>
      sql(bed.product, `update cluster_images set state = $1 where slug = 'tiny'`, state);
    await write('rejected');
    const refused = await customer.post(vps(id, 'reinstall'), { os: 'tiny' });
    await write('ready');
    const message = expect.stringMatching(/ cannot run on the host of this machine; choose another system$/);
    expect([refused.status, refused.body.code, refused.body.details]).toEqual([
      ...[400, 'invalid_configuration'],
      [{ field: 'os', message }],
    ]);
    const { vps: seen } = (await customer.get(vps(id, 'overview'))).body.data;
    expect(seen).toMatchObject({ state: 'running', locked: false });
  });
});
