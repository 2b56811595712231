import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

const folder = join(import.meta.dirname, '../../../migrations');
// Any constant works; it only has to be the same in every process of this product.
const lockKey = 7_411_024;

interface Migration {
  name: string;
  text: string;
  checksum: string;
}

/**
 * Brings the database up to date with `migrations/`: plain SQL, numbered, forward only, each file in one
 * transaction. Two processes may call it at once: the second waits. Returns the names applied now.
 * Fails when a file that was already applied has changed since, or when the database is ahead of the code.
 */
export async function migrate(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [lockKey]);
    await client.query(
      'create table if not exists schema_migrations (name text primary key, checksum text not null, applied_at timestamptz not null default now())',
    );
    return await applyMissing(client, readMigrations());
  } finally {
    await client.end(); // the lock goes with the connection
  }
}

function readMigrations(): Migration[] {
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
  await client.query('begin');
  try {
    await client.query(migration.text);
    await client.query('insert into schema_migrations (name, checksum) values ($1, $2)', [
      migration.name,
      migration.checksum,
    ]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw new Error(`migrations/${migration.name}: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}
