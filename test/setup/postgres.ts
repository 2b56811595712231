import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded/index.ts';
import { prepareDataDir } from '../../src/platform/host/dataDir.ts';
import { withDatabase } from '../database.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A server to make databases on, the migrated one to make them from, and why there is none. */
    postgres: {
      url: string;
      applicationUrl: string;
      retentionUrl: string | null;
      template: string;
      problem: string | null;
    };
  }
}

/** Faster, and safe for data that is thrown away. */
const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  max_connections: '200',
  shared_buffers: '128MB',
  log_min_duration_statement: '-1',
  plan_cache_mode: 'force_generic_plan',
};

let undo: () => Promise<void> = async () => undefined;

/**
 * One PostgreSQL for the whole run: that of `DATABASE_URL`, whose role must be allowed to create databases,
 * or one of our own in a temporary directory. Migrates a template once; `testDatabase` clones it.
 */
export async function setup(project: TestProject): Promise<void> {
  const server = process.env.DATABASE_URL
    ? {
        url: process.env.DATABASE_URL,
        applicationUrl: process.env.DATABASE_URL,
        retentionUrl: null,
        stop: async () => undefined,
      }
    : await startTemporary();
  const template = `innkeeper_template_${randomBytes(4).toString('hex')}`;
  undo = async () => {
    await execute(server.url, `DROP DATABASE ${template} WITH (FORCE)`).catch(() => undefined);
    await server.stop();
  };
  const { url, applicationUrl, retentionUrl } = server;
  const problem = await buildTemplate(url, applicationUrl, retentionUrl, template);
  project.provide('postgres', { url, applicationUrl, retentionUrl, template, problem });
}

/** What is wrong with the migrations, for the tests that need them; the others run all the same. */
async function buildTemplate(
  serverUrl: string,
  applicationUrl: string,
  retentionUrl: string | null,
  template: string,
): Promise<string | null> {
  try {
    await execute(serverUrl, `CREATE DATABASE ${template}`);
    const { migrate } = await import('../../src/platform/database/migrate.ts');
    const { roleOf } = await import('../../src/platform/database/grants.ts');
    const granted =
      applicationUrl === serverUrl ? {} : { grantedTo: await roleOf(withDatabase(applicationUrl, template)) };
    const retention =
      retentionUrl === null ? {} : { retentionTo: await roleOf(withDatabase(retentionUrl, template)) };
    await migrate(withDatabase(serverUrl, template), { ...granted, ...retention });
    // What tests make beside the product's tables, such as what its triggers look at, is the product's to use.
    if (granted.grantedTo !== undefined) {
      const to = `TO ${granted.grantedTo}`;
      await execute(
        withDatabase(serverUrl, template),
        `ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES ${to}; ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES ${to}`,
      );
    }
    return null;
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    console.error(`The database for tests could not be built: ${problem}`);
    return problem;
  }
}

export async function teardown(): Promise<void> {
  await undo();
}

async function startTemporary() {
  for (const folder of [os.tmpdir(), memory]) await sweepAbandoned(folder);
  const dir = await fs.mkdtemp(path.join(await folderFor(), `innkeeper-test-${process.pid}-`));
  const place = await prepareDataDir(dir);
  const lines: string[] = [];
  const database = await startEmbeddedPostgres({ ...place, settings, log: (line) => lines.push(line) });
  return {
    url: database.url,
    applicationUrl: database.applicationUrl,
    retentionUrl: database.retentionUrl,
    stop: async () => {
      await database.stop();
      await fs.rm(dir, { recursive: true, force: true });
      await fs.rm(place.runDir, { recursive: true, force: true });
    },
  };
}

const memory = '/dev/shm';
/** What all databases of a run come to at most, and the machines that run beside it. */
const roomBytes = 8 * 2 ** 30;

/**
 * In memory where there is enough of it: each product of a test has a copy of the template, which is made in a twentieth of a
 * second there and took seconds on a disk that others wrote to.
 */
async function folderFor(): Promise<string> {
  const found = await fs.statfs(memory).catch(() => null);
  const freeBytes = found === null ? 0 : Math.min(found.bavail * found.bsize, os.freemem());
  return freeBytes >= roomBytes ? memory : os.tmpdir();
}

/** Directories of runs that were killed: their server went with them, their files did not. */
async function sweepAbandoned(folder: string): Promise<void> {
  for (const name of await fs.readdir(folder).catch(() => [])) {
    const pid = name.match(/^innkeeper-test-(\d+)-/)?.[1];
    if (pid === undefined) continue;
    const alive = await fs.stat(`/proc/${pid}`).catch(() => null);
    if (alive) continue;
    await fs.rm(path.join(folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
