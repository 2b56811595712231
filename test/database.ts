import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export interface TestDatabase {
  /** Connection string of a migrated, otherwise empty database that nobody else uses. */
  url: string;
  /** The same as the role that the product works as; the owner's where the server has no other. */
  applicationUrl: string;
  /** The same as the role by which entries of the journal leave; null where the server has none. */
  retentionUrl: string | null;
  /** Removes it, cutting off whoever is still connected. */
  drop(): Promise<void>;
}

/**
 * A database of the caller's own, cloned from the migrated template; once per test file, in `beforeAll`, as
 * it takes a twentieth of a second and more.
 */
export async function testDatabase(): Promise<TestDatabase> {
  // Not at the top: the set-up of the run imports this file too, and there is no test to inject into.
  const { inject } = await import('vitest');
  const { url, applicationUrl, retentionUrl, template, problem } = inject('postgres');
  if (problem !== null) throw new Error(`There is no database for tests: ${problem}`);
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Copying files takes a quarter of the time that copying through the log does, for databases this small.
  await execute(url, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  return open({ url, applicationUrl, retentionUrl }, name);
}

type Urls = Pick<TestDatabase, 'url' | 'applicationUrl' | 'retentionUrl'>;

function open({ url, applicationUrl, retentionUrl }: Urls, name: string): TestDatabase {
  return {
    url: withDatabase(url, name),
    applicationUrl: withDatabase(applicationUrl, name),
    retentionUrl: retentionUrl === null ? null : withDatabase(retentionUrl, name),
    drop: () => dropDatabase(url, name),
  };
}

/** A database with nothing in it, as a restore wants it. */
export async function emptyDatabase(): Promise<TestDatabase> {
  const { inject } = await import('vitest');
  const { url, applicationUrl, retentionUrl } = inject('postgres');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await execute(url, `CREATE DATABASE ${name}`);
  return open({ url, applicationUrl, retentionUrl }, name);
}

/** The same server, another database. (Not `URL`: it refuses an empty host, which means a unix socket.) */
export function withDatabase(url: string, name: string): string {
  return url.replace(/^(\w+:\/\/[^/?]*)(\/[^?]*)?/, `$1/${name}`);
}

const insufficientPrivilege = '42501';

/** The server's own housekeeping may be at work in it, which the owner cannot end: it is done in a moment. */
async function dropDatabase(url: string, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await execute(url, `DROP DATABASE ${name} WITH (FORCE)`);
    } catch (error) {
      if ((error as { code?: string }).code !== insufficientPrivilege || attempt >= 60) throw error;
      await sleep(250);
    }
  }
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
