import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { asRoot, runAsRoot } from '../../src/platform/host/program.ts';

/** One Incus daemon as if on a host of its own: own network, /run, state. */
export interface Member {
  address: string;
  /** Folder of its `var`, `run` and `log`. */
  state: string;
  /** Before a command, for which its network is then the host's own. */
  inside(): string[];
  start(): Promise<void>;
  /** Ends the daemon as a crash does; machines run on. */
  kill(): Promise<void>;
  /** Asks as its administrator, and waits for the end of what that begins. Fails with what the daemon says. */
  ask(method: string, path: string, body?: object): Promise<unknown>;
}

export interface Members {
  all: Member[];
  /** Ends every process of theirs and takes their state away. */
  remove(): void;
}

const patienceMs = 60_000;
const daemon = [
  'novsock',
  '/usr/libexec/incus/incusd',
  '--group',
  'root',
  '--logfile',
  '/var/log/incus/incusd.log',
];
const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const mark = `INNKEEPER_TEST_RUN=${process.env.INNKEEPER_TEST_RUN ?? ''}`;

/**
 * Daemons on a bridge of this network, which has the gateway's addresses: 10.77.<network>.1 and fd77:<network>::1. `tree` is what
 * `ensureIncusTree` made, `images` a folder that their machines find under `/images`.
 */
export async function startMembers(
  count: number,
  network: number,
  tree: string,
  images: string,
): Promise<Members> {
  const dir = mkdtempSync(join(tmpdir(), 'ikc-'));
  const bridge = `iki${network}`;
  const ip = (...argv: string[]) => runAsRoot(['ip', ...argv]);
  await ip('link', 'add', bridge, 'type', 'bridge');
  await ip('addr', 'add', `10.77.${network}.1/24`, 'dev', bridge);
  await ip('addr', 'add', `fd77:${network}::1/64`, 'dev', bridge, 'nodad');
  await ip('link', 'set', bridge, 'up');
  const states = Array.from({ length: count }, (_, nth) => join(dir, `n${nth + 1}`));
  const members: Members = {
    all: [],
    remove() {
      for (const state of states) endAll(processesOf(state));
      const [program = '', ...args] = asRoot([
        'sh',
        '-c',
        'ip link delete "$1"; rm -rf "$2"',
        'sh',
        bridge,
        dir,
      ]);
      spawnSync(program, args);
    },
  };
  try {
    for (const [nth, state] of states.entries()) {
      const address = `10.77.${network}.${241 + nth}`;
      await makeHost(tree, state, images, address, `${bridge}-${nth + 1}`, bridge);
      const member = memberOn(tree, state, address);
      await member.start();
      members.all.push(member);
    }
    return members;
  } catch (error) {
    members.remove();
    throw error;
  }
}

/** Namespaces with mounts and a network card on the bridge, held by a process that does nothing. */
async function makeHost(
  tree: string,
  state: string,
  images: string,
  address: string,
  outer: string,
  bridge: string,
): Promise<void> {
  mkdirSync(state);
  const script = join(import.meta.dirname, 'member.sh');
  const unshare = [
    'unshare',
    '-n',
    '-m',
    '--propagation',
    'private',
    'sh',
    script,
    tree,
    state,
    images,
    address,
  ];
  background(['env', mark, ...unshare]);
  const holder = await until('a host for Incus', () => holderOf(state));
  const toHolder = ['peer', 'name', 'eth0', 'netns', String(holder)];
  await runAsRoot(['ip', 'link', 'add', outer, 'type', 'veth', ...toHolder]);
  await runAsRoot(['ip', 'link', 'set', outer, 'master', bridge, 'up']);
  await until('its network', () => existsSync(join(state, 'ready')) || null);
}

function memberOn(tree: string, state: string, address: string): Member {
  const ask: Member['ask'] = async (method, asked, body) => {
    const answer = await askSocket(join(state, 'var/unix.socket'), method, asked, body);
    if (answer.type === 'error') throw new Error(`${method} ${asked}: ${answer.error}`);
    if (answer.type !== 'async') return answer.metadata;
    // A token is an operation that ends when somebody has joined with it.
    const begun = answer.metadata as { class?: string };
    if (begun.class === 'token') return begun;
    const ended = (await ask('GET', `${answer.operation}/wait`)) as { status_code: number; err: string };
    if (ended.status_code !== 200) throw new Error(`${method} ${asked}: ${ended.err}`);
    return ended;
  };
  const running = () =>
    processesOf(state).filter((pid) => commandOf(pid).includes('/usr/libexec/incus/incusd'));
  return {
    address,
    state,
    ask,
    inside: () => ['nsenter', '-t', String(holderOf(state)), '-n'],
    async start() {
      const inside = ['nsenter', '-t', String(holderOf(state)), '-n', '-m', 'chroot', tree];
      background([...inside, '/usr/bin/env', '-i', path, mark, 'HOME=/root', 'LANG=C.UTF-8', ...daemon]);
      await until('Incus', () => ask('GET', '/1.0').catch(() => null));
    },
    async kill() {
      endAll(running());
      await until('the end of Incus', () => (running().length === 0 ? true : null));
    },
  };
}

function background(argv: readonly string[]): void {
  const [program = '', ...args] = asRoot(argv);
  spawn(program, args, { stdio: 'ignore' }).unref();
}

function holderOf(state: string): number | null {
  const pid = read(join(state, 'pid')).trim();
  return pid === '' ? null : Number(pid);
}

/** Everything in the network of a member: its holder, its daemon, its machines. */
function processesOf(state: string): number[] {
  const holder = holderOf(state);
  const network = holder === null ? null : networkOf(holder);
  if (network === null || network === networkOf(process.pid)) return [];
  const all = readdirSync('/proc').filter((each) => /^\d+$/.test(each));
  return all.map(Number).filter((pid) => networkOf(pid) === network);
}

function networkOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return null; // it has ended
  }
}

function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function endAll(pids: readonly number[]): void {
  if (pids.length === 0) return;
  const [program = '', ...args] = asRoot(['kill', '-9', ...pids.map(String)]);
  spawnSync(program, args);
}

async function until<T>(what: string, look: () => T | null | Promise<T | null>): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > deadline) throw new Error(`no sign of ${what} within ${patienceMs / 1_000} s`);
    await delay(50);
  }
}

interface Answer {
  type: string;
  metadata: unknown;
  operation: string;
  error: string;
}

function askSocket(socketPath: string, method: string, asked: string, body?: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath, method, path: asked }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(JSON.parse(text)));
    });
    asking.on('error', reject);
    asking.end(body ? JSON.stringify(body) : undefined);
  });
}
