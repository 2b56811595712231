/** Backup, verify and restore, as an operator calls them, on a database that is somebody else's (`DATABASE_URL`). */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCommand, UsageError } from '../src/commands/index.ts';
import { type Config, readConfig } from '../src/config.ts';
import { runProgram } from '../src/platform/host/program.ts';
import { type Child, startChild } from './child.ts';
import { apiClient, type Client } from './client.ts';
import { emptyDatabase, type TestDatabase, testDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';

const dirs: string[] = [];
function newDir(): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-backup-'));
  dirs.push(dir);
  return dir;
}

function configOf(database: TestDatabase, dir: string, env: Record<string, string> = {}): Config {
  return readConfig({ DATABASE_URL: database.url, DATA_DIR: dir, LOG_LEVEL: 'silent', ...env });
}

const start = (database: TestDatabase, dir: string) =>
  startChild(dir, { DATABASE_URL: database.url, HYPERVISOR: 'simulator' });

function customerOf(product: Child, demo: Child['demo']): Client {
  const { api_key: token, organization_id: organizationId } = demo.customer;
  return apiClient(`${product.url}/api`, { token, organizationId });
}

async function query<T extends pg.QueryResultRow>(url: string, text: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return (await client.query<T>(text).finally(() => client.end())).rows;
}

/** All there is in the database, as text. */
async function everything(url: string): Promise<Record<string, string>> {
  const names = await query<{ name: string }>(
    url,
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
  );
  const found: Record<string, string> = {};
  for (const { name } of names) {
    const [row] = await query<{ rows: string }>(
      url,
      `select coalesce(string_agg(t::text, chr(10) order by t::text), '') as rows from "${name}" t`,
    );
    found[name] = row?.rows ?? '';
  }
  return found;
}

/** A document of FILES_DIR. */
const document = 'files/invoices/2026-01/1.pdf';
function keep(dir: string, content: string): void {
  mkdirSync(path.join(dir, 'files/.unfinished'), { recursive: true });
  mkdirSync(path.join(dir, path.dirname(document)), { recursive: true });
  writeFileSync(path.join(dir, document), content);
}

/** A connection that stays, begun while a restore builds beside what is there. */
async function connectWhileLoading(url: string): Promise<pg.Client> {
  for (;;) {
    const guest = new pg.Client({ connectionString: url, application_name: 'monitor' });
    await guest.connect();
    const { rows } = await guest.query(`select from pg_namespace where nspname = 'innkeeper_restore'`);
    if (rows.length > 0) return guest;
    // Not there at its beginning, which looks for others.
    await guest.end();
    await pause(100);
  }
}

let source: TestDatabase;
let sourceDir: string;
let demo: Child['demo'];
/** A backup that was made while a product served. */
let file: string;
/** One that was made after its end, and what the database held then. */
let still: string;
let held: Record<string, string>;
let said: string;

beforeAll(async () => {
  source = await testDatabase();
  sourceDir = newDir();
  const product = await start(source, sourceDir);
  ({ demo } = product);
  keep(sourceDir, 'as it was issued');
  writeFileSync(path.join(sourceDir, 'files/.unfinished/half'), 'half');
  said = await runCommand(configOf(source, sourceDir), ['backup']);
  file = said.split(' ', 1)[0] ?? '';
  await product.end('SIGTERM');
  held = await everything(source.url);
  const to = path.join(newDir(), 'still');
  await runCommand(configOf(source, sourceDir), ['backup', '--to', to, '--quick']);
  still = path.join(to, readdirSync(to)[0] ?? '');
});

let target: TestDatabase;
let dir: string;
beforeEach(async () => {
  target = await emptyDatabase();
  dir = newDir();
});
afterEach(() => target.drop());
afterAll(async () => {
  await source.drop();
  for (const each of dirs) await removeDataDir(each);
});

describe('a backup', () => {
  it('is made while the product runs, is one file that nobody else reads, and says what is not in it', () => {
    expect(said).toContain('every row came back');
    expect(said).toContain("Machines' disks are not in it");
    expect(path.dirname(file)).toBe(path.join(sourceDir, 'backups'));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    expect(readdirSync(path.dirname(file))).toEqual([path.basename(file)]);
  });

  it('is refused into a folder that everybody can look into, and leaves nothing there', async () => {
    const open = newDir();
    chmodSync(open, 0o755);
    const command = runCommand(configOf(source, sourceDir), ['backup', '--to', open]);
    await expect(command).rejects.toThrow('chmod o-rwx');
    expect(readdirSync(open)).toEqual([]);
  });

  it('of a database that was never used says so', async () => {
    await expect(runCommand(configOf(target, dir), ['backup'])).rejects.toThrow('There is no Innkeeper in');
  });

  it('can be made without the key, and says that it cannot be used without', async () => {
    const to = path.join(newDir(), 'closed');
    const words = await runCommand(configOf(source, sourceDir), [
      'backup',
      '--to',
      to,
      '--without-key',
      '--quick',
    ]);
    expect(words).toContain('It does not hold the secret key');
    const made = path.join(to, readdirSync(to)[0] ?? '');
    expect((await runProgram(['tar', '--list', '--file', made])).stdout).not.toContain('secret.key');
    const restored = await runCommand(configOf(target, dir), ['restore', made]);
    expect(restored).toContain('The secret key is missing');
    expect(existsSync(path.join(dir, 'secret.key'))).toBe(false);
  }, 180_000);
});

describe('verify', () => {
  it('proves that a backup can be restored', async () => {
    expect(await runCommand(configOf(source, dir), ['verify', file])).toMatch(
      /is whole and can be restored: \d+ rows in \d+ tables/,
    );
    expect(readdirSync(dir).filter((name) => name !== '.lock')).toEqual([]);
  });

  it.each([
    [
      'cut short',
      (copy: string) => truncateSync(copy, Math.floor(statSync(copy).size / 2)),
      /damaged|cut short/,
    ],
    [
      'changed in its middle',
      (copy: string) => {
        const bytes = readFileSync(copy);
        const at = bytes.indexOf('tables/journal.gz') + 512 + 40;
        bytes[at] = (bytes[at] ?? 0) ^ 0xff;
        writeFileSync(copy, bytes);
      },
      'damaged: ',
    ],
    ['something else', (copy: string) => writeFileSync(copy, 'Dear diary'), 'no backup'],
  ])('names one that is %s, and so does restore', async (_, spoil, says) => {
    const copy = path.join(newDir(), 'copy.tar');
    copyFileSync(file, copy);
    spoil(copy);
    await expect(runCommand(configOf(source, dir), ['verify', copy])).rejects.toThrow(says);
    await expect(runCommand(configOf(target, dir), ['restore', copy])).rejects.toThrow(says);
    expect(await everything(target.url)).toEqual({});
    expect(readdirSync(dir).filter((name) => name !== '.lock')).toEqual([]);
  });
});

describe('a restore', () => {
  it('into an empty database and folder brings everything back, and the product goes on', async () => {
    const words = await runCommand(configOf(target, dir), ['restore', still]);
    expect(words).toContain('Restored as it was at');
    // Where it was, it is not any more.
    const { schema_migrations: _, restores, installation, ...came } = await everything(target.url);
    const { schema_migrations: __, restores: ___, installation: before, ...was } = held;
    expect(came).toEqual(was);
    expect(installation?.slice(0, 60)).toBe(before?.slice(0, 60));
    expect(restores).not.toBe('');
    expect(readFileSync(path.join(dir, 'secret.key'))).toEqual(
      readFileSync(path.join(sourceDir, 'secret.key')),
    );
    expect(statSync(path.join(dir, 'secret.key')).mode & 0o777).toBe(0o600);
    expect(readFileSync(path.join(dir, document), 'utf8')).toBe('as it was issued');
    expect(readdirSync(path.join(dir, 'files'))).toEqual(['invoices']);

    // What guards and forgets finds the tables where they are now.
    const paths = await query<{ name: string; paths: string[] }>(
      target.url,
      `select proname as name, proconfig as paths from pg_proc where pronamespace = 'public'::regnamespace and proconfig is not null`,
    );
    expect(paths.length).toBeGreaterThanOrEqual(7);
    for (const each of paths)
      expect(each.paths, each.name).toEqual(['search_path=pg_catalog, public, pg_temp']);
    await expect(query(target.url, `select forget_in_books(4242, 1)`)).rejects.toThrow(
      'organization 4242 is not closed',
    );

    const product = await start(target, dir);
    const services = await customerOf(product, demo).get('/dashboard/services');
    expect(services.status).toBe(200);
    await product.end('SIGTERM');
    // New ids follow those that came back.
    const [row] = await query<{ ok: boolean }>(
      target.url,
      `select nextval(pg_get_serial_sequence('journal', 'id')) > coalesce(max(id), 0) as ok from journal`,
    );
    expect(row?.ok).toBe(true);
  }, 180_000);

  it('over another installation is refused while it runs and while it does not; told so, what was there is kept aside', async () => {
    const product = await start(target, dir);
    const inUse = runCommand(configOf(target, dir), ['restore', file, '--replace']);
    await expect(inUse).rejects.toThrow('in use');
    await expect(inUse).rejects.toThrow(UsageError); // its program ends with 2
    const elsewhere = newDir();
    await expect(runCommand(configOf(target, elsewhere), ['restore', file, '--replace'])).rejects.toThrow(
      /connected to this database \(innkeeper/,
    );
    expect(readdirSync(elsewhere)).toEqual(['.lock']);
    expect((await apiClient(`${product.url}/api`, {}).get('/products')).status).toBe(200);
    await product.end('SIGTERM');

    keep(dir, 'another');
    const before = await everything(target.url);
    const key = readFileSync(path.join(dir, 'secret.key'));
    const refused = runCommand(configOf(target, dir), ['restore', file]);
    await expect(refused).rejects.toThrow('the database is not empty');
    await expect(refused).rejects.toThrow('secret.key is there already');
    expect(await everything(target.url)).toEqual(before);

    const words = await runCommand(configOf(target, dir), ['restore', file, '--replace']);
    const schema = /its schema (\w+)/.exec(words)?.[1] ?? '';
    const aside = await query<{ id: string }>(
      target.url,
      `select id::text from "${schema}".journal order by 1`,
    );
    expect(aside.length).toBeGreaterThan(0);
    expect(readFileSync(path.join(dir, `secret.key.${schema}`))).toEqual(key);
    expect(readFileSync(path.join(dir, `${document}.${schema}`), 'utf8')).toBe('another');
    expect(readFileSync(path.join(dir, document), 'utf8')).toBe('as it was issued');
    expect((await everything(target.url)).users).toBe(held.users);
    // And the next backup is of what is in use alone.
    const next = await runCommand(configOf(target, dir), ['backup', '--quick']);
    expect(next).toContain(`in ${Object.keys(held).length} tables`);
    const { stdout } = await runProgram(['tar', '--list', '--file', next.split(' ', 1)[0] ?? '']);
    expect(stdout).toContain(`${document}\n`);
    expect(stdout).not.toContain(`${document}.${schema}`);

    const kept = await everything(target.url);
    const told = await runCommand(configOf(target, dir), ['drop-replaced']);
    expect(told).toMatch(new RegExp(`the schema ${schema} \\(\\d+\\.\\d MiB\\)`));
    expect(told).toContain(`secret.key.${schema}\n`);
    expect(told).toContain('Nothing was deleted');
    expect(existsSync(path.join(dir, `secret.key.${schema}`))).toBe(true);
    await runCommand(configOf(target, dir), ['drop-replaced', '--yes']);
    expect(await everything(target.url)).toEqual(kept);
    expect(await query(target.url, `select 1 from pg_namespace where nspname = '${schema}'`)).toEqual([]);
    const left = readdirSync(dir, { recursive: true, encoding: 'utf8' });
    expect(left.filter((name) => name.includes('before_restore'))).toEqual([]);
    expect(readFileSync(path.join(dir, 'secret.key'))).not.toEqual(key);
    expect(await runCommand(configOf(target, dir), ['drop-replaced'])).toBe('Nothing is put aside.');
  }, 180_000);

  it('into a database that holds nothing but what others put there says first what is in its way, or puts it aside', async () => {
    await query(target.url, 'create extension pg_trgm');
    const refused = runCommand(configOf(target, dir), ['restore', still]);
    await expect(refused).rejects.toThrow(/holds the extension pg_trgm.*create schema extensions/);
    expect(readdirSync(dir).filter((name) => name !== '.lock')).toEqual([]);
    await query(
      target.url,
      'drop extension pg_trgm; create schema extensions; create extension pg_trgm schema extensions',
    );
    expect(await runCommand(configOf(target, dir), ['restore', still])).not.toContain('before_restore');
    expect(await query(target.url, `select extensions.similarity('word', 'word') as alike`)).toEqual([
      { alike: 1 },
    ]);
    expect((await everything(target.url)).users).toBe(held.users);

    const viewed = await emptyDatabase();
    await query(viewed.url, `create view public.seen as select 1 as one`);
    const words = await runCommand(configOf(viewed, newDir()), ['restore', still]);
    const schema = /its schema (\w+)/.exec(words)?.[1] ?? '';
    expect(await query(viewed.url, `select one from "${schema}".seen`)).toEqual([{ one: 1 }]);
    expect((await everything(viewed.url)).users).toBe(held.users);
    await viewed.drop();
  }, 180_000);

  it('that cannot take its place leaves every file as it was; one cut off among its files is finished by the same command', async () => {
    keep(dir, 'another');
    writeFileSync(path.join(dir, 'secret.key'), readFileSync(path.join(sourceDir, 'secret.key')));
    await query(target.url, 'create table public.theirs (id int)');
    // Somebody connects while rows come in.
    const late = runCommand(configOf(target, dir), ['restore', still, '--replace']);
    const failed = expect(late).rejects.toThrow(/monitor/);
    const guest = await connectWhileLoading(target.url);
    await failed;
    await guest.end();
    expect(readFileSync(path.join(dir, document), 'utf8')).toBe('another');
    expect(Object.keys(await everything(target.url))).toEqual(['theirs']);

    // There is something where the document is to be written.
    const inTheWay = path.join(dir, `${document}.new`);
    mkdirSync(inTheWay);
    const cut = runCommand(configOf(target, dir), ['restore', still, '--replace']);
    await expect(cut).rejects.toThrow('Run the same command again');
    await expect(start(target, dir)).rejects.toThrow('was cut off before all of its files were in place');
    const restored = (await everything(target.url)).restores;
    rmdirSync(inTheWay);

    expect(await runCommand(configOf(target, dir), ['restore', still, '--replace'])).toContain(
      'Restored as it was at',
    );
    expect((await everything(target.url)).restores).toBe(restored);
    expect(readFileSync(path.join(dir, document), 'utf8')).toBe('as it was issued');
    const product = await start(target, dir);
    expect((await customerOf(product, demo).get('/dashboard/services')).status).toBe(200);
    await product.end('SIGTERM');
  }, 240_000);

  it('with another SECRET_KEY than its own is refused', async () => {
    const wrong = configOf(target, dir, { SECRET_KEY: Buffer.alloc(32, 7).toString('base64') });
    await expect(runCommand(wrong, ['restore', file])).rejects.toThrow(
      'the secret key in SECRET_KEY is not the one',
    );
    expect(await everything(target.url)).toEqual({});
  });

  it.each([
    [['restore']],
    [['restore', 'a', 'b']],
    [['verify', '--all', 'a']],
    [['restore', '/nowhere/x.tar']],
  ])('%j is refused with how to write it', async (args) => {
    await expect(runCommand(configOf(target, dir), args)).rejects.toThrow(UsageError);
  });
});
