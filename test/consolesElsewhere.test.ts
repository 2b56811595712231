/** Consoles and screens of machines of a host of ours, through a process that runs no machines. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type Child, startChild } from './child.ts';
import { apiClient } from './client.ts';
import { emptyDatabase, type TestDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';
import { vpsCart } from './orders.ts';
import { until } from './product.ts';
import { sql } from './sql.ts';

const secretKey = Buffer.alloc(32, 7).toString('base64');
const dirs: string[] = [];
let database: TestDatabase;
let whole: Child;
let worker: Child;
let api: Child;
/** A machine of each host. */
let ids: number[] = [];
const sockets: WebSocket[] = [];

function start(env: Record<string, string>): Promise<Child> {
  const dir = mkdtempSync(join(tmpdir(), 'innkeeper-elsewhere-'));
  dirs.push(dir);
  return startChild(dir, {
    ...{ DATABASE_URL: database.applicationUrl, DATABASE_OWNER_URL: database.url, SECRET_KEY: secretKey },
    ...{ HYPERVISOR: 'simulator', CHECK_RESPONSES: 'on', ...env },
  });
}

beforeAll(async () => {
  database = await emptyDatabase();
  whole = await start({ NODE_NAME: 'node-1' });
  [worker, api] = await Promise.all([
    start({ NODE_NAME: 'node-2', ROLE: 'worker', DEMO: 'off' }),
    start({ ROLE: 'api', DEMO: 'off' }),
  ]);
  for (let nth = 0; nth < 2; nth += 1) {
    const { body } = await through(whole).post('/cart/checkout/invoice', vpsCart(whole.demo));
    await through(whole).post(`/dashboard/invoices/${body.data.invoice_id}/pay`, { method: 'credit' });
    const service = async () =>
      (await through(whole).get(`/dashboard/services/${body.data.service_ids[0]}`)).body.data.service;
    await until(service, ({ status }) => status === 'active');
  }
  // The one with more room gets the next machine, so each has one.
  const machines = await sql<{ service_id: number }>(
    { databaseUrl: database.url },
    'select m.service_id from machines m join nodes n on n.id = m.node_id order by n.name',
  );
  ids = machines.map((each) => Number(each.service_id));
}, 120_000);
afterAll(async () => {
  for (const each of sockets) each.terminate();
  await Promise.all([whole, worker, api].map((each) => each?.end('SIGTERM')));
  for (const dir of dirs) await removeDataDir(dir);
  await database?.drop();
}, 60_000);

function through({ url }: Child) {
  const { api_key: token, organization_id: organizationId } = whole.demo.customer;
  return apiClient(`${url}/api`, { token, organizationId });
}

/** A console through a process, with what came of it. */
async function look(child: Child, id: number, type: 'vnc' | 'serial') {
  const ask = () => through(child).get(`/dashboard/service/${id}/vps/console?type=${type}`);
  const { body } = await until(ask, ({ status }) => status === 200);
  const socket = new WebSocket(child.url.replace('http', 'ws') + new URL(body.data.wss_url).pathname);
  sockets.push(socket.on('error', () => undefined));
  const seen = { text: '', code: 0 };
  socket.on('message', (data) => {
    seen.text += String(data);
  });
  socket.on('close', (code) => {
    seen.code = code;
  });
  await new Promise((resolve) => socket.once('open', resolve));
  return { seen, type: (keys: string) => socket.send(keys), close: () => socket.close() };
}

it('are seen through it alike, of the host of a whole process and of one with a worker alone', async () => {
  for (const id of ids) {
    const screen = await look(api, id, 'vnc');
    await expect.poll(() => screen.seen.text).toMatch(/^RFB 003\.008/);
    const line = await look(api, id, 'serial');
    await expect.poll(() => line.seen.text).toContain(`vps-${id} login: `);
    line.type('typed');
    await expect.poll(() => line.seen.text).toContain('typed');
    screen.close();
    line.close();
  }
});

it('have the picture of the screen that their own process shows', async () => {
  const [first = 0] = ids;
  const ask = (child: Child) =>
    fetch(`${child.url}/api/dashboard/service/${first}/vps/screen`, {
      headers: {
        authorization: `Bearer ${whole.demo.customer.api_key}`,
        'x-organization-id': String(whole.demo.customer.organization_id),
      },
    });
  const [own, other] = [await ask(whole), await ask(api)];
  expect([own.status, other.status]).toEqual([200, 200]);
  expect(other.headers.get('content-type')).toBe('image/png');
  expect(Buffer.from(await other.arrayBuffer())).toEqual(Buffer.from(await own.arrayBuffer()));
});

it('are known to run or not where another process runs them: the old copy of a machine that is to be adopted', async () => {
  const [, second = 0] = ids;
  const [unknown] = await sql<{ id: number }>(
    { databaseUrl: database.url },
    `with node as (
       insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, seen_at, created_at, state)
       select 'host-9', location, 8, 65536, 1000, now() + interval '1 day', now(), 'draining' from nodes limit 1 returning id)
     insert into vps_unknown_machines (node_id, machine, service_id, addresses, found_at)
     select node.id, 'vps-' || $1::bigint || '-2', $1::bigint, '{}', now() from node returning id::int as id`,
    second,
  );
  for (const child of [api, whole]) {
    const staff = apiClient(`${child.url}/api`, { token: whole.demo.staff.api_key });
    const { body } = await staff.get(`/staff/unknown-machines/${unknown?.id}`);
    expect(body.data.unknown_machine).toMatchObject({
      ...{ old_copy: { node: 'node-2', power: 'running' }, confirm: null },
      actions: { adopt: { allowed: false, reason: expect.stringMatching(/runs on node-2/) } },
    });
    const { status, body: refusal } = await staff.post(`/staff/unknown-machines/${unknown?.id}/adopt`, {});
    expect([status, refusal.code]).toEqual([409, 'conflict']);
  }
  await sql({ databaseUrl: database.url }, 'delete from vps_unknown_machines where id = $1', unknown?.id);
});

it('end with the process that runs them, and are refused in words before a ticket once that has gone', {
  timeout: 60_000,
}, async () => {
  const [, second = 0] = ids;
  const line = await look(api, second, 'serial');
  await expect.poll(() => line.seen.text).toContain('login: ');
  await worker.end('SIGTERM');
  await expect.poll(() => line.seen.code).toBe(1001);
  const ask = () => through(api).get(`/dashboard/service/${second}/vps/console?type=serial`);
  const { status, body } = await until(ask, (answer) => answer.status !== 200);
  expect([status, body.code, body.message]).toEqual([
    503,
    'driver_absent',
    expect.stringContaining('does not reach the host of this machine'),
  ]);
});
