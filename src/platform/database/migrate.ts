import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { endsWhenSilent } from './alone.ts';
import { grantRetention, grantTo } from './grants.ts';

const ourFolder = join(import.meta.dirname, '../../../migrations');
// Any constant works; it only has to be the same in every process of this product.
const lockKey = 7_411_024;
const lockPollMs = 100;
const outsideMark = '-- outside a transaction\n';

export interface MigrateOptions {
  folder?: string;
  schema?: string;
  only?: readonly string[];
  grantedTo?: string;
  retentionTo?: string;
}

interface Migration {
  name: string;
  text: string;
  checksum: string;
}

/**
 * Brings the database up to date with `migrations/`: plain SQL, numbered, forward only, each file in one
 * transaction. Two processes may call it at once: the second waits, and goes on where the first dies or hangs. Returns the names applied now.
 * Fails when a file that was already applied has changed since, or when the database is ahead of the code.
 *
 * A file whose first line is `-- outside a transaction` is for what PostgreSQL refuses in one, such as
 * `create index concurrently`. Its statements run one by one, each ending with a semicolon at the end of a line,
 * and after a failure all of them run again: it says `drop index concurrently if exists` before it creates.
 *
 * `schema` takes another schema than the usual one; `only` names the migrations to apply, as an older version had them.
 * `grantedTo` is the application's role, which then may work with the tables and change none of them; `retentionTo` is the role
 * by which entries of the journal leave.
 */
export async function migrate(
  url: string,
  { folder = ourFolder, schema, only, grantedTo, retentionTo }: MigrateOptions = {},
): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, keepAlive: true });
  await client.connect();
  try {
    await client.query(endsWhenSilent(20));
    if (schema !== undefined) await client.query(`set search_path = ${pg.escapeIdentifier(schema)}`);
    await takeLock(client);
    await client.query(
      'create table if not exists schema_migrations (name text primary key, checksum text not null, applied_at timestamptz not null default now())',
    );
    const wanted = readMigrations(folder).filter(({ name }) => only?.includes(name) ?? true);
    const applied = await applyMissing(client, wanted);
    if (grantedTo !== undefined) await grantTo(client, grantedTo);
    if (retentionTo !== undefined) await grantRetention(client, retentionTo);
    return applied;
  } finally {
    await client.end(); // the lock goes with the connection
  }
}

/** Asks again and again instead of waiting in the server: `create index concurrently` waits for whoever waits there. */
async function takeLock(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [
      lockKey,
    ]);
    if (rows[0]?.mine) return;
    await sleep(lockPollMs);
  }
}

function readMigrations(folder: string): Migration[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') };
    });
}

async function applyMissing(client: pg.Client, migrations: Migration[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from schema_migrations order by name',
  );
  const applied = new Map(rows.map((row) => [row.name, row.checksum]));
  const ahead = rows.find((row) => !migrations.some((migration) => migration.name === row.name));
  if (ahead) {
    throw new Error(
      `The database has ${ahead.name}, which this version does not know: start a newer version.`,
    );
  }
  const done: string[] = [];
  for (const migration of migrations) {
    const checksum = applied.get(migration.name);
    if (checksum === migration.checksum) continue;
    if (checksum !== undefined) {
      throw new Error(
        `migrations/${migration.name} was changed after it was applied; add a new file instead.`,
      );
    }
    await applyOne(client, migration);
    done.push(migration.name);
  }
  return done;
}

async function applyOne(client: pg.Client, migration: Migration): Promise<void> {
  try {
    if (migration.text.startsWith(outsideMark)) await applyOutside(client, migration);
    else await applyInside(client, migration);
  } catch (error) {
    throw new Error(`migrations/${migration.name}: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}

async function applyInside(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('begin');
  try {
    await client.query(migration.text);
    await remember(client, migration);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

// Sent one by one: several in one message are one transaction to PostgreSQL.
async function applyOutside(client: pg.Client, migration: Migration): Promise<void> {
  for (const text of migration.text.split(/;[ \t]*\n/)) if (text.trim() !== '') await client.query(text);
  await remember(client, migration);
}

async function remember(client: pg.Client, { name, checksum }: Migration): Promise<void> {
  await client.query('insert into schema_migrations (name, checksum) values ($1, $2)', [name, checksum]);
}
