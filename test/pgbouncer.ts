import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openCable } from './cable.ts';
import { until } from './product.ts';
import { freePort } from './valkey.ts';

const program = '/usr/sbin/pgbouncer';

/** Why there is none on this host; null when there is. */
export const withoutPgbouncer = existsSync(program) ? null : 'pgbouncer is not installed';

/** A real PgBouncer before a database. */
export interface Pgbouncer {
  /** The same database, through it. */
  through(url: string): string;
  output(): string;
  close(): Promise<void>;
}

/**
 * Starts one for the server of `urls`. It refuses to run as root, as which alone the server of the tests lets somebody in: so it
 * runs as somebody else, and reaches that server over a cable of ours.
 */
export async function startPgbouncer(
  mode: 'session' | 'transaction' | 'statement',
  urls: readonly string[],
  settings: Record<string, string> = {},
): Promise<Pgbouncer> {
  const cable = await openCable();
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), 'innkeeper-pgbouncer-'));
  const servers = urls.map((url) => new URL(cable.through(url)));
  const users = new Set(servers.map(({ username }) => username));
  writeFileSync(join(dir, 'users.txt'), [...users].map((user) => `"${user}" ""\n`).join(''));
  const configured = {
    ...{ listen_addr: '127.0.0.1', listen_port: port, unix_socket_dir: '' },
    ...{ auth_type: 'trust', auth_file: join(dir, 'users.txt'), pool_mode: mode },
    ...settings,
  };
  const lines = Object.entries(configured).map(([name, value]) => `${name} = ${value}\n`);
  const file = join(dir, 'pgbouncer.ini');
  const database = servers[0] as URL;
  writeFileSync(
    file,
    `[databases]\n* = host=127.0.0.1 port=${database.port}\n[pgbouncer]\n${lines.join('')}`,
  );
  chmodSync(dir, 0o755);
  const isRoot = process.getuid?.() === 0;
  const nobody = 65_534;
  const child = spawn(program, [file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(isRoot && { uid: nobody, gid: nobody }),
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => {
      printed += bytes.toString();
    });
  const through = (url: string) => {
    const parsed = new URL(cable.through(url));
    parsed.port = String(port);
    return parsed.href;
  };
  const end = async () => {
    await ended(child);
    await cable.close();
    rmSync(dir, { recursive: true, force: true });
  };
  await until(
    () => answers(through(urls[0] as string)),
    (isThere) => isThere,
    15_000,
  ).catch(async () => {
    await end();
    throw new Error(`PgBouncer does not answer:\n${printed}`);
  });
  return { through, output: () => printed, close: end };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  const isThere = await client
    .connect()
    .then(() => client.query('select 1'))
    .then(
      () => true,
      () => false,
    );
  await client.end().catch(() => undefined);
  return isThere;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}
