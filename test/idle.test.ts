/** What workers ask of PostgreSQL that have nothing to do, and that they notice at once all the same when there is something. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Child, startChild } from './child.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';
import { until } from './product.ts';
import { sql } from './sql.ts';
import { openStatementTap, type StatementTap } from './statementTap.ts';

let database: TestDatabase;
const dirs: string[] = [];
const taps: StatementTap[] = [];
const workers: Child[] = [];

beforeAll(async () => {
  database = await testDatabase();
  const secretKey = randomBytes(32).toString('base64');
  for (const name of ['one', 'two']) {
    const [dir, tap] = [mkdtempSync(path.join(tmpdir(), 'innkeeper-idle-')), await openStatementTap()];
    dirs.push(dir);
    taps.push(tap);
    const env = { SECRET_KEY: secretKey, HYPERVISOR: 'simulator', NODE_NAME: name, ROLE: 'worker' };
    const urls = {
      DATABASE_URL: tap.through(database.applicationUrl),
      DATABASE_OWNER_URL: database.url,
    };
    // Staff has an address: what needs a person is looked for as well.
    workers.push(await startChild(dir, { ...env, ...urls, STAFF_EMAIL: 'staff@example.com' }));
  }
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.end('SIGTERM')));
  for (const tap of taps) await tap.close();
  for (const dir of dirs) await removeDataDir(dir);
  await database?.drop();
});

/** What each worker sends in a second. */
async function idleFor(ms: number): Promise<number[]> {
  for (const tap of taps) tap.take();
  const began = performance.now();
  await pause(ms);
  const sent = taps.map((tap) => [...tap.take().values()].reduce((sum, count) => sum + count, 0));
  return sent.map((count) => (count / (performance.now() - began)) * 1_000);
}

it('a worker that has nothing to do asks for less than one thing a second, and one that leads without an API beside it for hardly more', async () => {
  // What a start has made them do is done first.
  const [follower = 0, leader = 0] = await until(
    async () => (await idleFor(30_000)).toSorted((one, other) => one - other),
    ([least = 0, most = 0]) => least < 1 && most < 1.3,
    150_000,
  );
  expect((leader + 9 * follower) / 10, 'of ten, each').toBeLessThan(1);
}, 180_000);

it('a rule whose time is over is off a second later', async () => {
  const onDatabase = <T extends object>(query: string, ...values: unknown[]) =>
    sql<T>({ databaseUrl: database.url }, query, ...values);
  const over = new Date(Date.now() + 8_000);
  await onDatabase(`insert into organizations (id, name, created_at) values (1, 'Idle', now())`);
  await onDatabase(
    `insert into shield_rules (id, organization_id, destination, action, protocol, rank, matches, disabled, expires_at, generation,
       created_at, updated_at) values (1, 1, '192.0.2.1/32', 'deny', 6, 100, '{}', false, $1, 1, now(), now())`,
    over,
  );
  const rule = () =>
    onDatabase<{ disabled: boolean; updated_at: Date }>('select disabled, updated_at from shield_rules');
  const [found] = await until(rule, ([now]) => now?.disabled === true, 30_000);
  const lateMs = (found?.updated_at.getTime() ?? 0) - over.getTime();
  expect(lateMs).toBeGreaterThanOrEqual(0);
  expect(lateMs).toBeLessThan(1_500);
}, 60_000);
