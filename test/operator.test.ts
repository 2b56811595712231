/** What whoever runs the product meets at the console: settings, keys, locks, commands, the log. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCommand, UsageError } from '../src/commands/index.ts';
import { readConfig } from '../src/config.ts';
import { createSeal, readSecretKey } from '../src/platform/seal.ts';
import { type Child, productArgv, startChild } from './child.ts';
import { apiClient } from './client.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';
import { mailServer } from './smtp.ts';
import { contents, sql } from './sql.ts';

// Each start is a process of its own, and some tests have several, one after another.
vi.setConfig({ testTimeout: 180_000 });

let database: TestDatabase;
const dirs: string[] = [];
const children: Child[] = [];

beforeEach(async () => {
  database = await testDatabase();
});
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.end('SIGTERM')));
  await database.drop();
  for (const dir of dirs.splice(0)) await removeDataDir(dir);
});

const query = (text: string, ...values: unknown[]) => sql({ databaseUrl: database.url }, text, ...values);

function newDir(): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-operator-'));
  dirs.push(dir);
  return dir;
}

const environment = (dir: string, env: Record<string, string>) => ({
  DATABASE_URL: database.url,
  HYPERVISOR: 'simulator',
  DATA_DIR: dir,
  ...env,
});

async function start(dir: string, env: Record<string, string> = {}): Promise<Child> {
  const child = await startChild(dir, environment(dir, env));
  children.push(child);
  return child;
}

/** Runs the product's program to its end: a command, or a start that is refused. */
async function run(dir: string, args: string[], env: Record<string, string> = {}) {
  const options = {
    env: { ...process.env, PORT: '0', HOST: '127.0.0.1', DASHBOARD: 'off', ...environment(dir, env) },
    timeout: 60_000,
  };
  return promisify(execFile)(process.execPath, [...productArgv, ...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
}

describe('the secret key', () => {
  it('of another installation, or a missing one, is refused and nothing is made', async () => {
    const dir = newDir();
    await (await start(dir)).end('SIGTERM');
    const other = newDir();
    const missing = await run(other, []);
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Put the key of your backup back'),
    });
    expect(existsSync(path.join(other, 'secret.key'))).toBe(false);
    const wrong = await run(dir, [], { SECRET_KEY: Buffer.alloc(32, 7).toString('base64') });
    expect(wrong.stderr).toContain('The key in SECRET_KEY is not the one that this database was filled with');
    const right = readFileSync(path.join(dir, 'secret.key')).toString('base64');
    await start(other, { SECRET_KEY: right, NODE_NAME: 'node-2' });
  });

  it('that is lost for good can be forgotten by a command, and the next start makes another', async () => {
    const dir = newDir();
    const product = await start(dir);
    expect(await run(dir, ['forget-key'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('The product is running (innkeeper'),
    });
    expect(await query('select 1 from installation where key_fingerprint is not null')).toHaveLength(1);
    await product.end('SIGTERM');
    renameSync(path.join(dir, 'secret.key'), path.join(dir, 'lost'));
    expect((await run(dir, [])).code).toBe(1);
    expect(await run(dir, ['forget-key'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('next start'),
    });
    await start(dir);
    expect(readFileSync(path.join(dir, 'secret.key'))).not.toEqual(readFileSync(path.join(dir, 'lost')));
  });
});

describe('the secret key of a database from before there was a fingerprint', () => {
  /** The same installation as if an older version had filled it, with an order's password sealed in it. */
  async function fromBefore(dir: string): Promise<void> {
    await start(dir);
    const seal = createSeal(readSecretKey(dir, null));
    await children.splice(0)[0]?.end('SIGTERM');
    await query('delete from installation');
    await query(
      'insert into service_secrets (service_id, organization_id, sealed) values (1, 1, $1), (2, 1, $2)',
      seal.close('s3cret', 'service 1'),
      Buffer.alloc(40), // of a key that was lost even before
    );
  }

  it('is proved by what is sealed there: another one is refused, and a missing one is not made anew', async () => {
    const dir = newDir();
    await fromBefore(dir);
    const wrong = await run(dir, [], { SECRET_KEY: Buffer.alloc(32, 7).toString('base64') });
    expect(wrong).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'The key in SECRET_KEY is not the one that this database was filled with',
      ),
    });
    const other = newDir();
    expect((await run(other, [])).stderr).toContain('This database has a secret key');
    expect(existsSync(path.join(other, 'secret.key'))).toBe(false);
    expect(await query('select 1 from installation')).toEqual([]);
    await start(dir);
    expect(await query('select 1 from installation')).toHaveLength(1);
  });

  it('can be forgotten on purpose, whatever is sealed there', async () => {
    const dir = newDir();
    await fromBefore(dir);
    renameSync(path.join(dir, 'secret.key'), path.join(dir, 'lost'));
    expect((await run(dir, ['forget-key'])).code).toBe(0);
    await start(dir);
    expect(readFileSync(path.join(dir, 'secret.key'))).not.toEqual(readFileSync(path.join(dir, 'lost')));
  });
});

describe('a host with the NODE_NAME of another one', () => {
  it('is refused at its start and changes nothing, and its DATA_DIR can be moved', async () => {
    const dir = newDir();
    await (await start(dir)).end('SIGTERM');
    const secret = readFileSync(path.join(dir, 'secret.key')).toString('base64');
    const pools = () => query('select * from address_pools order by id');
    const before = await pools();
    const other = newDir();
    const refused = await run(other, [], { SECRET_KEY: secret, LOCATION: 'LON' });
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Give this host a NODE_NAME of its own'),
    });
    expect(await pools()).toEqual(before);
    await (await start(other, { SECRET_KEY: secret, NODE_NAME: 'node-2' })).end('SIGTERM');
    const moved = `${dir}-moved`;
    dirs.push(moved);
    renameSync(dir, moved);
    await start(moved);
  });

  it('takes its place after a command said so, once the other one is silent', async () => {
    const dir = newDir();
    await (await start(dir)).end('SIGTERM');
    const secret = { SECRET_KEY: readFileSync(path.join(dir, 'secret.key')).toString('base64') };
    const other = newDir();
    const config = readConfig({ DATABASE_URL: database.url, DATA_DIR: other, ...secret });
    const replace = (...name: string[]) => runCommand(config, ['replace-node', ...name]);
    await expect(replace('--name', 'node-1')).rejects.toThrow('Stop it, and try again');
    await expect(replace('--name', 'node-7')).rejects.toThrow('There is no node called node-7');
    await expect(replace()).rejects.toThrow('--name takes');
    await query(`update nodes set seen_at = now() - interval '5 minutes'`);
    expect(await replace('--name', 'node-1')).toContain('The next host that starts with NODE_NAME=node-1');
    await start(other, secret);
    expect((await run(dir, [])).stderr).toContain('another host');
  });
});

it('two workers on one DATA_DIR are refused, and an API beside a worker is not', async () => {
  const dir = newDir();
  const first = await start(dir, { ROLE: 'all' });
  const second = await run(dir, [], { ROLE: 'worker' });
  expect(second).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`in use by another Innkeeper (process ${first.pid})`),
  });
  await start(dir, { ROLE: 'api' });
});

describe('the first administrator', () => {
  it('is made by a command while the product runs, and its key opens what staff sees', async () => {
    const dir = newDir();
    const product = await start(dir);
    const made = await run(dir, ['add-staff', '--email', 'kim@example.com', '--name', 'Kim de Vries']);
    expect(made.code).toBe(0);
    const key = /ink_\S+/.exec(made.stdout)?.[0] ?? '';
    const staff = apiClient(`${product.url}/api`, { token: key });
    const token = /\?token=(\S+)/.exec(made.stdout)?.[1];
    const set = { token, password: 'nine herons fold linen' };
    expect((await staff.post('/auth/password/reset', set)).body.data).toEqual({ password_set: true });
    expect((await staff.get('/staff/nodes')).status).toBe(200);
    const { user } = (await staff.get('/dashboard/account')).body.data;
    expect(user).toMatchObject({
      email: 'kim@example.com',
      first_name: 'Kim',
      last_name: 'de Vries',
    });
    const another = await run(dir, ['add-key', '--email', 'KIM@example.com']);
    const second = apiClient(`${product.url}/api`, { token: /ink_\S+/.exec(another.stdout)?.[0] });
    expect((await second.get(`/staff/keys?user_id=${user.id}`)).body.data.total).toBe(2);
    const again = await run(dir, ['add-staff', '--email', 'KIM@example.com', '--name', 'Kim']);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('already') });
  });

  it('is made as soon as the first start has filled its database, by a command that was faster', async () => {
    const dir = newDir();
    const own = { DATABASE_URL: '' };
    const made = run(dir, ['add-staff', '--email', 'kim@example.com', '--name', 'Kim'], own);
    await start(dir, own);
    expect(await made).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Kim is administrator now'),
    });
  });

  it.each([
    ['add-staff', '--email', 'kim@example.com', '--name', 'Kim'],
    ['add-key', '--email', 'kim@example.com'],
    ['replace-node', '--name', 'node-1'],
    ['forget-key'],
    ['backup'],
    ['drop-replaced'],
  ])('is not made, nor anything else done, where the product was never started: %s', async (...args) => {
    const before = await contents({ databaseUrl: database.url });
    const dir = path.join(newDir(), 'wrong');
    for (const [url, says] of [
      ['', `There is no Innkeeper in ${dir}. Set DATA_DIR`],
      [database.url, 'There is no Innkeeper in the database that DATABASE_URL names. Set DATABASE_URL'],
    ] as const) {
      const refused = runCommand(readConfig({ DATABASE_URL: url, DATA_DIR: dir }), args);
      await expect(refused).rejects.toThrow(says);
      await expect(refused).rejects.toThrow(UsageError);
      expect(existsSync(dir)).toBe(false);
    }
    expect(await contents({ databaseUrl: database.url })).toEqual(before);
  });

  it.each([
    [['add-staff'], '--email takes'],
    [['add-staff', '--email', 'kim@example.com'], '--name takes'],
    [['add-staff', '--email', 'a@b.c', '--name', 'K', '--role', 'king'], 'administrator, billing'],
    [['add-staff', '--mail', 'a@b.c'], 'innkeeper add-staff --email'],
    [['add-key', '--email', 'nobody@example.com'], 'Nobody of staff'],
    [['add-key'], '--email takes'],
    [['dance'], 'Commands:'],
  ])('%j is refused with how to write it', async (args, says) => {
    const config = readConfig({ DATABASE_URL: database.url, DATA_DIR: newDir() });
    await query('insert into installation (key_fingerprint) values (null)'); // the product was started there
    await expect(runCommand(config, args)).rejects.toThrow(says);
    await expect(runCommand(config, args)).rejects.toThrow(UsageError);
  });
});

describe('a test mail', () => {
  it('goes by the mail server of the settings, which says that it has it; or it is said why not', async () => {
    const mails = await mailServer();
    try {
      const config = readConfig({ SMTP_URL: mails.url, MAIL_FROM: 'Example Hosting <billing@example.com>' });
      const send = (...to: string[]) => runCommand(config, ['send-test-mail', ...to]);
      expect(await send('--to', 'sam@example.com')).toMatch(
        /has taken a mail from Example Hosting .* said: 250/,
      );
      expect(mails.mails).toMatchObject([{ from: 'billing@example.com', to: ['sam@example.com'] }]);
      mails.refuseWith(554);
      await expect(send('--to', 'sam@example.com')).rejects.toThrow(/did not take a mail .*554/);
      await expect(send('--to', 'sam@example.com')).rejects.toThrow(UsageError);
      await expect(send('--to', 'sam')).rejects.toThrow('--to takes');
      await expect(runCommand(readConfig({}), ['send-test-mail', '--to', 'sam@example.com'])).rejects.toThrow(
        'no mail server is set',
      );
    } finally {
      await mails.close();
    }
  });
});

it.each([
  [['add-staff', '--help'], 'innkeeper add-staff --email'],
  [['restore', '-h'], 'innkeeper restore FILE'],
  [['help', 'backup'], 'innkeeper backup [--to FOLDER]'],
])('%j says how the command is written, and does nothing', async (args, says) => {
  const config = readConfig({ DATABASE_URL: database.url, DATA_DIR: newDir() });
  expect(await runCommand(config, args)).toContain(says);
});

describe('the log', () => {
  it('says nothing when the product is stopped cleanly', async () => {
    const roles = { DATABASE_URL: database.applicationUrl, DATABASE_OWNER_URL: database.url };
    const product = await start(newDir(), { LOG_LEVEL: 'warn', ...roles });
    await product.end('SIGTERM');
    expect(product.output()).not.toMatch(/"level"|warn|error/i);
    expect(product.output()).toContain('Stopping; machines keep running.');
  });

  it('is text for people where that is asked for', async () => {
    const product = await start(newDir(), { LOG_FORMAT: 'text' });
    await apiClient(`${product.url}/api`, {}).get('/products');
    await product.end('SIGTERM');
    expect(product.output()).toMatch(
      /\[\d\d:\d\d:\d\d\] INFO: request \{.*"route":"\/api\/products".*"status":200/,
    );
    expect(product.output()).not.toContain('{"level"');
  });
});
