/** Several processes on one PostgreSQL: who may be which node, and what becomes of those that start at once. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allPeriodicJobs } from '../src/worker.ts';
import { type Child, startChild } from './child.ts';
import { apiClient } from './client.ts';
import { emptyDatabase, type TestDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';
import { vpsCart } from './orders.ts';
import { until } from './product.ts';
import { sql } from './sql.ts';
import { openStatementTap, type StatementTap } from './statementTap.ts';

let database: TestDatabase;
const dirs: string[] = [];
const secretKey = randomBytes(32).toString('base64');
let taps: StatementTap[] = [];
let first: Child;
let second: Child;

function newDir(): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-processes-'));
  dirs.push(dir);
  return dir;
}
const start = (dir: string, env: Record<string, string>, tap?: StatementTap) =>
  startChild(dir, {
    DATABASE_URL: tap?.through(database.applicationUrl) ?? database.applicationUrl,
    DATABASE_OWNER_URL: database.url,
    SECRET_KEY: secretKey,
    HYPERVISOR: 'simulator',
    ...env,
  });

/** Starts what is refused, and says what it printed. */
async function refused(dir: string, env: Record<string, string>): Promise<string> {
  const outcome = await start(dir, env).then(
    (child) => child,
    (error: Error) => error.message,
  );
  if (typeof outcome === 'string') return outcome;
  await outcome.end('SIGKILL');
  throw new Error('it started');
}

const onDatabase = <T extends object>(query: string, ...values: unknown[]) =>
  sql({ databaseUrl: database.url }, query, ...values) as Promise<T[]>;

beforeAll(async () => {
  database = await emptyDatabase();
  taps = [await openStatementTap(), await openStatementTap()];
  const starts = taps.map((tap, at) => start(newDir(), { NODE_NAME: `node-${at + 1}` }, tap));
  await Promise.allSettled(starts);
  [first, second] = (await Promise.all(starts)) as [Child, Child];
});
afterAll(async () => {
  await Promise.all([first?.end('SIGTERM'), second?.end('SIGTERM')]);
  for (const tap of taps) await tap.close();
  for (const dir of dirs) await removeDataDir(dir);
  await database?.drop();
});

/** The one that made the demonstration company: whoever was first. */
const founder = () => (existsSync(path.join(dirs[0] as string, 'demo.json')) ? first : second);
const asCustomer = ({ url }: Child) => {
  const { api_key: token, organization_id: organizationId } = founder().demo.customer;
  return apiClient(`${url}/api`, { token, organizationId });
};

it('two that start at once on an empty database both come up, with one demonstration company, and deliver', async () => {
  expect(dirs.filter((dir) => existsSync(path.join(dir, 'demo.json')))).toHaveLength(1);
  expect(await onDatabase('select from users')).toHaveLength(3);
  for (const child of [first, second]) {
    const customer = asCustomer(child);
    const { body } = await customer.post('/cart/checkout/invoice', vpsCart(founder().demo));
    await customer.post(`/dashboard/invoices/${body.data.invoice_id}/pay`, { method: 'credit' });
    const service = async () =>
      (await customer.get(`/dashboard/services/${body.data.service_ids[0]}`)).body.data.service;
    await until(service, ({ status }) => status === 'active');
  }
  // The one with more room gets the next machine, so each has one.
  expect(await onDatabase('select from machines group by node_id')).toHaveLength(2);
});

it('two that have nothing to do look for jobs less than once a second, and only one does what is done by one at a time', async () => {
  // A worker that had a job is wide awake for a while, and one may come meanwhile: then it is looked at again.
  const looks = /^jobs\.(look|claim|pullForward|beat)$/;
  const sent = await until(
    idleFor,
    (perSecond) => perSecond(looks).every((count) => count < 1) && Math.min(...perSecond(/./)) < 7,
    100_000,
  );
  expect(sent(/^jobs\.glance$/).filter((count) => count === 0)).toHaveLength(1);
}, 180_000);

/** What each process asks of the database in a second, of what is named like this. Most is done every five seconds: no multiple of that. */
async function idleFor() {
  for (const tap of taps) tap.take();
  const began = performance.now();
  await pause(19_000);
  const sent = taps.map((tap) => tap.take());
  const seconds = (performance.now() - began) / 1_000;
  return (names: RegExp) =>
    sent.map((counts) => {
      const found = [...counts].filter(([name]) => names.test(name));
      return found.reduce((sum, [, count]) => sum + count, 0) / seconds;
    });
}

it('one that never gets a turn at what one process does at a time says all the same that it lives', async () => {
  const seen = () =>
    onDatabase<{ node: number; seen_at: Date }>('select nodes[1] as node, seen_at from workers order by 1');
  const before = await seen();
  expect(before).toHaveLength(2);
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  try {
    // As if a third process had begun all of it and never came to an end.
    for (const { name } of allPeriodicJobs)
      await other.query('select pg_advisory_lock(741102, hashtext($1))', [name]);
    await until(seen, (now) =>
      now.every(({ seen_at }, at) => seen_at.getTime() - (before[at]?.seen_at.getTime() ?? 0) > 15_000),
    );
  } finally {
    await other.end();
  }
});

it('a second host under the name of a node is refused, and told who has it and what to do', async () => {
  const said = await refused(newDir(), { NODE_NAME: 'node-1' });
  expect(said).toContain(`The node "node-1" is the host ${hostname()}, heard of last at 20`);
  expect(said).toContain('Give this host a NODE_NAME of its own, or bring the DATA_DIR along.');
  expect(said).toContain('innkeeper -- replace-node --name node-1');
  expect(await onDatabase('select from nodes')).toHaveLength(2);
});

it('a DATA_DIR that was moved is the same node, and so is one that was killed and starts again', async () => {
  await second.end('SIGKILL');
  const moved = `${dirs[1]}-moved`;
  await rename(dirs[1] as string, moved);
  dirs[1] = moved;
  second = await start(moved, { NODE_NAME: 'node-2', DEMO: 'off' });
  expect(await onDatabase('select from nodes')).toHaveLength(2);
});
