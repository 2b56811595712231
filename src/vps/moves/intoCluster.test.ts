import { beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import type { Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { wrongRooms } from '../../../test/rooms.ts';
import { settled, sql } from '../../../test/sql.ts';
import { HypervisorError } from '../../drivers/hypervisor/index.ts';
import type { ClusterBed } from '../../fleet/clusters/clusters.testbed.ts';
import { machineIdOf } from '../machine.ts';
import { departing } from './departing.testbed.ts';

const changes = watchChanges();
const { store, atHost, vps, read, ended, lastAction, ordered, inCluster, hereIs, there } = departing();
let bed: ClusterBed;
let customer: Person;
let host: number;
let cluster: number;

beforeAll(() => {
  ({ bed, customer, host, cluster } = there());
});

const evacuate = (body: object) => bed.product.staff.post(`/staff/nodes/${host}/evacuate`, body);
const moveOf = (machines: { service_id: number }[], id: number) =>
  machines.find(({ service_id }) => service_id === id);
const lost = () => new HypervisorError('host_not_ready', 'no answer came', { waits: true });

const rowOf = async (id: number) => {
  const [row] = await sql<{
    node: string;
    held: string;
    state: string;
    incarnation: number;
    locked: boolean;
  }>(
    bed.product,
    `select n.name as node, h.name as held, m.state, m.incarnation,
       exists (select 1 from vps_actions a where a.service_id = m.service_id and a.status in ('queued', 'running')) as locked
     from machines m join nodes n on n.id = m.node_id join placements p on p.service_id = m.service_id
     join nodes h on h.id = p.node_id where m.service_id = $1`,
    id,
  );
  return row;
};
const holds = () => wrongRooms(bed.product);
const mailsTo = (template: string) =>
  sql<{ subject: string; text: string }>(
    bed.product,
    'select subject, body as text from mails where recipient = $1 and template = $2 order by id',
    customer.email,
    template,
  );

it('refuses in words what cannot go, says what each would lose, and changes nothing', async () => {
  const id = await ordered('plan.example.com');
  const plan = (node: number, to: number) =>
    bed.product.staff.get(`/staff/nodes/${node}/evacuation/plan?cluster_id=${to}`);
  await customer.post(vps(id, 'snapshots'), { name: 'mine' });
  await settled(bed.product);
  const { plan: seen } = (await plan(host, cluster)).body.data;
  expect(seen).toMatchObject({ possible: true, reason: null, cluster: 'ams1', name: 'node-1' });
  expect(moveOf(seen.machines, id)).toMatchObject({
    ...{ hostname: 'plan.example.com', runs: true, possible: true, reason: null, snapshots: 1, backups: 0 },
    loses: expect.arrayContaining([
      ...['Its 1 snapshot', 'The screen in the browser', 'The rescue system'],
      'What Shield filters: no edge stands before all members of ams1',
    ]),
  });
  const [member] = await bed.nodes(() => true);
  expect((await plan(member.id, cluster)).body.data.plan).toMatchObject({ possible: false });
  expect((await plan(host, 4242)).body.details).toEqual([
    { field: 'cluster_id', message: 'there is no such cluster' },
  ]);
  expect((await plan(4242, cluster)).status).toBe(404);

  const words = async (body: object) => {
    const { status, body: answer } = await evacuate(body);
    return [status, answer.details?.[0]?.message ?? answer.message];
  };
  expect(await words({ cluster_id: 4242 })).toEqual([400, 'there is no such cluster']);
  expect(await words({ service_ids: [id] })).toEqual([400, 'goes with cluster_id alone']);
  expect(await words({ cluster_id: cluster, begins_at: '2099-01-01T00:00:00Z' })).toEqual([
    400,
    'must be within 90 days',
  ]);
  expect(await words({ cluster_id: cluster, service_ids: [id, 4242] })).toEqual([
    409,
    `${id}: It has 1 snapshot, which is lost with the disk that stays behind; say drop_copies where it may go without; 4242: It is not on node-1`,
  ]);
  expect((await evacuate({}))?.body.message).toMatch(
    /^node-1 is a host of our own, whose machines go into a cluster alone/,
  );
  await sql(bed.product, `update clusters set location = 'FRA'`);
  expect(await words({ cluster_id: cluster })).toEqual([
    409,
    'ams1 is in FRA, and the addresses of machines of node-1 are reached in AMS',
  ]);
  await sql(bed.product, `update clusters set location = 'AMS'`);
  await sql(bed.product, `update cluster_images set state = 'failed'`);
  expect((await words({ cluster_id: cluster, service_ids: [id], drop_copies: true }))[1]).toBe(
    `${id}: ams1 does not have its operating system tiny`,
  );
  await sql(bed.product, `update cluster_images set state = 'ready'`);
  expect((await customer.post(`/staff/nodes/${host}/evacuate`, { cluster_id: cluster })).status).toBe(403);
  expect(await rowOf(id)).toEqual({
    node: 'node-1',
    held: 'node-1',
    state: 'running',
    incarnation: 1,
    locked: false,
  });
  expect((await bed.product.staff.get(`/staff/nodes/${host}`)).body.data.node.state).toBe('active');
});

it('takes a machine into the cluster with addresses, access, backups and service; its customer is told before and after', {
  timeout: 120_000,
}, async () => {
  const id = await ordered('moves.example.com');
  await sql(bed.product, 'update machines set backup_enabled = (service_id = $1), backup_hour = 0', id);
  await bed.product.periodic('vps.backups');
  await settled(bed.product);
  const before = (await customer.get(vps(id, 'overview'))).body.data.vps;
  const { service } = (await customer.get(`/dashboard/services/${id}`)).body.data;
  const mac = store.machines.get(machineIdOf(id))?.spec?.nic.mac;

  // It runs, and nobody has said that it may go down.
  expect((await evacuate({ cluster_id: cluster, service_ids: [id] })).status).toBe(200);
  expect(moveOf((await ended()).machines, id)).toMatchObject({
    state: 'stays',
    reason: 'It runs, and goes with its power off alone: say cold where it may',
  });
  expect(await mailsTo('vps.move.planned')).toEqual([]);

  let refused: { status: number; body: { code: string } } | null = null;
  bed.simulated.recovering.before = async (machine) => {
    if (machine === machineIdOf(id, 3)) refused = await customer.post(vps(id, 'restart'), {});
    return null;
  };
  const begun = await evacuate({ cluster_id: cluster, service_ids: [id], cold: true });
  expect(begun.body.data.evacuation).toMatchObject({ cluster_id: cluster, cold: true, begins_at: null });
  const { machines } = await ended();
  expect(machines).toMatchObject([
    { service_id: id, state: 'moved', reason: null, live: false, away_s: expect.any(Number) },
  ]);
  expect(refused).toMatchObject({ status: 409, body: { code: 'locked' } });
  expect([hereIs(id), await inCluster(id)]).toEqual(['absent', { [machineIdOf(id, 2)]: 'running' }]);
  const { node, held } = (await rowOf(id)) ?? {};
  expect([node, held]).toEqual([expect.stringMatching(/^ams1\/n[12]$/), node]);
  expect(await holds()).toEqual([]);
  const after = (await customer.get(vps(id, 'overview'))).body.data.vps;
  expect(after).toMatchObject({
    state: 'running',
    locked: false,
    ips: before.ips,
    hostname: before.hostname,
  });
  const macs = ['n1', 'n2'].map(
    (member) => bed.simulated.members.get(member)?.store.machines.get(machineIdOf(id, 2))?.spec?.nic.mac,
  );
  expect(macs).toContain(mac);
  expect((await customer.get(`/dashboard/services/${id}`)).body.data.service).toEqual(service);
  // What was kept after its end is what it was made of.
  expect(bed.simulated.imported.get(machineIdOf(id, 2))).toContain(`"of":"${machineIdOf(id)}"`);
  expect((await customer.get(vps(id, 'snapshots'))).body.data.snapshots).toMatchObject([
    { kind: 'backup', state: 'ready' },
  ]);
  expect(bed.simulated.kept.map(({ of }) => of)).toEqual([machineIdOf(id, 2)]);
  expect(await lastAction(id)).toMatchObject({
    ...{ command: 'move', status: 'success' },
    note: expect.stringMatching(/^It was off for \d+ seconds while it went to another host$/),
  });
  expect((await bed.product.staff.get(`/staff/nodes/${host}`)).body.data.node.state).toBe('active');
  const [planned] = await until(
    () => mailsTo('vps.move.planned'),
    (all) => all.length > 0,
  );
  const [told] = await until(
    () => mailsTo('vps.move.ended'),
    (all) => all.length > 0,
  );
  expect(planned?.subject).toBe('moves.example.com goes to another host and is off for a while');
  expect(told?.subject).toBe('moves.example.com is on another host');
  expect(told?.text).toMatch(/answered again \d+ seconds later/);

  // It is restarted, backed up, restored and ended by its new name.
  await customer.post(vps(id, 'restart'), {});
  await settled(bed.product);
  const [{ name: backup }] = (await customer.get(vps(id, 'snapshots'))).body.data.snapshots;
  await customer.post(vps(id, `snapshots/${backup}/restore`), {});
  await settled(bed.product);
  expect(await lastAction(id)).toMatchObject({ command: 'restore_snapshot', status: 'success' });
  await bed.product.staff.post(`/staff/services/${id}/terminate`, { reason: 'test' });
  await settled(bed.product);
  expect([await inCluster(id), bed.simulated.kept]).toEqual([{}, []]);
});

it('empties the host, in a window, which can be stopped: stopped machines stay stopped, and one that will not move is named', {
  timeout: 120_000,
}, async () => {
  const [runs, off, kept] = [
    await ordered('r.example.com'),
    await ordered('o.example.com'),
    await ordered('k.example.com'),
  ];
  await customer.post(vps(off, 'stop'));
  await customer.post(vps(kept, 'snapshots'), { name: 'mine' });
  await settled(bed.product);
  const beginsAt = new Date(bed.product.clock.now().getTime() + 3_600_000).toISOString();
  const begun = (await evacuate({ cluster_id: cluster, cold: true, begins_at: beginsAt })).body.data
    .evacuation;
  expect(begun).toMatchObject({ state: 'running', begins_at: beginsAt, moving: 0 });
  expect((await evacuate({ cluster_id: cluster })).body.code).toBe('conflict');
  const { id: restart } = (await customer.post(vps(runs, 'restart'), {})).body.data.action;
  await until(
    async () => (await customer.get(vps(runs, `history/${restart}`))).body.data.action,
    ({ status }) => status === 'success',
  );
  expect([hereIs(runs), (await read()).moving]).toEqual(['running', 0]);
  expect((await bed.product.staff.delete(`/staff/nodes/${host}/evacuation`)).status).toBe(200);
  expect(moveOf((await read()).machines, runs)).toMatchObject({ reason: 'Staff stopped it before its turn' });
  bed.product.clock.travel(3_600_001);
  await settled(bed.product);
  const subjects = (await mailsTo('vps.move.ended')).map(({ subject }) => subject);
  expect(subjects).toContain('r.example.com was not moved');
  expect(hereIs(runs)).toBe('running');

  expect((await evacuate({ cluster_id: cluster, cold: true })).status).toBe(200);
  const { machines, state } = await ended();
  expect([state, (await bed.product.staff.get(`/staff/nodes/${host}`)).body.data.node.state]).toEqual([
    'done',
    'draining',
  ]);
  expect(moveOf(machines, runs)).toMatchObject({ state: 'moved', live: false });
  expect(moveOf(machines, off)).toMatchObject({ state: 'moved', live: null, away_s: null });
  expect(moveOf(machines, kept)).toMatchObject({
    state: 'stays',
    reason: expect.stringMatching(/^It has 1 snapshot, which is lost/),
  });
  expect([hereIs(runs), hereIs(off), hereIs(kept)]).toEqual(['absent', 'absent', 'running']);
  expect(Object.values(await inCluster(off))).toEqual(['stopped']);
  expect((await customer.get(vps(off, 'overview'))).body.data.vps.state).toBe('stopped');
  await customer.post(vps(off, 'start'), {});
  await settled(bed.product);
  expect(Object.values(await inCluster(off))).toEqual(['running']);

  expect(
    (await evacuate({ cluster_id: cluster, service_ids: [kept], cold: true, drop_copies: true })).status,
  ).toBe(200);
  expect(moveOf((await ended()).machines, kept)).toMatchObject({ state: 'moved' });
  expect((await customer.get(vps(kept, 'snapshots'))).body.data.snapshots).toEqual([]);
  expect(await holds()).toEqual([]);
});

it('starts it again where it was when anything fails, and says why', { timeout: 240_000 }, async () => {
  const id = await ordered('fails.example.com');
  const refused = () => new HypervisorError('disk_failed', 'the pool is broken', { permanent: true });
  let keeps = 0;
  const cases: Record<string, { arm: () => void; reason: RegExp; mayLeave?: true }> = {
    'the guest ignores its power button': {
      arm: () => {
        atHost.shutdown = () => new HypervisorError('shutdown_timeout', 'it still runs');
      },
      reason: /still runs/,
    },
    'it cannot be kept': {
      arm: () => {
        atHost.keep = () => {
          keeps += 1;
          setTimeout(() => bed.product.clock.travel(31_000), 100);
          return new HypervisorError('no_space', 'The node has no room left for this', { permanent: true });
        };
      },
      reason: /no room left/,
    },
    'the cluster refuses the disk': {
      arm: () => {
        bed.simulated.recovering.before = refused;
      },
      reason: /the pool is broken/,
    },
    'it was made and the answer was an error': {
      arm: () => {
        bed.simulated.recovering.after = refused;
      },
      reason: /the pool is broken/,
    },
    'the cluster takes no machines': {
      arm: () => undefined,
      reason: /No member of ams1 that takes machines has room for it/,
    },
  };
  for (const [when, { arm, reason }] of Object.entries(cases)) {
    arm();
    // Time went on in a leap: host and cluster have to be heard of again first.
    const evacuated = await until(
      () => evacuate({ cluster_id: cluster, service_ids: [id], cold: true }),
      ({ status }) => status === 200,
    );
    expect(evacuated.status, when).toBe(200);
    if (when === 'the cluster takes no machines')
      await sql(bed.product, `update nodes set state = 'draining' where cluster_id is not null`);
    const { machines } = await ended();
    expect(machines, when).toMatchObject([{ state: 'stays', reason: expect.stringMatching(reason) }]);
    bed.simulated.recovering = { before: () => null, after: () => null };
    delete atHost.keep;
    delete atHost.shutdown;
    await settled(bed.product);
    expect([hereIs(id), await inCluster(id)], when).toEqual(['running', {}]);
    expect(await rowOf(id), when).toMatchObject({
      node: 'node-1',
      held: 'node-1',
      state: 'running',
      locked: false,
    });
    expect(store.machines.get(machineIdOf(id))?.backups ?? [], when).toEqual([]);
    expect(await lastAction(id), when).toMatchObject({ command: 'move', status: 'error' });
    expect(await holds(), when).toEqual([]);
  }
  expect(keeps).toBe(12);
});

it('goes on where it was cut off, and does not wait for a cluster that is silent for long', {
  timeout: 240_000,
}, async () => {
  const id = await ordered('cut.example.com');
  let isDone = false;
  const once = () => {
    if (isDone) return null;
    isDone = true;
    return lost();
  };
  bed.simulated.recovering.after = once;
  await evacuate({ cluster_id: cluster, service_ids: [id], cold: true });
  expect(moveOf((await ended()).machines, id)).toMatchObject({ state: 'moved' });
  expect(Object.values(await inCluster(id))).toEqual(['running']);

  const other = await ordered('silent.example.com');
  bed.simulated.recovering.before = () => {
    bed.simulated.isReachable = false;
    return lost();
  };
  await evacuate({ cluster_id: cluster, service_ids: [other], cold: true });
  await until(
    async () => bed.simulated.isReachable,
    (is) => !is,
  );
  expect(hereIs(other)).toBe('stopped');
  bed.product.clock.travel(16 * 60_000);
  const { machines } = await ended();
  expect(machines).toMatchObject([
    {
      service_id: other,
      state: 'stays',
      reason: expect.stringMatching(/^The cluster cannot be reached from its host/),
    },
  ]);
  expect(hereIs(other)).toBe('running');
  bed.simulated.isReachable = true;
  bed.simulated.recovering.before = () => null;
  await bed.nodes((all) => all.every(({ reachable }) => reachable));
  // The same cluster takes it the next time, whatever was left there.
  await evacuate({ cluster_id: cluster, service_ids: [other], cold: true });
  expect(moveOf((await ended()).machines, other)).toMatchObject({ state: 'moved' });
});

it('what is not to run is not started anywhere: suspended it goes as it is, terminated it goes no further', {
  timeout: 120_000,
}, async () => {
  const [stopped, gone] = [await ordered('s.example.com'), await ordered('t.example.com')];
  bed.simulated.recovering.before = async (machine) => {
    const id = machine.startsWith(machineIdOf(gone)) ? gone : stopped;
    await bed.product.staff.post(`/staff/services/${id}/${id === gone ? 'terminate' : 'suspend'}`, {
      reason: 'test',
    });
    return null;
  };
  await evacuate({ cluster_id: cluster, service_ids: [stopped, gone], cold: true });
  const { machines } = await ended();
  await settled(bed.product);
  expect(moveOf(machines, stopped)).toMatchObject({ state: 'moved' });
  expect([hereIs(stopped), Object.values(await inCluster(stopped))]).toEqual(['absent', ['stopped']]);
  expect(moveOf(machines, gone)).toMatchObject({ state: 'stays', reason: 'Its service was terminated' });
  expect([hereIs(gone), await inCluster(gone)]).toEqual(['absent', {}]);
  expect(await holds()).toEqual([]);
});

it('one whose guest is late there stays on and keeps what it writes, and its host keeps what it had until a person has looked', {
  timeout: 120_000,
}, async () => {
  const names = new Map<number, string>();
  for (const name of ['one', 'two', 'three'])
    names.set(await ordered(`${name}.late.example.com`), `${name}.late.example.com`);
  const all = [...names.keys()];
  const members = [...bed.simulated.members.values()].map(({ hypervisor }) => hypervisor);
  const before = members.map(({ waitUntilReady }) => waitUntilReady);
  for (const member of members)
    member.waitUntilReady = async () => {
      throw new HypervisorError('ready_timeout', 'it is still booting');
    };
  await evacuate({ cluster_id: cluster, service_ids: all, cold: true });
  // What keeps these from answering may keep the next from it: none begins before a person has looked.
  const { machines, halted_for, state } = await until(read, ({ moved }) => moved === 2, 60_000);
  await settled(bed.product);
  for (const [nth, member] of members.entries()) member.waitUntilReady = before[nth] ?? member.waitUntilReady;
  expect([state, halted_for]).toEqual([
    'running',
    expect.stringMatching(/does not answer there as it did before$/),
  ]);
  // Two go beside each other, whichever they are.
  const waits = (each: number) => JSON.stringify(moveOf(machines, each)).includes('"waiting"');
  const next = all.find(waits) ?? 0;
  const id = all.find((each) => each !== next) ?? 0;
  expect(moveOf(machines, id)).toMatchObject({
    state: 'moved',
    reason: expect.stringMatching(/has not answered on SSH there within 300 seconds/),
  });
  expect([moveOf(machines, next), hereIs(next)]).toMatchObject([{ state: 'waiting' }, 'running']);
  const [told] = await until(
    async () =>
      (await mailsTo('vps.move.ended')).filter(({ subject }) =>
        subject.startsWith(names.get(id) ?? 'nobody'),
      ),
    (all) => all.length > 0,
  );
  expect(told?.text).toContain('does not answer yet');
  expect((await evacuate({ cluster_id: cluster })).status).toBe(200);
  expect(moveOf((await ended()).machines, next)).toMatchObject({ state: 'moved', reason: null });
  expect([hereIs(id), Object.values(await inCluster(id))]).toEqual(['stopped', ['running']]);
  expect(await rowOf(id)).toMatchObject({ state: 'running', locked: false });
  await until(
    async () => JSON.stringify((await bed.product.staff.get('/staff/attention')).body.data.concerns),
    (concerns) => concerns.includes(`node-1 has a machine ${machineIdOf(id)} that no service has`),
    60_000,
  );
  expect([hereIs(id), Object.values(await inCluster(id))]).toEqual(['stopped', ['running']]);
});

it('one that its host has failed is tried again where it has gone', { timeout: 120_000 }, async () => {
  const id = await ordered('failed.example.com');
  atHost.start = () => new HypervisorError('host_not_ready', 'the host is full');
  bed.product.hypervisor.lose(machineIdOf(id));
  await until(
    () => rowOf(id),
    (row) => row?.state === 'error' && !row.locked,
    60_000,
  );
  await evacuate({ cluster_id: cluster, service_ids: [id], cold: true });
  expect(moveOf((await ended()).machines, id)).toMatchObject({ state: 'moved' });
  await until(
    async () => Object.values(await inCluster(id)),
    ([power]) => power === 'running',
    60_000,
  );
});

it('says which copies are lost, takes a machine without them when staff says so, and tells its customer even if it is off', {
  timeout: 120_000,
}, async () => {
  const id = await ordered('copies.example.com');
  await sql(bed.product, 'update machines set backup_enabled = (service_id = $1), backup_hour = 0', id);
  await bed.product.periodic('vps.backups');
  await settled(bed.product);
  await customer.post(vps(id, 'stop'), {});
  await settled(bed.product);
  const keeps = [...bed.simulated.capabilities];
  bed.simulated.capabilities = ['snapshots', 'serial'];
  const planned = async () =>
    moveOf(
      (await bed.product.staff.get(`/staff/nodes/${host}/evacuation/plan?cluster_id=${cluster}`)).body.data
        .plan.machines,
      id,
    ) as { loses_copies?: { snapshots: number; backups: number } } | undefined;
  await until(planned, (machine) => machine?.loses_copies?.backups === 1);
  const refused = await evacuate({ cluster_id: cluster, service_ids: [id] });
  expect(refused.body.message).toBe(
    `${id}: It has 1 backup, which is lost with the disk that stays behind; say drop_copies where it may go without`,
  );
  expect((await evacuate({ cluster_id: cluster, service_ids: [id], drop_copies: true })).status).toBe(200);
  expect(moveOf((await ended()).machines, id)).toMatchObject({ state: 'moved', reason: null });
  bed.simulated.capabilities = keeps;
  const [told] = await until(
    async () =>
      (await mailsTo('vps.move.planned')).filter(({ subject }) => subject.startsWith('copies.example.com')),
    (all) => all.length > 0,
  );
  expect(told?.subject).toBe('copies.example.com goes to another host without some of its copies');
  expect(told?.text).toMatch(/are lost: snapshots: 0, backups: 1/);
  expect((await customer.get(vps(id, 'snapshots'))).body.data.snapshots).toEqual([]);
});

describe('a change', () => changes.leaveEntries(() => bed.product, ['evacuateNode', 'stopEvacuation']));
