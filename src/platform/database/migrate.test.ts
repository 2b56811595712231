import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/database.ts';
import { migrate } from './migrate.ts';

let database: TestDatabase;
let client: pg.Client;
let folder = '';

beforeEach(async () => {
  database = await testDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('drop table schema_migrations');
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'innkeeper-migrations-'));
  await write(
    '0001_notes.sql',
    'create table notes (id bigint, text text);\ninsert into notes values (1, null);\n',
  );
});

afterEach(async () => {
  await client.end();
  await database.drop();
  await fs.rm(folder, { recursive: true });
});

const write = (name: string, text: string) => fs.writeFile(path.join(folder, name), text);

async function indexes(): Promise<{ name: string; valid: boolean }[]> {
  const { rows } = await client.query(
    `select c.relname as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = 'notes'::regclass`,
  );
  return rows;
}

const concurrently = `-- outside a transaction
drop index concurrently if exists notes_text;
create unique index concurrently notes_text on notes ((1 / id));
`;

it('what cannot run in a transaction runs outside of one, when its file says so', async () => {
  await write('0002_index.sql', concurrently.replace('-- outside a transaction\n', ''));
  await expect(migrate(database.url, { folder })).rejects.toThrow(/0002_index.sql: .*transaction/);
  await write('0002_index.sql', concurrently);
  expect(await migrate(database.url, { folder })).toEqual(['0002_index.sql']);
  expect(await indexes()).toEqual([{ name: 'notes_text', valid: true }]);
  expect(await migrate(database.url, { folder })).toEqual([]);
});

it('one that failed halfway outside a transaction runs again from its first statement', async () => {
  await migrate(database.url, { folder });
  await client.query('insert into notes values (0, null)');
  await write('0002_index.sql', concurrently);
  await expect(migrate(database.url, { folder })).rejects.toThrow('division by zero');
  expect(await indexes()).toEqual([{ name: 'notes_text', valid: false }]); // what the failure left
  await client.query('delete from notes where id = 0');
  expect(await migrate(database.url, { folder })).toEqual(['0002_index.sql']);
  expect(await indexes()).toEqual([{ name: 'notes_text', valid: true }]);
});

it('two processes that start together both end, and each file is applied once', async () => {
  await write('0002_index.sql', concurrently);
  const applied = await Promise.all([1, 2, 3].map(() => migrate(database.url, { folder })));
  expect(applied.flat().sort()).toEqual(['0001_notes.sql', '0002_index.sql']);
});

it('a file inside a transaction leaves nothing when it fails', async () => {
  await write('0002_half.sql', 'create table half (id bigint);\nselect 1 / 0;\n');
  await expect(migrate(database.url, { folder })).rejects.toThrow('0002_half.sql: division by zero');
  const { rows } = await client.query(`select to_regclass('half') as half`);
  expect(rows).toEqual([{ half: null }]);
});

it('goes on where a process that hangs in the middle has begun', { timeout: 90_000 }, async () => {
  await write('0002_slow.sql', `select pg_sleep(2);\ninsert into notes values (2, 'slow');\n`);
  const module = JSON.stringify(path.join(import.meta.dirname, 'migrate.ts'));
  const other = `import { migrate } from ${module}; await migrate(process.argv[1], { folder: process.argv[2] });`;
  const argv = ['--input-type=module', '-e', other, database.url, folder];
  const child = spawn(process.execPath, argv, { stdio: 'ignore' });
  try {
    const sleeping = `select from pg_stat_activity where datname = current_database() and query like 'select pg_sleep%'`;
    await expect.poll(async () => (await client.query(sleeping)).rowCount, { timeout: 10_000 }).toBe(1);
    // Its kernel goes on to answer for it.
    child.kill('SIGSTOP');
    expect(await migrate(database.url, { folder })).toEqual(['0002_slow.sql']);
    expect((await client.query('select from notes')).rowCount).toBe(2);
  } finally {
    child.kill('SIGKILL');
  }
});
