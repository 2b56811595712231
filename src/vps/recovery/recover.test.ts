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
  for (const name of ['n2', 'n3']) await setState(name, 'active');
}, 120_000);
afterEach(() => {
  bed.simulated.isReachable = true;
  bed.simulated.recovering = { before: () => null, after: () => null };
});
afterAll(() => bed?.stop());

const vps = (id: number, path: string) => `/dashboard/service/${id}/vps/${path}`;
const nodeOf = async (member: string): Promise<NodeSeen> =>
  (await bed.nodes(() => true)).find(({ name }) => name.endsWith(`/${member}`));
const setState = async (member: string, state: string) =>
  bed.product.staff.patch(`/staff/nodes/${(await nodeOf(member)).id}`, { state });
const at = async (member: string, path: string) => `/staff/nodes/${(await nodeOf(member)).id}/${path}`;
const recover = async (member: string, body: object) =>
  bed.product.staff.post(await at(member, 'recover'), body);
const recovery = async (member: string) =>
  (await bed.product.staff.get(await at(member, 'recovery'))).body.data.recovery;
const ended = (member: string) =>
  until(
    () => recovery(member),
    ({ machines }) => machines.every(({ state }: { state: string }) => state !== 'running'),
    60_000,
  );
const lastAction = async (id: number) =>
  (await customer.get(vps(id, 'history?limit=1'))).body.data.actions[0];

async function turn(member: string, answers: boolean): Promise<void> {
  const found = bed.simulated.members.get(member);
  if (found) found.answers = answers;
  await bed.nodes((all) =>
    all.some((each) => each.name.endsWith(`/${member}`) && each.reachable === answers),
  );
}

/** By what each member has itself. */
const powersAt = async (member: string) =>
  Object.fromEntries(
    (await bed.simulated.hypervisor(member).list())
      .filter(({ power }) => power !== 'absent')
      .map(({ id, power }) => [id, power]),
  );

/** As the nightly backups make them. */
async function backUp(id: number): Promise<void> {
  await sql(bed.product, 'update machines set backup_enabled = (service_id = $1), backup_hour = 0', id);
  await bed.product.periodic('vps.backups');
  await settled(bed.product);
  const { snapshots } = (await customer.get(vps(id, 'snapshots'))).body.data;
  expect(snapshots).toMatchObject([{ kind: 'backup', state: 'ready' }]);
}

/** What was kept of the machine lies on another member, by the name that it had. */
async function backUpAs(id: number): Promise<void> {
  const [kept] = (await customer.get(vps(id, 'snapshots'))).body.data.snapshots;
  const { id: other } = await nodeOf('n2');
  await sql(bed.product, 'update vps_snapshots set kept_on = $2 where service_id = $1', id, other);
  bed.simulated.kept.push({
    ...{ of: machineIdOf(id), name: kept.name, member: 'n2', createdAt: new Date(), diskGib: 1 },
  });
}

const holds = () => wrongRooms(bed.product);

it('refuses in words what is not lost, has no backup, or was not confirmed, and changes nothing', async () => {
  const { id: own, name } = (await bed.product.staff.get('/staff/nodes')).body.data.nodes.find(
    (each: NodeSeen) => each.cluster_id === null,
  );
  const refused = await bed.product.staff.post(`/staff/nodes/${own}/recover`, { confirm: name });
  expect([refused.status, refused.body.message]).toEqual([
    409,
    `${name} is a host of our own: the backups of its machines are on its own disk, and on no other`,
  ]);
  expect((await bed.product.staff.post('/staff/nodes/4242/recover', { confirm: 'x' })).status).toBe(404);
  expect((await bed.product.staff.get('/staff/nodes/4242/recovery')).status).toBe(404);
  expect((await customer.post(await at('n1', 'recover'), { confirm: 'ams1/n1' })).status).toBe(403);
  const answers = await recover('n1', { confirm: 'ams1/n1' });
  expect([answers.status, answers.body.code]).toEqual([409, 'conflict']);
  expect(await recovery('n1')).toMatchObject({ possible: false, name: 'ams1/n1' });

  await turn('n1', false);
  const mistyped = await recover('n1', { confirm: 'ams1/n2' });
  expect([mistyped.status, mistyped.body.details[0].field]).toEqual([400, 'confirm']);
  const none = await recover('n1', { confirm: 'ams1/n1' });
  expect(none.body.message).toBe('No machine of ams1/n1 has a backup that can be read now');
  const one = await recover('n1', { confirm: 'ams1/n1', service_ids: [ids[0], 4242] });
  expect(one.body.message).toBe(`${ids[0]}: It has no backup; 4242: It is not on ams1/n1`);
  expect((await recovery('n1')).machines.map(({ state }: { state: string }) => state)).toEqual([
    'impossible',
    'impossible',
    'impossible',
  ]);
  await turn('n1', true);
});

it('makes machines anew from their last backups with service, addresses and access; others are named and stay; what the node has of them is never started again', {
  timeout: 240_000,
}, async () => {
  const [first, second, bare] = ids;
  const before = (await customer.get(vps(first, 'overview'))).body.data.vps;
  await backUp(first);
  await backUp(second);
  await customer.post(vps(first, 'snapshots'), { name: 'mine' });
  await settled(bed.product);
  await turn('n1', false);
  const lost = await recovery('n1');
  expect(lost).toMatchObject({ possible: true, reason: null });
  expect(lost.machines.find((each: { service_id: number }) => each.service_id === first)).toMatchObject({
    ...{ state: 'possible', backup_at: expect.stringMatching(/^20/), kept_on: 'ams1/n2' },
  });
  expect(lost.machines.find((each: { service_id: number }) => each.service_id === bare)).toMatchObject({
    ...{ state: 'impossible', reason: 'It has no backup', backup: null },
  });

  // What was asked for and waits for the lost host keeps nobody from it.
  expect((await customer.post(vps(second, 'restart'), {})).status).toBe(200);
  expect((await recover('n1', { confirm: 'ams1/n1' })).status).toBe(200);
  const { machines } = await ended('n1');
  for (const id of [first, second])
    expect(machines.find((each: { service_id: number }) => each.service_id === id)).toMatchObject({
      ...{ state: 'recovered', reason: null, node: expect.stringMatching(/n[23]$/), left_over: null },
    });
  for (const id of [first, second]) {
    const anew = machineIdOf(id, 2);
    const found = { ...(await powersAt('n2')), ...(await powersAt('n3')) };
    expect(found).toMatchObject({ [anew]: 'running' });
    expect(found[machineIdOf(id)]).toBeUndefined();
    expect(await lastAction(id)).toMatchObject({
      ...{ command: 'recover', status: 'success', note: expect.stringMatching(/from its backup of 20/) },
    });
  }
  const after = (await customer.get(vps(first, 'overview'))).body.data.vps;
  expect(after.ips.length).toBeGreaterThan(0);
  expect(after).toMatchObject({ ips: before.ips, hostname: before.hostname, state: 'running' });
  const [restart] = (await customer.get(vps(second, 'history'))).body.data.actions.filter(
    (each: { command: string }) => each.command === 'restart',
  );
  expect(restart).toMatchObject({ status: 'error', error: { message: 'The host of the machine was lost' } });
  // Its backups are its own still, its snapshots were on the lost disk.
  expect((await customer.get(vps(first, 'snapshots'))).body.data.snapshots).toMatchObject([
    { kind: 'backup', state: 'ready' },
  ]);
  expect(bed.simulated.kept.map(({ of }) => of).sort()).toEqual(
    [machineIdOf(first, 2), machineIdOf(second, 2)].sort(),
  );
  expect(await holds()).toEqual([]);
  const mails = await until(
    () =>
      sql<{ subject: string }>(
        bed.product,
        `select subject from mails where recipient = $1 and template = 'vps.recovered'`,
        customer.email,
      ),
    (all) => all.length === 2,
  );
  expect(mails[0]?.subject).toMatch(/^[ab]\.example\.com runs on another host, as of /);

  // The lost node was only cut off: its machines ran on, and stop when it is heard of again.
  await turn('n1', true);
  await until(
    () => powersAt('n1'),
    (found) => found[machineIdOf(first)] === 'stopped' && found[machineIdOf(second)] === 'stopped',
    30_000,
  );
  expect((await powersAt('n1'))[machineIdOf(bare)]).toBe('running');
  await until(
    () => recovery('n1'),
    (now) => now.machines.every((each: NodeSeen) => each.state !== 'recovered' || each.left_over !== null),
  );
  const [placed] = await sql<{ name: string; state: string }>(
    bed.product,
    'select n.name, m.state from machines m join nodes n on n.id = m.node_id where m.service_id = $1',
    first,
  );
  expect([placed?.name, placed?.state]).toEqual([expect.stringMatching(/n[23]$/), 'running']);
  await customer.post(vps(first, 'restart'), {});
  await settled(bed.product);
  expect((await powersAt('n1'))[machineIdOf(first)]).toBe('stopped');
  // It is backed up, restored and ended by its new name.
  const [{ name: backup }] = (await customer.get(vps(first, 'snapshots'))).body.data.snapshots;
  await customer.post(vps(first, `snapshots/${backup}/restore`), {});
  await settled(bed.product);
  expect(await lastAction(first)).toMatchObject({ command: 'restore_snapshot', status: 'success' });
  const [told] = await sql<{ name: string }>(
    bed.product,
    `select data->>'machine' as name from journal where action = 'vps.left_over.stopped' and subject_id = $1`,
    first,
  );
  expect(told?.name).toBe(machineIdOf(first));
});

it('takes all back where it comes to nothing, and goes on where it was cut off', {
  timeout: 240_000,
}, async () => {
  const [, , id] = ids;
  await backUp(id);
  await turn('n1', false);
  for (const name of ['n2', 'n3']) await setState(name, 'draining');
  await recover('n1', { confirm: 'ams1/n1' });
  const stays = (await ended('n1')).machines.find((each: { service_id: number }) => each.service_id === id);
  expect(stays).toMatchObject({
    ...{ state: 'possible', reason: 'No other member of the cluster that takes machines has room for it' },
  });
  for (const name of ['n2', 'n3']) await setState(name, 'active');

  // The database may be older than what the engine knows: what that has elsewhere is not lost.
  const { hypervisor } = bed.simulated.members.get('n2') ?? {};
  if (hypervisor === undefined) throw new Error('it is there');
  const { list } = hypervisor;
  const running = { id: machineIdOf(id), power: 'running', startedAt: new Date() } as const;
  hypervisor.list = async () => [...(await list()), running];
  await recover('n1', { confirm: 'ams1/n1', service_ids: [id] });
  const lives = (await ended('n1')).machines.find((each: { service_id: number }) => each.service_id === id);
  hypervisor.list = list;
  expect(lives).toMatchObject({
    ...{
      state: 'possible',
      reason: expect.stringMatching(
        `^${machineIdOf(id)} is not lost: by what its engine says it runs on n2\\. `,
      ),
    },
  });

  bed.simulated.recovering.after = () => new HypervisorError('disk_failed', 'half', { permanent: true });
  await recover('n1', { confirm: 'ams1/n1', service_ids: [id] });
  await ended('n1');
  await settled(bed.product);
  expect({ ...(await powersAt('n2')), ...(await powersAt('n3')) }).not.toHaveProperty(machineIdOf(id, 3));
  expect(await lastAction(id)).toMatchObject({ command: 'recover', status: 'error' });
  expect(await holds()).toEqual([]);

  let isCut = false;
  bed.simulated.recovering.after = () => {
    if (isCut) return null;
    isCut = true;
    bed.simulated.isReachable = false;
    setTimeout(() => {
      bed.simulated.isReachable = true;
    }, 500);
    return new HypervisorError('host_not_ready', 'no answer came', { waits: true });
  };
  await recover('n1', { confirm: 'ams1/n1', service_ids: [id] });
  const again = (await ended('n1')).machines.find((each: { service_id: number }) => each.service_id === id);
  expect(again).toMatchObject({ state: 'recovered', reason: null });
  expect({ ...(await powersAt('n2')), ...(await powersAt('n3')) }).toMatchObject({
    // What an attempt before was to be made as is nobody's again.
    [machineIdOf(id, 4)]: 'running',
  });
  expect(await holds()).toEqual([]);
  await turn('n1', true);
});

it('after the restore of an older backup it starts no old copy beside the machine, and neither makes it anew nor takes it away', {
  timeout: 240_000,
}, async () => {
  const [first] = ids;
  const anew = machineIdOf(first, 2);
  const everywhere = async () => ({
    ...(await powersAt('n1')),
    ...(await powersAt('n2')),
    ...(await powersAt('n3')),
  });
  expect(await everywhere()).toMatchObject({ [machineIdOf(first)]: 'stopped', [anew]: 'running' });
  const { id: n1 } = await nodeOf('n1');
  await sql(bed.product, 'delete from vps_recoveries where service_id = $1', first);
  await sql(
    bed.product,
    `update machines set incarnation = 1, node_id = $2, wanted = 'running', state = 'running' where service_id = $1`,
    ...[first, n1],
  );
  await until(
    async () => (await customer.get(vps(first, 'overview'))).body.data.vps.state,
    (state) => state === 'error',
    60_000,
  );
  expect(await everywhere()).toMatchObject({ [machineIdOf(first)]: 'stopped', [anew]: 'running' });
  const concerns = JSON.stringify((await bed.product.staff.get('/staff/attention')).body.data.concerns);
  expect(concerns).toContain(
    `has a machine ${anew}, a later one of service ${first} than the database knows`,
  );

  await backUpAs(first);
  await turn('n1', false);
  expect((await recover('n1', { confirm: 'ams1/n1', service_ids: [first] })).status).toBe(200);
  const after = (await ended('n1')).machines.find(
    (each: { service_id: number }) => each.service_id === first,
  );
  expect(after).toMatchObject({ reason: expect.stringContaining(`has ${anew} already`) });
  expect(await everywhere()).toMatchObject({ [anew]: 'running' });
  await turn('n1', true);
});

describe('a change', () => changes.leaveEntries(() => bed.product, ['recoverNode']));
