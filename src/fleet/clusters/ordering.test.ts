import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from '../../../test/client.ts';
import { removeDataDir } from '../../../test/dataDir.ts';
import { orderVps, runningVps, vpsCart } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { createLog } from '../../platform/index.ts';
import { startProduct } from '../../product.ts';
import { type ClusterBed, type ClusterSeen, clusterBed } from './clusters.testbed.ts';

let bed: ClusterBed;
let customer: Person;
let cluster: ClusterSeen;
let id: number;
let vps: string;

beforeAll(async () => {
  const env = { SECRET_KEY: Buffer.alloc(32, 7).toString('base64') };
  bed = await clusterBed(['n1', 'n2'], { env });
  customer = await newCustomer(bed.product, { creditMinor: 50_000 });
});
afterAll(() => bed.stop());

const hasImage = (state: string) =>
  until(
    async () => (await bed.product.staff.get('/staff/images/tiny')).body.data.image,
    ({ clusters }) => clusters[0]?.state === state,
  );
const order = () => customer.post('/cart/checkout/invoice', vpsCart(bed.product.demo));
const overview = async () => (await customer.get(`${vps}/overview`)).body.data.vps;
/** The member that has a machine, by what it has itself. */
const memberOf = async (machine: number): Promise<string | undefined> => {
  for (const name of bed.simulated.members.keys())
    if ((await bed.simulated.hypervisor(name).list()).some((each) => each.id === `vps-${machine}`))
      return name;
  return undefined;
};
async function at(machine: number): Promise<string> {
  const member = await memberOf(machine);
  if (member === undefined) throw new Error(`no member has vps-${machine}`);
  return member;
}

it('can be ordered on once it has the operating system, and not before', { timeout: 40_000 }, async () => {
  const [own] = (await bed.product.staff.get('/staff/nodes')).body.data.nodes;
  await bed.product.staff.patch(`/staff/nodes/${own.id}`, { state: 'draining' });
  cluster = await bed.add();
  await bed.nodes((all) => all.length === 2);
  await hasImage('ready');
  await sql(bed.product, `update cluster_images set state = 'failed' where slug = 'tiny'`);
  expect((await order()).body.code).toBe('insufficient_stock');
  await bed.product.staff.post('/staff/images/tiny/prepare');
  await hasImage('ready');
  ({ serviceId: id } = await runningVps(bed.product, customer));
  vps = `/dashboard/service/${id}/vps`;
  expect(await at(id)).toMatch(/^n[12]$/);
  const read = await bed.read(cluster.id);
  expect(read).toMatchObject({ machines: 1 });
});

it('is not ordered on where others use what was promised to nobody', { timeout: 40_000 }, async () => {
  const members = [...bed.simulated.members.values()];
  const freeOf = async () =>
    (await bed.nodes(() => true)).map(({ free }) => [free.memory_mib, free.disk_gib]);
  for (const full of [
    { memoryMib: 100, diskGib: 900 },
    { memoryMib: 60_000, diskGib: 3 },
  ]) {
    for (const member of members) member.free = full;
    await until(freeOf, (all) =>
      all.every(([memory, disk]) => memory === full.memoryMib || disk === full.diskGib),
    );
    const { body } = await order();
    expect(body.code).toBe('insufficient_stock');
  }
  for (const member of members) member.free = { memoryMib: 60_000, diskGib: 900 };
  await until(freeOf, (all) =>
    all.every(([memory, disk]) => memory && disk && memory > 50_000 && disk > 800),
  );
  expect((await order()).status).toBe(200);
});

it('runs machines that are stopped, started and kept like any other', { timeout: 40_000 }, async () => {
  await settled(bed.product);
  expect(await overview()).toMatchObject({ state: 'running', location: 'AMS', host_silent_since: null });
  await customer.post(`${vps}/stop`);
  await until(overview, ({ state, locked }) => state === 'stopped' && !locked);
  const machine = await bed.simulated.hypervisor(await at(id)).inspect(`vps-${id}`);
  expect(machine.power).toBe('stopped');
  await customer.post(`${vps}/start`);
  await until(overview, ({ state, locked }) => state === 'running' && !locked);
  expect((await customer.post(`${vps}/snapshots`, { name: 'first' })).status).toBe(200);
  await until(overview, ({ locked }) => !locked);
  expect((await customer.get(`${vps}/console?type=serial`)).status).toBe(200);
});

it('says why what its engine cannot do is not possible', async () => {
  const { actions } = await overview();
  expect(actions.reset_password).toMatchObject({ allowed: false, code: 'not_supported' });
  const screen = await customer.get(`${vps}/console?type=vnc`);
  expect([screen.status, screen.body.message]).toEqual([
    409,
    'The node of this machine shows no screen; ask for the serial console, type=serial',
  ]);
});

it('has its consoles opened by processes that do no jobs, and others not', { timeout: 40_000 }, async () => {
  const { ctx, clock } = bed.product;
  const dataDir = mkdtempSync(join(tmpdir(), 'innkeeper-api-'));
  // The process that runs our own host has said where it answers, and is to be one that has not.
  await sql(bed.product, 'delete from console_hosts');
  const config = { ...ctx.config, role: 'api' as const, port: 0, demo: false, dataDir };
  const silent = { stage: () => undefined, say: () => undefined };
  const parts = { clock, drivers: { openCluster: bed.simulated.open }, log: createLog('silent') };
  const api = await startProduct(config, silent, parts);
  const there = apiClient(`http://127.0.0.1:${api.port}/api`, {
    token: customer.key,
    organizationId: customer.organizationId,
  });
  const opened = await until(
    () => there.get(`${vps}/console?type=serial`),
    ({ status }) => status !== 503,
  );
  expect(opened.status).toBe(200);
  // As of a machine on the host of another process.
  const [own] = await sql<{ id: number }>(bed.product, 'select id from nodes where cluster_id is null');
  await sql(bed.product, 'update machines set node_id = $1 where service_id = $2', own?.id, id);
  const refused = await there.get(`${vps}/console?type=serial`);
  // Its host may have said meanwhile that it has no such machine.
  await sql(
    bed.product,
    `update machines m set node_id = p.node_id, state = 'running' from placements p where p.service_id = m.service_id`,
  );
  expect([refused.status, refused.body.code]).toEqual([503, 'driver_absent']);
  await api.stop();
  await removeDataDir(dataDir);
});

it('keeps what its members are asked for until they answer: nothing fails, and nothing is started elsewhere', {
  timeout: 60_000,
}, async () => {
  const name = await at(id);
  const member = bed.simulated.members.get(name);
  if (!member) throw new Error(`there is no ${name}`);
  member.answers = false;
  await bed.nodes((all) => all.some((node) => !node.reachable));
  const silent = await overview();
  expect(silent).toMatchObject({ state: 'running', host_silent_since: expect.any(String) });
  const console = await customer.get(`${vps}/console?type=serial`);
  expect(console.body.message).toMatch(/^The host of this machine has not answered since .*may run on/);
  expect((await customer.post(`${vps}/stop`)).status).toBe(200);
  const waiting = () =>
    sql<{ state: string; attempts: number }>(
      bed.product,
      `select state, attempts from jobs where name = 'vps.stop' and (payload->>'serviceId')::bigint = $1
       order by id desc limit 1`,
      id,
    );
  // It was claimed before the member fell silent, or waits for somebody who serves it.
  await new Promise((resolve) => setTimeout(resolve, 8_000));
  expect(await waiting()).toMatchObject([{ state: 'ready', attempts: 0 }]);
  // What others order meanwhile goes where somebody answers.
  const other = await runningVps(bed.product, customer, { domain: 'web2.example.com' });
  expect(await at(other.serviceId)).not.toBe(name);
  expect((await member.hypervisor.inspect(`vps-${id}`)).power).toBe('running');
  member.answers = true;
  await until(overview, ({ state, locked }) => state === 'stopped' && !locked);
  expect(await overview()).toMatchObject({ host_silent_since: null });
});

it('gives what is down again, and takes up what runs, as on any node', { timeout: 40_000 }, async () => {
  const hypervisor = bed.simulated.hypervisor(await at(id));
  await customer.post(`${vps}/start`);
  await until(overview, ({ state, locked }) => state === 'running' && !locked);
  hypervisor.lose(`vps-${id}`);
  await until(
    () => hypervisor.inspect(`vps-${id}`),
    ({ power }) => power === 'running',
  );
  await until(overview, ({ state, locked }) => state === 'running' && !locked);
});

it('takes no new machines while it drains, keeps those it has, and is not removed with them', {
  timeout: 40_000,
}, async () => {
  const path = `/staff/clusters/${cluster.id}`;
  await bed.product.staff.patch(path, { state: 'draining' });
  expect((await order()).body.code).toBe('insufficient_stock');
  expect((await bed.nodes(() => true)).map((node) => node.accepts_machines)).toEqual([false, false]);
  expect((await overview()).state).toBe('running');
  const removed = await bed.product.staff.delete(path);
  expect([removed.status, removed.body.message]).toEqual([
    409,
    '3 machines and orders have room on ams1; end them first, or drain the cluster until they are gone',
  ]);
  await bed.product.staff.patch(path, { state: 'active' });
  expect((await orderVps(bed.product, customer, { domain: 'web3.example.com' })).serviceId).toBeGreaterThan(
    0,
  );
});
