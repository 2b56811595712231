/** A database that came back by other means than a restore of ours: to a point in time, by a failover, as a copy. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../src/commands/index.ts';
import { readConfig } from '../src/config.ts';
import { type Child, startChild } from './child.ts';
import { apiClient, type Client } from './client.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';
import { orderVps } from './orders.ts';
import { until } from './product.ts';
import { sql } from './sql.ts';

let database: TestDatabase;
let dir: string;
let product: Child;

const crash = () => path.join(dir, 'crash');
const command = (...argv: string[]) =>
  runCommand(readConfig({ DATABASE_URL: database.url, DATA_DIR: dir, LOG_LEVEL: 'silent' }), argv);
async function start(): Promise<void> {
  const env = { DATABASE_URL: database.url, HYPERVISOR: 'simulator', INNKEEPER_CRASH_AT: `@${crash()}` };
  product = await startChild(dir, env);
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
  database = await testDatabase();
  dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-recovered-'));
  writeFileSync(crash(), '');
  await start();
}, 120_000);
afterAll(async () => {
  await product.end('SIGTERM');
  await database.drop();
  await removeDataDir(dir);
});

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
  const id = await recovered();
  await expect(command('note-recovery', '--as-of', 'yesterday')).rejects.toThrow('a moment that is over');
  expect(await command('note-recovery', '--as-of', new Date().toISOString())).toContain('held there');
  const all = await until(kinds, (seen) => seen.includes('job.failed'), 30_000);
  expect(all).toContain('restore.held');
  expect(all).not.toContain('database.other');
  expect(await stateOf(id)).toBe('pending');

  // Numbers that were given to others since are not given again.
  const { invoiceId } = await orderVps(product, customer());
  const { body } = await customer().post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
  expect(body.data.invoice.number).toMatch(/^\d{4}-R\d{8}-/);
  // Said a second time it would hold again what goes on: not beside a worker.
  await expect(command('note-recovery', '--as-of', new Date().toISOString())).rejects.toThrow(
    'Stop the product',
  );
}, 180_000);
