/** PostgreSQL with a standby, and with fewer connections than all processes open: what is said of it at the start. */
import { appendFile, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../src/platform/database/embedded/index.ts';
import { type DataDir, prepareDataDir } from '../src/platform/host/dataDir.ts';
import { runProgram } from '../src/platform/host/program.ts';
import { type Child, startChild } from './child.ts';
import { apiClient } from './client.ts';
import { removeDataDir } from './dataDir.ts';
import { until } from './product.ts';

const quick = { fsync: 'off', full_page_writes: 'off', shared_buffers: '64MB' };
const ignore = () => undefined;
const dirs: string[] = [];
let primary: EmbeddedPostgres;
let standby: EmbeddedPostgres;
let product: Child;
let productDir: string;

async function newDir(name: string): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), `innkeeper-${name}-`));
  dirs.push(dir);
  return dir;
}

const socketsOf = (url: string) => new URL(url.replace('@/', '@localhost/')).searchParams.get('host') ?? '';

async function asSuperuser(query: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ host: socketsOf(primary.url), user: 'postgres', database: 'innkeeper' });
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
  standby = await startEmbeddedPostgres({
    ...copy,
    settings: { ...quick, primary_conninfo: from },
    log: ignore,
  });
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
  expect([connections, processes, together, room]).toEqual([20, 1, 20, 47]);
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
