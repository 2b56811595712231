/** What was under way with machines when a backup was made, and may have been done since: a person decides. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { runCommand } from '../src/commands/index.ts';
import { readConfig } from '../src/config.ts';
import type { SimulatedMachine } from '../src/drivers/hypervisor/index.ts';
import { type Child, startChild } from './child.ts';
import { apiClient, type Client } from './client.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';
import { orderVps } from './orders.ts';
import { until } from './product.ts';
import { sql } from './sql.ts';
import { openStream } from './stream.ts';

let database: TestDatabase;
let dir: string;
let product: Child;

const file = (name: string) => path.join(dir, name);
const steer = (name: 'crash' | 'fail', failpoint: string) => writeFileSync(file(name), failpoint);
const command = (...argv: string[]) =>
  runCommand(readConfig({ DATABASE_URL: database.url, DATA_DIR: dir, LOG_LEVEL: 'silent' }), argv);

async function start(): Promise<void> {
  product = await startChild(dir, {
    DATABASE_URL: database.url,
    HYPERVISOR: 'simulator',
    INNKEEPER_CRASH_AT: `@${file('crash')}`,
    INNKEEPER_FAIL_AT: `@${file('fail')}`,
  });
}

function customer(): Client {
  const { api_key: token, organization_id: organizationId } = product.demo.customer;
  return apiClient(`${product.url}/api`, { token, organizationId });
}

const staff = (): Client => apiClient(`${product.url}/api`, { token: product.demo.staff.api_key });
const jobs = async () => (await staff().get('/staff/jobs')).body.data.jobs;
/** The newest job of a service in staff's list. */
const jobOf = async (serviceId: number) =>
  (await jobs()).find((job: { payload: { serviceId?: number } }) => job.payload.serviceId === serviceId);
const retry = (id: number) => staff().post(`/staff/jobs/${id}/retry`);
const serviceOf = async (id: number) => (await customer().get(`/dashboard/services/${id}`)).body.data.service;
const delivered = (id: number) =>
  until(
    () => serviceOf(id),
    ({ status }) => status === 'active',
  );

function machineOf(serviceId: number): SimulatedMachine | undefined {
  const { machines } = JSON.parse(readFileSync(file('simulator.json'), 'utf8')) as {
    machines: [string, SimulatedMachine][];
  };
  return new Map(machines).get(`vps-${serviceId}`);
}

/** Has the product die at a failpoint that `work` brings it to, and takes a backup of what it leaves. */
async function backupAt(failpoint: string, work: () => Promise<unknown>): Promise<string> {
  steer('crash', failpoint);
  await work();
  await product.end('SIGTERM'); // it is gone already, or will be in a moment
  steer('crash', '');
  return (await command('backup', '--quick')).split(' ', 1)[0] ?? '';
}

async function restore(backup: string): Promise<void> {
  await product.end('SIGTERM');
  expect(await command('restore', backup, '--replace')).toContain(
    'API keys that were revoked since are good again',
  );
  await start();
}

beforeAll(async () => {
  database = await testDatabase();
  dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-restored-'));
});
beforeEach(async () => {
  steer('crash', '');
  steer('fail', '');
  await start();
});
afterEach(() => product.end('SIGTERM'));
afterAll(async () => {
  await database.drop();
  await removeDataDir(dir);
});

it('a delivery that was under way is held and told staff; a retry that fails leaves its machine as it is', async () => {
  const { serviceId, invoiceId } = await orderVps(product, customer());
  const gone = product.gone;
  const backup = await backupAt('vps.provision/boot: after do', async () => {
    await customer().post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
    await gone;
  });
  await start();
  await delivered(serviceId);
  const since = machineOf(serviceId);
  expect(since?.startedAtMs).not.toBeNull();

  steer('fail', 'vps.provision/ready');
  await restore(backup);
  const held = await jobOf(serviceId);
  expect(held).toMatchObject({ name: 'vps.provision', state: 'stuck', payload: { serviceId } });
  expect(held.stuck_reason).toMatch(/^held, because the database was restored as it was at .*Look first/);
  const { concerns } = (await staff().get('/staff/attention')).body.data;
  expect(JSON.stringify(concerns)).toContain('vps.provision: held, because the database was restored');
  // A key that was revoked since is good again, and nobody here can know it.
  expect(JSON.stringify(concerns)).toContain('look through the accounts and keys of your staff');
  const told = () =>
    sql<{ recipient: string; body: string }>(
      { databaseUrl: database.url },
      `select recipient, body from mails where template = 'account.put_back'`,
    );
  const mails = await until(told, (all) => all.length >= 2);
  expect(mails.map(({ body }) => body).join()).toContain(
    'An API key that you revoked after that is good again',
  );
  expect(JSON.stringify((await staff().get('/staff/attention')).body.data.concerns)).toContain(
    'customers with API keys were told',
  );
  expect(await serviceOf(serviceId)).toMatchObject({ status: 'pending' });
  expect(machineOf(serviceId)).toEqual(since);

  await retry(held.id);
  const failed = await until(
    () => jobOf(serviceId),
    (job) => job?.stuck_reason?.includes('was made to fail') === true,
  );
  expect(failed).toMatchObject({ id: held.id, state: 'stuck' });
  expect(machineOf(serviceId)?.startedAtMs).toBe(since?.startedAtMs);

  steer('fail', '');
  await retry(held.id);
  await delivered(serviceId);
  expect(await jobOf(serviceId)).toBeUndefined();
  expect(machineOf(serviceId)?.startedAtMs).toBe(since?.startedAtMs);
}, 180_000);

it.each([
  ['was being taken back', null],
  ['was stuck on its way back', 'disk: no host'],
])(
  'a delivery that %s does not take away a machine that was made since',
  async (_, reason) => {
    steer('fail', 'vps.provision/forget');
    const { serviceId, invoiceId } = await orderVps(product, customer());
    const gone = product.gone;
    const backup = await backupAt('vps.provision/disk: before undo', async () => {
      await customer().post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
      await gone;
      // As twelve tries over three minutes leave it.
      if (reason !== null)
        await sql(
          { databaseUrl: database.url },
          `update jobs set state = 'stuck', worker = null, finished_at = now(), stuck_reason = $2
         where name = 'vps.provision' and (payload->>'serviceId')::bigint = $1`,
          ...[serviceId, reason],
        );
    });
    await start();
    if (reason !== null) await retry((await jobOf(serviceId)).id);
    const failed = await until(
      () => jobOf(serviceId),
      (job) => job?.state === 'failed',
    );
    steer('fail', '');
    await retry(failed.id);
    await delivered(serviceId);
    const since = machineOf(serviceId);

    await restore(backup);
    const held = await jobOf(serviceId);
    expect(held).toMatchObject({
      ...{ name: 'vps.provision', state: 'stuck' },
      stuck_reason: expect.stringContaining('held, because the database was restored'),
    });
    await retry(held.id);
    const left = await until(
      () => jobOf(serviceId),
      (job) => job?.stuck_reason?.includes('is left alone') === true,
    );
    expect(left).toMatchObject({ id: held.id, state: 'stuck' });
    expect(machineOf(serviceId)).toEqual(since);
  },
  180_000,
);

it('an action that was under way is held, lets go of its machine, and does nothing to it by itself', async () => {
  const { serviceId, invoiceId } = await orderVps(product, customer());
  await customer().post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
  await delivered(serviceId);
  const at = (what: string) => `/dashboard/service/${serviceId}/vps/${what}`;
  const gone = product.gone;
  const backup = await backupAt('vps.create_snapshot/keep: before do', async () => {
    await customer().post(at('snapshots'), { name: 'mine' });
    await gone;
  });
  await start();
  const snapshots = async () => (await customer().get(at('snapshots'))).body.data.snapshots;
  await until(snapshots, ([one]) => one?.state === 'ready');
  const since = machineOf(serviceId);
  expect(since?.snapshots).toHaveLength(1);

  steer('fail', 'vps.create_snapshot/keep');
  await restore(backup);
  const held = await jobOf(serviceId);
  expect(held).toMatchObject({ name: 'vps.create_snapshot', state: 'stuck' });
  await retry(held.id);
  await until(
    () => jobOf(serviceId),
    (job) => job?.stuck_reason?.includes('was made to fail') === true,
  );
  expect(machineOf(serviceId)?.snapshots).toEqual(since?.snapshots);

  steer('fail', '');
  const { status } = await customer().post(at('stop'), { force: true });
  expect(status).toBe(200);
  await until(
    async () => machineOf(serviceId)?.startedAtMs,
    (startedAtMs) => startedAtMs === null,
  );
}, 180_000);

it('a stream that had come farther than the backup begins anew', async () => {
  const journalOf = (headers: Record<string, string> = {}) => {
    const { api_key: token, organization_id: id } = product.demo.customer;
    return openStream(`${product.url}/api/dashboard/events`, {
      token,
      'x-organization-id': String(id),
      ...headers,
    });
  };
  const happen = async (times: number) => {
    for (let nth = 0; nth < times; nth += 1) await orderVps(product, customer());
  };
  const backup = (await command('backup', '--quick')).split(' ', 1)[0] ?? '';
  await happen(1);
  const before = await journalOf();
  await expect.poll(() => before.lastId(), { timeout: 20_000 }).toMatch(/^\d+$/);
  const seen = before.lastId();
  before.close();
  await restore(backup);
  // As many again as it had seen, and more.
  await happen(2);
  const after = await journalOf({ 'last-event-id': seen });
  await expect.poll(() => after.events[0]?.event, { timeout: 20_000 }).toBe('reset');
  after.close();
}, 180_000);

it('a service that was to end when the backup was made runs on until staff says so, and so does its machine', async () => {
  const { serviceId, invoiceId } = await orderVps(product, customer());
  await customer().post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
  await delivered(serviceId);
  const ending = { type: 'end_of_period', reason: 'We move elsewhere' };
  expect((await customer().post(`/dashboard/services/${serviceId}/cancel`, ending)).status).toBe(200);
  const backup = (await command('backup', '--quick')).split(' ', 1)[0] ?? '';
  // Thought better of since.
  expect((await customer().delete(`/dashboard/services/${serviceId}/cancel`)).status).toBe(200);

  await product.end('SIGTERM');
  await command('restore', backup, '--replace');
  const at = { databaseUrl: database.url };
  // The host was away until the day on which it was to end.
  await sql(at, `update services set duedate = (now() at time zone 'UTC')::date where id = $1`, serviceId);
  await start();
  const looked = await until(
    () =>
      sql<{ later: boolean }>(
        at,
        `select look_on > (now() at time zone 'UTC')::date as later from service_calendar where service_id = $1 and looked_at is not null`,
        serviceId,
      ),
    (rows) => rows.length > 0 || machineOf(serviceId) === undefined,
    60_000,
  );
  expect(looked).toEqual([{ later: true }]);
  expect(await serviceOf(serviceId)).toMatchObject({ status: 'active' });
  expect(machineOf(serviceId)).toBeDefined();

  const { concerns } = (await staff().get('/staff/attention')).body.data;
  const [held] = concerns.filter(({ kind }: { kind: string }) => kind === 'restore.held');
  expect(held.message).toMatch(/nothing is suspended, ended or charged/);
  // Customers take it back again, and staff lets the rest go on; there is no payment provider to be compared.
  expect((await staff().post(`/staff/restores/${held.subject.id}/release`, {})).status).toBe(200);
  await until(
    async () => machineOf(serviceId),
    (machine) => machine === undefined,
    60_000,
  );
  expect((await serviceOf(serviceId)).status).not.toBe('active');
}, 240_000);

it('a session that may have ended since the backup opens nothing in an API that starts before any worker, and those of later stay open', async () => {
  const at = { databaseUrl: database.url };
  const sessions = async () =>
    (await sql<{ id: number }>(at, 'select id::int from sessions')).map(({ id }) => id);
  const signIn = (id: number) =>
    sql(
      at,
      `insert into sessions (id, user_id, hash, half, strong, method, proven_at, last_seen_at, expires_at, created_at)
       select $1::bigint, id, sha256($1::bigint::text::bytea), false, false, 'password', now(), now(), now() + interval '1 day', now()
       from users order by id limit 1`,
      id,
    );
  const startAs = async (role: 'api' | 'all') => {
    product = await startChild(dir, { DATABASE_URL: database.url, HYPERVISOR: 'simulator', ROLE: role });
  };
  const unsettled = () => sql(at, 'select id from restores where settled_at is null');
  await signIn(4242);
  const [backup = ''] = (await command('backup', '--quick')).split(' ', 1);
  await product.end('SIGTERM');
  await command('restore', backup, '--replace');
  expect(await sessions()).toEqual([4242]);
  await startAs('api');
  expect(await sessions()).toEqual([]);
  expect(await unsettled()).toHaveLength(1);
  await signIn(4243);
  await product.end('SIGTERM');
  await startAs('api');
  expect(await sessions()).toEqual([4243]);
  expect(await unsettled()).toHaveLength(1);
  await product.end('SIGTERM');
  await startAs('all');
  expect(await sessions()).toEqual([4243]);
  expect(await unsettled()).toEqual([]);
}, 180_000);
