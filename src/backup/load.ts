import pg from 'pg';
import { migrate } from '../platform/index.ts';
import { requireSame, tableIn } from './archive.ts';
import { BackupError } from './failure.ts';
import type { Manifest } from './manifest.ts';
import { withSession } from './session.ts';
import { copyIn, listTables, measure } from './tables.ts';

/**
 * Makes the schema `schema` of the database at `url` hold what an unpacked backup has, and nothing else does:
 * the migrations that the backup's database had make the tables, all rows come in, every foreign key is checked
 * again, and every table is read back and compared. At last the migrations that came since bring it up to date.
 */
export async function loadBackup(
  url: string,
  schema: string,
  folder: string,
  manifest: Manifest,
): Promise<void> {
  const name = pg.escapeIdentifier(schema);
  await withSession(url, schema, async (client) => {
    await client.query(`drop schema if exists ${name} cascade`);
    await client.query(`create schema ${name}`);
  });
  await migrate(url, { schema, only: Object.keys(manifest.migrations) }).catch((error: Error) => {
    throw new BackupError(`The tables of the backup cannot be made: ${error.message}`, { cause: error });
  });
  await withSession(url, schema, async (client) => {
    await requireSameMigrations(client, manifest);
    await requireSameTables(client, manifest);
    await client.query('begin');
    const links = await takeForeignKeys(client);
    for (const table of manifest.tables) {
      // What guards a running product, such as a journal that only grows, is no business of rows that were there.
      await client.query(`alter table ${pg.escapeIdentifier(table.name)} disable trigger user`);
    }
    const all = manifest.tables.map(({ name }) => pg.escapeIdentifier(name)).join(', ');
    await client.query(`truncate ${all}`);
    for (const table of manifest.tables) await copyIn(client, table, tableIn(folder, table.name));
    for (const sequence of manifest.sequences) {
      await client.query('select setval($1::regclass, $2::bigint, $3)', [
        pg.escapeIdentifier(sequence.name),
        sequence.lastValue,
        sequence.isCalled,
      ]);
    }
    for (const { table, name, definition } of links) {
      await client.query(`alter table ${table} add constraint ${pg.escapeIdentifier(name)} ${definition}`);
    }
    for (const table of manifest.tables) {
      await client.query(`alter table ${pg.escapeIdentifier(table.name)} enable trigger user`);
      requireSame(
        table,
        await measure(client, table),
        'What came into the database is not what the backup has',
      );
    }
    await client.query('commit');
    await client.query(manifest.tables.map((each) => `analyze ${pg.escapeIdentifier(each.name)}`).join('; '));
  });
  await migrate(url, { schema });
}

interface ForeignKey {
  table: string;
  name: string;
  definition: string;
}

/** Takes foreign keys away while rows come in, table by table; made anew, each is checked for every row. */
async function takeForeignKeys(client: pg.Client): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace order by conrelid, conname`,
  );
  for (const { table, name } of rows)
    await client.query(`alter table ${table} drop constraint ${pg.escapeIdentifier(name)}`);
  return rows;
}

async function requireSameMigrations(client: pg.Client, manifest: Manifest): Promise<void> {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from schema_migrations',
  );
  const ours = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  for (const [name, checksum] of Object.entries(manifest.migrations)) {
    if (ours.get(name) === checksum) continue;
    throw new BackupError(
      ours.has(name)
        ? `The backup's database was made by another migrations/${name} than this version has. Restore it with Innkeeper ${manifest.innkeeper}.`
        : `The backup has ${name}, which this version does not know. Restore it with Innkeeper ${manifest.innkeeper} or newer.`,
    );
  }
}

async function requireSameTables(client: pg.Client, manifest: Manifest): Promise<void> {
  const shape = (tables: { name: string; columns: string[] }[]) =>
    tables.map(({ name, columns }) => `${name} (${columns.toSorted().join(', ')})`).toSorted();
  const [ours, theirs] = [shape(await listTables(client)), shape(manifest.tables)];
  const odd = theirs.find((each) => !ours.includes(each)) ?? ours.find((each) => !theirs.includes(each));
  if (odd === undefined) return;
  throw new BackupError(
    `The backup's database and the tables that its migrations make differ: ${odd}. Somebody changed tables by hand.`,
  );
}
