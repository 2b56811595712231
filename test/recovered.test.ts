/** A database that came back by other means than a restore of ours: to a point in time, by a failover, as a copy. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../src/commands/index.ts';
import { readConfig } from '../src/config.ts';
import { type Receiver, receivers } from '../src/webhooks/testbed.ts';
import { type Child, startChild } from './child.ts';
import { apiClient, type Client } from './client.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';
import { orderVps } from './orders.ts';
import { until } from './product.ts';
import { type MailServer, mailServer } from './smtp.ts';
import { sql } from './sql.ts';

let database: TestDatabase;
let dir: string;
let product: Child;
let mails: MailServer;
let endpoint: Receiver;
const hosts = receivers();
const staffEmail = 'noc@inn.example';

const crash = () => path.join(dir, 'crash');
const command = (...argv: string[]) =>
  runCommand(readConfig({ DATABASE_URL: database.url, DATA_DIR: dir, LOG_LEVEL: 'silent' }), argv);
const env = () => ({
  ...{ DATABASE_URL: database.url, HYPERVISOR: 'simulator', INNKEEPER_CRASH_AT: `@${crash()}` },
  ...{ SMTP_URL: mails.url, STAFF_EMAIL: staffEmail, WEBHOOK_ALLOW: '127.0.0.1' },
});
async function start(): Promise<void> {
  product = await startChild(dir, env());
}
function customer(): Client {
  const { api_key: token, organization_id: organizationId } = product.demo.customer;
  return apiClient(`${product.url}/api`, { token, organizationId });
}
const staff = (): Client => apiClient(`${product.url}/api`, { token: product.demo.staff.api_key });
const kinds = async (): Promise<string[]> =>
  (await staff().get('/staff/attention')).body.data.concerns.map(({ kind }: { kind: string }) => kind);
const stateOf = async (id: number): Promise<string> =>
  (await customer().get(`/dashboard/services/${id}`)).body.data.service.status;

/** Nodes of workers that do nothing are silent after a minute, and get no machines. */
const reachable = () =>
  until(
    () => sql({ databaseUrl: database.url }, 'select from nodes where not reachable'),
    (silent) => silent.length === 0,
    60_000,
  );

async function pay(invoiceId: number): Promise<string> {
  const { body } = await customer().post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
  return body.data.invoice.number;
}

/** A delivery that was under way, in a database that is on another timeline by then. */
async function recovered(): Promise<number> {
  const { serviceId, invoiceId } = await orderVps(product, customer());
  writeFileSync(crash(), 'vps.provision/disk: before do');
  const { gone } = product;
  await customer().post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
  await gone;
  writeFileSync(crash(), '');
  await sql({ databaseUrl: database.url }, `update installation set timeline = '000000FF'`);
  await start();
  await until(kinds, (all) => all.includes('database.other'), 30_000);
  return serviceId;
}

beforeAll(async () => {
  [database, mails, endpoint] = await Promise.all([testDatabase(), mailServer(), hosts.open()]);
  dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-recovered-'));
  writeFileSync(crash(), '');
  await start();
}, 120_000);
afterAll(async () => {
  await product.end('SIGTERM');
  hosts.close();
  await mails.close();
  await database.drop();
  await removeDataDir(dir);
});

it('has staff told of it, and nothing is sent to customers or their endpoints until somebody says what it was', async () => {
  const meanwhile = await orderVps(product, customer());
  const { url } = endpoint;
  const made = await customer().post('/dashboard/webhooks', { url, events: ['ticket.created'] });
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  await recovered();
  await pay(meanwhile.invoiceId);
  const opening = { subject: 'Held', department: 'support', priority: 'low', message: 'Hello' };
  expect((await customer().post('/dashboard/tickets/create', opening)).status).toBe(200);
  // No worker was heard of for a minute: an API that runs alone beside a copy must not send what waits there, either.
  await sql({ databaseUrl: database.url }, `update workers set seen_at = seen_at - interval '1 hour'`);
  const beside = await startChild(dir, { ...env(), ROLE: 'api', LOG_LEVEL: 'warn' });
  await until(
    async () => beside.output(),
    (said) => said.includes('sends the mails'),
    30_000,
  );
  const toStaff = () => mails.mails.filter(({ to }) => to.includes(staffEmail));
  await until(
    async () => toStaff().map(({ plain }) => plain),
    (all) => all.some((text) => text.includes('innkeeper note-recovery')),
    90_000,
  );
  const toOthers = () =>
    sql(
      { databaseUrl: database.url },
      `select template, state from mails where recipient <> $1
         and created_at > (select recovery_seen_at from installation)`,
      staffEmail,
    );
  expect(await toOthers()).toEqual([]);
  expect(endpoint.got).toEqual([]);
  await beside.end('SIGTERM');

  const [seen] = await sql<{ at: Date }>(
    { databaseUrl: database.url },
    'select recovery_seen_at as at from installation',
  );
  await command('note-recovery', '--nothing-lost');
  await until(
    async () => endpoint.got.map(({ body }) => JSON.parse(body).type),
    (types) => types.includes('ticket.created'),
    60_000,
  );
  await until(
    () =>
      sql(
        { databaseUrl: database.url },
        `select from mails where template = 'invoice.paid' and state = 'sent' and created_at > $1`,
        seen?.at,
      ),
    (rows) => rows.length > 0,
    60_000,
  );
  await reachable();
}, 300_000);

it('is noticed: no job is done until somebody says that nothing is lost, and then they go on', async () => {
  const id = await recovered();
  const jobs = await sql<{ state: string }>(
    { databaseUrl: database.url },
    `select distinct state from jobs where name = 'vps.provision' and (payload->>'serviceId')::bigint = $1`,
    id,
  );
  // As its worker left it when it died: nobody has even taken it up.
  expect(jobs).toEqual([{ state: 'running' }]);
  expect(await stateOf(id)).toBe('pending');
  await expect(command('note-recovery')).rejects.toThrow('--nothing-lost');
  expect(await command('note-recovery', '--nothing-lost')).toContain('Jobs go on');
  await until(
    () => stateOf(id),
    (state) => state === 'active',
    60_000,
  );
  expect(await kinds()).not.toContain('database.other');
}, 180_000);

it('is as restored once somebody says to which moment it came back', async () => {
  const meanwhile = await orderVps(product, customer());
  const id = await recovered();
  // Before anybody has said anything: the plain number may be somebody else's since.
  const first = await pay(meanwhile.invoiceId);
  expect(first).toMatch(/^\d{4}-R\d{10}-\d{6}$/);
  await expect(command('note-recovery', '--as-of', 'yesterday')).rejects.toThrow('a moment that is over');
  expect(await command('note-recovery', '--as-of', new Date().toISOString())).toContain('held there');
  const all = await until(kinds, (seen) => seen.includes('job.failed'), 30_000);
  expect(all).toContain('restore.held');
  expect(all).not.toContain('database.other');
  expect(await stateOf(id)).toBe('pending');
  // What was asked for since it was noticed was done nowhere else.
  await until(
    () => stateOf(meanwhile.serviceId),
    (state) => state === 'active',
    60_000,
  );

  await reachable();
  // Numbers that were given to others since are not given again, and the series is the one that was begun.
  const { invoiceId } = await orderVps(product, customer());
  const next = String(Number(first.slice(-6)) + 1).padStart(6, '0');
  expect(await pay(invoiceId)).toBe(`${first.slice(0, -6)}${next}`);
  // Said a second time it would hold again what goes on: not beside a worker.
  await expect(command('note-recovery', '--as-of', new Date().toISOString())).rejects.toThrow(
    'Stop the product',
  );
}, 180_000);
