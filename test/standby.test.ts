/** PostgreSQL with a standby, and with fewer connections than all processes open: what is said of it at the start. */
import { appendFile, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Acknowledged } from '../src/platform/database/acknowledged.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../src/platform/database/embedded/index.ts';
import { connect, statement } from '../src/platform/database/index.ts';
import { type DataDir, prepareDataDir } from '../src/platform/host/dataDir.ts';
import { runProgram } from '../src/platform/host/program.ts';
import { createLog } from '../src/platform/index.ts';
import { type Cluster, judgeFailover } from '../src/platform/installationFailover.ts';
import { type Child, startChild } from './child.ts';
import { apiClient } from './client.ts';
import { removeDataDir } from './dataDir.ts';
import { until } from './product.ts';

const quick = { fsync: 'off', full_page_writes: 'off', shared_buffers: '64MB' };
const ignore = () => undefined;
const dirs: string[] = [];
let primary: EmbeddedPostgres;
let standby: EmbeddedPostgres;
let startCopy: () => Promise<EmbeddedPostgres>;
let product: Child;
let productDir: string;

async function newDir(name: string): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), `innkeeper-${name}-`));
  dirs.push(dir);
  return dir;
}

const socketsOf = (url: string) => new URL(url.replace('@/', '@localhost/')).searchParams.get('host') ?? '';

async function asSuperuser(query: string, server = primary): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ host: socketsOf(server.url), user: 'postgres', database: 'innkeeper' });
  await client.connect();
  return client
    .query(query)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}

/** A real standby of the primary: the same files, and from then on what the primary sends. */
async function startStandby(home: DataDir, copy: DataDir): Promise<void> {
  await primary.stop();
  await runProgram(['cp', '-a', path.join(home.dir, 'postgres'), copy.dir]);
  primary = await startEmbeddedPostgres({ ...home, settings: quick, log: ignore });
  await appendFile(path.join(home.dir, 'postgres/pg_hba.conf'), 'local replication postgres trust\n');
  await asSuperuser('select pg_reload_conf()');
  await writeFile(path.join(copy.dir, 'postgres/data/standby.signal'), '');
  const from = `host=${socketsOf(primary.url)} port=5432 user=postgres application_name=standby_2`;
  const settings = { ...quick, primary_conninfo: from };
  startCopy = () => startEmbeddedPostgres({ ...copy, settings, log: ignore });
  standby = await startCopy();
  await until(
    () => asSuperuser(`select from pg_stat_replication where state = 'streaming'`),
    (streams) => streams.length === 1,
  );
}

const start = (env: Record<string, string> = {}) =>
  startChild(productDir, {
    DATABASE_URL: primary.applicationUrl,
    DATABASE_OWNER_URL: primary.url,
    HYPERVISOR: 'simulator',
    ...env,
  });
const staff = () => apiClient(`${product.url}/api`, { token: product.demo.staff.api_key });
const concerns = async (): Promise<{ kind: string; message: string }[]> =>
  (await staff().get('/staff/attention')).body.data.concerns;

beforeAll(async () => {
  productDir = await newDir('product');
  const [home, copy] = [
    await prepareDataDir(await newDir('primary')),
    await prepareDataDir(await newDir('standby')),
  ];
  primary = await startEmbeddedPostgres({ ...home, settings: quick, log: ignore });
  await startStandby(home, copy);
}, 120_000);
afterAll(async () => {
  await product?.end('SIGTERM');
  await standby?.stop();
  await primary?.stop();
  for (const dir of dirs) await removeDataDir(dir);
});

it('a standby that commits do not wait for is told at the start as what it is, to the log and to who starts it', async () => {
  product = await start();
  const said = product.output().match(/the standby standby_2 is not synchronous, so paid orders .*/g);
  expect(said).toHaveLength(2);
  expect(said?.join()).toContain('set synchronous_standby_names (of Patroni: synchronous_mode)');
  await product.end('SIGTERM');
});

it('one that a role does not wait for is told too, and one that is waited for is not', async () => {
  await asSuperuser(`alter system set synchronous_standby_names = '*'`);
  await asSuperuser('alter role innkeeper_app set synchronous_commit = local');
  await asSuperuser('select pg_reload_conf()');
  product = await start();
  expect(product.output()).toContain('set synchronous_commit to on; it is local');
  await product.end('SIGTERM');
  await asSuperuser('alter role innkeeper_app reset synchronous_commit');
  product = await start();
  expect(product.output()).not.toContain('the standby');
});

it('each process says how many connections it opens at most, and does not open more', async () => {
  const [line] = product.output().match(/\{.*connections to the database that this process opens.*\}/) ?? [];
  const { connections, processes, together, room } = JSON.parse(line ?? '{}');
  expect([connections, processes, together, room]).toEqual([19, 1, 19, 47]);
  const demands = Array.from({ length: 60 }, () => staff().get('/staff/attention'));
  const opened = await asSuperuser(`select from pg_stat_activity where application_name like 'innkeeper%'`);
  await Promise.all(demands);
  expect(opened.length).toBeGreaterThan(4);
  expect(opened.length).toBeLessThanOrEqual(connections);
});

it('more than PostgreSQL has are told at the start, and stand in the list of staff for as long as they are too many', async () => {
  expect(await concerns()).toEqual([]);
  const second = await start({ ROLE: 'api', DATABASE_POOL_SIZE: '30' });
  const wrong =
    '2 processes open 57 connections to the database at most, and it has 47 for them: raise max_connections';
  expect(second.output().split(wrong)).toHaveLength(3);
  expect(await concerns()).toEqual([
    expect.objectContaining({ kind: 'database.connections', message: expect.stringContaining(wrong) }),
  ]);
  await second.end('SIGKILL');
  await until(concerns, (all) => all.length === 0);
});

const promise = statement('test.promise', `insert into promises values ('kept')`);
const promised = () => asSuperuser('select from promises');
const whereItIs = statement<Cluster>(
  'test.whereItIs',
  `select system_identifier::text as id, left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline from pg_control_system()`,
);
let before: Cluster;
/** What was told of: all that the standby has, and more. */
let [had, more]: (readonly Acknowledged[])[] = [];

it('a commit is told of only once the standby has it, even where that takes longer than a statement may', async () => {
  await asSuperuser('create table promises (kept text)');
  await asSuperuser('grant insert on promises to innkeeper_app');
  const db = connect(primary.applicationUrl, {
    ...{ log: createLog('silent'), statementTimeoutMs: 1_000, poolSize: 4 },
  });
  db.noteCommits();
  before = await db.one(whereItIs);
  await db.transaction('test', (tx) => tx.run(promise));
  had = db.acknowledged(before.timeline);
  const there = connect(standby.applicationUrl, { log: createLog('silent') });
  await expect(there.transaction('test', (tx) => tx.run(promise))).rejects.toMatchObject({
    code: 'unavailable',
  });
  expect(there.connections().total, 'whose connection is given up').toBe(0);
  await there.close();
  await standby.stop();
  const told = () => db.transaction('test', (tx) => tx.run(promise));
  const refused = expect.objectContaining({
    status: 'rejected',
    reason: expect.objectContaining({ code: 'unavailable' }),
  });
  expect(await Promise.allSettled([told(), told(), told()])).toEqual([refused, refused, refused]);
  // Until then nobody sees it, so nobody is told of it by another way either.
  expect(await promised()).toHaveLength(1);
  // The server goes on waiting for each: once half of the connections do, no other is begun, and who reads has the rest.
  expect(await Promise.allSettled([told(), told(), told()])).toEqual([refused, refused, refused]);
  expect(db.connections().total).toBeLessThanOrEqual(4);
  expect(await db.one(whereItIs)).toEqual(before);
  await asSuperuser(`alter system set synchronous_standby_names = ''`);
  await asSuperuser('select pg_reload_conf()');
  await until(promised, ({ length }) => length === 4);
  await until(
    async () => db.connections(),
    ({ total, idle }) => total === idle,
  );
  expect(await promised()).toHaveLength(4);
  await told();
  more = db.acknowledged(before.timeline);
  await db.close();
});

it('of a standby that took over it is known whether anything is missing that a process was told of', async () => {
  await product.end('SIGTERM');
  await primary.stop();
  standby = await startCopy();
  await asSuperuser('select pg_promote()', standby);
  const db = connect(standby.applicationUrl, { log: createLog('silent') });
  const now = await db.one(whereItIs);
  const judge = (told: readonly Acknowledged[] = [], from = before) => judgeFailover({ db }, from, now, told);
  expect(await judge(had)).toBe('whole');
  expect(await judge(more)).toBe('lost');
  expect(await judge(had?.map((each) => ({ ...each, waited: false })))).toBe('unknown');
  expect(await judge([])).toBe('unknown');
  expect(await judge(had, { ...before, timeline: '00000009' })).toBe('unknown');
  expect(await judge(had, { ...before, id: '1' })).toBe('unknown');
  await db.close();
});
