/** A worker that dies beside a living API: who notices, who is told, and how it heals. Two processes, one database. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Child, startChild } from './child.ts';
import { apiClient, type Client } from './client.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';
import { vpsCart } from './orders.ts';
import { until } from './product.ts';
import { headersOf, type MailServer, mailServer } from './smtp.ts';
import { sql } from './sql.ts';

let database: TestDatabase;
let mails: MailServer;
let dir: string;
let api: Child;
let worker: Child;
let staff: Client;
let customer: Client;

const start = (role: 'api' | 'worker') =>
  startChild(dir, {
    ROLE: role,
    DATABASE_URL: database.url,
    HYPERVISOR: 'simulator',
    SMTP_URL: mails.url,
    STAFF_EMAIL: 'noc@inn.example',
    LOG_LEVEL: 'warn',
  });

beforeAll(async () => {
  [database, mails] = await Promise.all([testDatabase(), mailServer()]);
  dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-dead-'));
  api = await start('api');
  worker = await start('worker');
  const { demo } = api;
  staff = apiClient(`${api.url}/api`, { token: demo.staff.api_key });
  const { api_key: token, organization_id: organizationId } = demo.customer;
  customer = apiClient(`${api.url}/api`, { token, organizationId });
});
afterAll(async () => {
  await Promise.all([api?.end('SIGTERM'), worker?.end('SIGTERM')]);
  await mails?.close();
  await database?.drop();
  await removeDataDir(dir);
});

interface Readiness {
  status: number;
  checks: Record<string, { ok: boolean; message?: string }>;
}

async function readiness(of: Child): Promise<Readiness> {
  const response = await fetch(`${of.url}/readyz`);
  const { data } = (await response.json()) as { data?: { checks?: { name: string; ok: boolean }[] } };
  const checks = Object.fromEntries((data?.checks ?? []).map(({ name, ...rest }) => [name, rest]));
  return { status: response.status, checks };
}

async function metric(of: Child, line: string): Promise<number | null> {
  const text = await (await fetch(`${of.url}/metrics`)).text();
  const found = text.split('\n').find((each) => each.startsWith(`${line} `));
  return found === undefined ? null : Number(found.slice(line.length + 1));
}

const node = async () => (await staff.get('/staff/nodes')).body.data.nodes[0];
const concerns = async (): Promise<string[]> =>
  (await staff.get('/staff/attention')).body.data.concerns.map((each: { kind: string }) => each.kind);
const order = () => customer.post('/cart/checkout/invoice', vpsCart(api.demo));
const service = async (id: number) => (await customer.get(`/dashboard/services/${id}`)).body.data.service;
const staffMails = () =>
  mails.mails.filter(({ to }) => to.includes('noc@inn.example')).map(({ text }) => headersOf(text).subject);

/** As if so long ago, for whoever looks at when somebody was heard of last. */
async function minutesPass(): Promise<void> {
  const before = { databaseUrl: database.url };
  await sql(before, `update workers set seen_at = seen_at - interval '2 minutes'`);
  await sql(before, `update nodes set seen_at = seen_at - interval '2 minutes'`);
}

/** Numbers of workers whose jobs nobody else goes on with. */
async function lockedNumbers(): Promise<number[]> {
  const held = `select objid::bigint::int as number from pg_locks where locktype = 'advisory' and classid = 741101
    and objsubid = 2 and granted and database = (select oid from pg_database where datname = current_database())`;
  const found = await sql<{ number: number }>({ databaseUrl: database.url }, held);
  return found.map(({ number }) => number);
}

/** Staff is told half a minute after the worker was missed, and what waited is delivered a while after another one began. */
const patienceMs = 110_000;

describe('a worker that is killed beside a living API', { timeout: 170_000 }, () => {
  let serviceId: number;

  it('is seen while it lives', async () => {
    const seen = await until(
      () => readiness(api),
      ({ checks }) => checks.workers?.ok === true,
    );
    expect(seen).toEqual({ status: 200, checks: { workers: { ok: true }, nodes: { ok: true } } });
    await until(
      () => metric(api, 'innkeeper_workers'),
      (workers) => workers === 1,
    );
    expect((await node()).reachable).toBe(true);
  });

  it('is missed within seconds: in /readyz, which stays 200, and in the metrics', async () => {
    await worker.end('SIGKILL');
    const { status, checks } = await until(
      () => readiness(api),
      ({ checks: found }) => found.workers?.ok === false,
    );
    expect(status).toBe(200);
    expect(checks.workers?.message).toMatch(
      /^No worker runs, so nothing is delivered\. The last one was heard of at /,
    );
    await until(
      () => metric(api, 'innkeeper_workers'),
      (workers) => workers === 0,
    );
  });

  it('does not keep a short restart from taking orders, which are paid and wait', async () => {
    const { body } = await order();
    serviceId = body.data.service_ids[0];
    const paid = await customer.post(`/dashboard/invoices/${body.data.invoice_id}/pay`, { method: 'credit' });
    expect(paid.status).toBe(200);
    expect(await metric(api, 'innkeeper_worker_alive')).toBeNull(); // the API has none of its own
    const waiting = await until(
      () => metric(api, 'innkeeper_jobs{queue="quick",state="waiting"}'),
      (jobs) => jobs !== null && jobs > 0,
    );
    expect(waiting).toBeGreaterThan(0);
  });

  it('takes its node out of reach after a minute: new orders are refused as sold out', async () => {
    await minutesPass();
    await until(node, ({ reachable }) => reachable === false);
    expect(await order()).toMatchObject({ status: 400, body: { code: 'insufficient_stock' } });
    expect((await readiness(api)).status).toBe(200);
    await until(
      () => readiness(api),
      ({ checks }) => checks.nodes?.message?.includes('node-1') === true,
    );
  });

  it('stands in the list of what needs a person, who is told by mail although no worker sends any', async () => {
    expect(await concerns()).toEqual(expect.arrayContaining(['worker.away', 'node.silent']));
    const told = await until(
      async () => staffMails(),
      (subjects) => subjects.some((subject) => subject?.startsWith('Nothing is delivered')),
      patienceMs,
    );
    expect(told).toContain('Nothing is delivered, because no worker runs: 1');
    expect((await service(serviceId)).status).toBe('pending');
  });

  it('heals by itself when a worker is started again', async () => {
    worker = await start('worker');
    await until(
      () => service(serviceId),
      ({ status }) => status === 'active',
      patienceMs,
    );
    await until(node, ({ reachable }) => reachable === true);
    const { status, checks } = await until(
      () => readiness(api),
      ({ checks: found }) => found.workers?.ok === true && found.nodes?.ok === true,
    );
    expect([status, Object.keys(checks)]).toEqual([200, ['workers', 'nodes']]);
    expect(await concerns()).toEqual([]);
    expect((await order()).status).toBe(200);
    await until(
      () => metric(api, 'innkeeper_workers'),
      (workers) => workers === 1,
    );
  });
});

describe('a worker without an API', () => {
  it('answers whoever runs it at a port of its own', async () => {
    expect((await fetch(`${worker.url}/livez`)).status).toBe(200);
    expect(await readiness(worker)).toMatchObject({ status: 200, checks: { workers: { ok: true } } });
    expect(await metric(worker, 'innkeeper_worker_alive')).toBe(1);
    expect(await metric(worker, 'innkeeper_worker_slots{queue="quick"}')).toBe(16);
    expect((await fetch(`${worker.url}/api/products`)).status).toBe(404);
  });

  it('is not ready while the connection by which it shows its life is lost, and finds another', async () => {
    const cut = () =>
      sql(
        { databaseUrl: database.url },
        `select pg_terminate_backend(pid) from pg_stat_activity
         where application_name = 'innkeeper worker' and datname = current_database()`,
      );
    await until(
      async () => {
        await cut();
        return readiness(worker);
      },
      ({ status }) => status === 503,
    );
    expect((await fetch(`${worker.url}/livez`)).status).toBe(200);
    await until(
      () => readiness(worker),
      ({ status }) => status === 200,
    );
  });

  it('that hangs counts as away after a minute, and its jobs are anybody’s sooner, until it goes on', async () => {
    // The API may still be about to leave to it what it did while no worker was to be seen.
    const before = await until(lockedNumbers, (locked) => locked.length === 1);
    process.kill(worker.pid, 'SIGSTOP');
    try {
      await minutesPass();
      await until(
        () => readiness(api),
        ({ checks }) => checks.workers?.ok === false,
      );
      await until(node, ({ reachable }) => reachable === false);
      await until(lockedNumbers, (locked) => !before.some((each) => locked.includes(each)), 60_000);
    } finally {
      process.kill(worker.pid, 'SIGCONT');
    }
    await until(
      () => readiness(api),
      ({ checks }) => checks.workers?.ok === true,
    );
    await until(node, ({ reachable }) => reachable === true);
  });

  it('and an API without a worker say nothing when they are stopped cleanly', async () => {
    const before = worker.output().length;
    await worker.end('SIGTERM');
    expect(worker.output().slice(before)).toBe('Stopping; machines keep running.\n');
    const printed = api.output().length;
    await api.end('SIGTERM');
    expect(api.output().slice(printed)).toBe('Stopping; machines keep running.\n');
  });
});
