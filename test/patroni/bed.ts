import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { asServiceUser, databaseUserName, ensureServiceUser } from '../../src/platform/host/serviceUser.ts';
import { until } from '../product.ts';
import { signalIfThere } from '../signal.ts';
import { programIn, surroundings } from '../unpacked.ts';
import { freePort } from '../valkey.ts';
import { etcdArguments, haproxyFile, type NodePorts, patroniFile } from './files.ts';
import { postgresIn } from './tree.ts';

/** One host of the cluster: a PostgreSQL, and the Patroni that looks after it. */
export interface PatroniNode {
  name: string;
  /** The power goes: Patroni and every process of PostgreSQL end at once. */
  kill(): Promise<void>;
  /** The power comes again. */
  start(): void;
}

/** A PostgreSQL with a synchronous standby, and the one address at which whoever is primary is found. */
export interface PatroniBed {
  /** As the owner of an empty database, and as the role that the product works as. */
  url: string;
  applicationUrl: string;
  nodes: readonly PatroniNode[];
  /** Waits until one of them leads and the other is its synchronous standby; answers which is which. */
  settled(): Promise<{ primary: PatroniNode; standby: PatroniNode }>;
  /** Hands over as an operator does before work on a host. */
  switchOver(): Promise<void>;
  /** What all of its programs have said so far. */
  output(): string;
  close(): Promise<void>;
}

const owner = 'innkeeper';
const application = 'innkeeper_app';

export async function startPatroni(tree: string): Promise<PatroniBed> {
  const dir = await mkdtemp(join(tmpdir(), 'innkeeper-patroni-'));
  await chmod(dir, 0o755);
  const log = join(dir, 'log');
  const user = process.getuid?.() === 0 ? await ensureServiceUser(databaseUserName) : null;
  const running = new Set<ChildProcess>();
  const run = (argv: readonly string[], asUser: string | null): ChildProcess => {
    const [program = '', ...args] = asServiceUser(asUser, argv, 'KILL');
    const child = spawn(program, args, {
      cwd: '/',
      env: surroundings(tree),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => appendFileSync(log, bytes));
    return child;
  };
  const etcd = { client: await freePort(), peer: await freePort() };
  const front = await freePort();
  const bin = await postgresIn(tree);
  const hosts: (NodePorts & PatroniNode & { data: string })[] = [];
  for (const name of ['one', 'two']) {
    const home = join(dir, name);
    await mkdir(home, { mode: 0o700 });
    if (user !== null) await chown(home, user.uid, user.gid);
    const ports = { name, postgres: await freePort(), rest: await freePort() };
    const file = join(dir, `${name}.yml`);
    await writeFile(file, patroniFile({ ...ports, home, bin, etcd: etcd.client }));
    const data = join(home, 'data');
    let child: ChildProcess | null = null;
    const start = () => {
      child = run(['python3', programIn(tree, 'patroni'), file], user?.name ?? null);
    };
    const kill = async () => {
      child?.kill('SIGKILL');
      await endAllIn(data);
    };
    hosts.push({ ...ports, data, start, kill });
  }
  const close = async () => {
    for (const child of running) child.kill('SIGKILL');
    for (const { data } of hosts) await endAllIn(data);
    await until(
      async () => running.size,
      (left) => left === 0,
    );
    await rm(dir, { recursive: true, force: true });
  };
  const output = () => readFileSync(log, 'utf8');
  try {
    run([programIn(tree, 'etcd'), ...etcdArguments(join(dir, 'etcd'), etcd)], null);
    await writeFile(join(dir, 'haproxy.cfg'), haproxyFile(front, hosts));
    run([programIn(tree, 'haproxy'), '-db', '-f', join(dir, 'haproxy.cfg')], null);
    const [first, ...others] = hosts;
    first?.start();
    await until(
      () => stateOf(first?.rest ?? 0),
      ({ role }) => isPrimary(role),
      90_000,
    );
    for (const each of others) each.start();
    const settled = () => pairOf(hosts);
    await settled();
    const superuser = `postgres://postgres@127.0.0.1:${front}`;
    await found(superuser);
    return {
      url: `postgres://${owner}@127.0.0.1:${front}/${owner}`,
      applicationUrl: `postgres://${application}@127.0.0.1:${front}/${owner}`,
      nodes: hosts,
      settled,
      switchOver: async () => {
        const { primary, standby } = await settled();
        const rest = hosts.find(({ name }) => name === primary.name)?.rest;
        const body = JSON.stringify({ leader: primary.name, candidate: standby.name });
        const answer = await fetch(`http://127.0.0.1:${rest}/switchover`, { method: 'POST', body });
        if (!answer.ok) throw new Error(`Patroni refused to hand over: ${await answer.text()}`);
      },
      output,
      close,
    };
  } catch (error) {
    const said = output().slice(-4_000);
    await close();
    throw new Error(`PostgreSQL with a standby did not come up:\n${said}`, { cause: error });
  }
}

/** Every process of the PostgreSQL of this data directory, which is where each of them stands. */
function processesIn(data: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === data;
      } catch {
        return false; // ended meanwhile
      }
    });
}

async function endAllIn(data: string): Promise<void> {
  await until(
    async () => {
      const found = processesIn(data);
      for (const pid of found) signalIfThere(pid, 'SIGKILL');
      return found.length;
    },
    (left) => left === 0,
  );
}

interface NodeState {
  role?: string;
  state?: string;
  sync_standby?: boolean;
}

/** What a Patroni says of its PostgreSQL; nothing while it does not answer. */
async function stateOf(port: number): Promise<NodeState> {
  const answer = await fetch(`http://127.0.0.1:${port}/patroni`, {
    signal: AbortSignal.timeout(2_000),
  }).catch(() => null);
  return answer === null ? {} : ((await answer.json()) as NodeState);
}

const isPrimary = (role: string | undefined) => role === 'master' || role === 'primary';

async function pairOf<N extends NodePorts>(hosts: readonly N[]): Promise<{ primary: N; standby: N }> {
  const look = async () => {
    const states = await Promise.all(hosts.map(async (host) => ({ host, ...(await stateOf(host.rest)) })));
    return {
      primary: states.find(({ role }) => isPrimary(role))?.host,
      standby: states.find(({ sync_standby: isSync }) => isSync)?.host,
      states,
    };
  };
  const { primary, standby } = await until(
    look,
    (seen) => seen.primary !== undefined && seen.standby !== undefined,
    90_000,
  );
  return { primary, standby } as { primary: N; standby: N };
}

/** The roles and the empty database of an installation. */
async function found(superuser: string): Promise<void> {
  const asSuperuser = async (...statements: string[]) => {
    const client = new pg.Client({
      connectionString: `${superuser}/postgres`,
      connectionTimeoutMillis: 10_000,
    });
    await client.connect();
    for (const each of statements) await client.query(each);
    await client.end();
  };
  await until(
    () =>
      asSuperuser('select 1').then(
        () => true,
        () => false,
      ),
    (isThere) => isThere,
  );
  await asSuperuser(
    `create role ${owner} login`,
    `create role ${application} login`,
    `create database ${owner} owner ${owner}`,
  );
}
