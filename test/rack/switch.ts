import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SwitchConnection } from '../../src/drivers/switch/index.ts';
import { runAsRoot } from '../../src/platform/host/program.ts';
import { programIn, surroundings } from '../unpacked.ts';

/** A real switch without hardware: a Linux bridge in a network of its own, of which snmpd tells. Two servers are plugged in. */
export interface RackSwitch {
  connection: SwitchConnection;
  /** Names of ports, and the MACs of the servers behind them. */
  ports: { name: string; mac: string }[];
  /** What the kernel has counted at a port. */
  counted(port: string): Promise<{ in: bigint; out: bigint }>;
  /** Has the server behind the first port send to the other. */
  send(bytes: number): Promise<void>;
  plug(port: string, isIn: boolean): Promise<void>;
  /** Stops snmpd where it stands, or lets it go on. */
  beSilent(isSilent: boolean): void;
  close(): Promise<void>;
}

const secrets = { authPassphrase: 'auth-pass-123', privacyPassphrase: 'priv-pass-123' };
/** To a port at which nobody listens. */
const datagrams = `
const [address, count] = process.argv.slice(1);
const socket = require('node:dgram').createSocket('udp4');
let left = Number(count);
const next = () => left-- === 0 ? setTimeout(() => socket.close(), 200) : socket.send(Buffer.alloc(1000), 9, address, () => setTimeout(next, 2));
next();`;
/** Ours is 198.18.241.1. */
const address = '198.18.241.2';

/**
 * Starts one beside the network that we are in, with a cable to it. `tree` is the one of `test/rack/tree.ts`; `morePorts`: so many besides, in which nothing is
 * plugged. Takes root.
 */
export async function startSwitch(tree: string, { morePorts = 0 } = {}): Promise<RackSwitch> {
  const name = `innkeeper-switch-${process.pid}`;
  const servers = [`${name}-a`, `${name}-b`];
  const inside = (where: string, ...argv: string[]) => runAsRoot(['ip', 'netns', 'exec', where, ...argv]);
  const ip = (where: string, ...argv: string[]) => runAsRoot(['ip', '-n', where, ...argv]);
  const folder = await mkdtemp(join(tmpdir(), 'innkeeper-switch-'));
  let agent: ChildProcess | null = null;
  const close = async () => {
    agent?.kill('SIGKILL');
    for (const each of [...servers, name])
      await runAsRoot(['ip', 'netns', 'delete', each]).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    for (const each of [name, ...servers]) await runAsRoot(['ip', 'netns', 'add', each]);
    await runAsRoot(['ip', 'link', 'add', 'swcable', 'type', 'veth', 'peer', 'name', 'mgmt', 'netns', name]);
    await runAsRoot(['ip', 'address', 'add', '198.18.241.1/30', 'dev', 'swcable']);
    await runAsRoot(['ip', 'link', 'set', 'swcable', 'up']);
    await ip(name, 'address', 'add', `${address}/30`, 'dev', 'mgmt');
    for (const link of ['lo', 'mgmt']) await ip(name, 'link', 'set', link, 'up');
    await ip(name, 'link', 'add', 'sw0', 'type', 'bridge');
    await ip(name, 'link', 'set', 'sw0', 'up');
    const ports: RackSwitch['ports'] = [];
    for (const [at, server] of servers.entries()) {
      const [port, mac] = [`port${at + 1}`, `02:00:5e:10:00:0${at + 1}`];
      await ip(name, 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', server);
      // What each sends by itself would be counted while it is looked.
      await inside(server, 'sysctl', '-qw', 'net.ipv6.conf.all.disable_ipv6=1');
      await ip(server, 'link', 'set', 'eth0', 'address', mac, 'up');
      await ip(server, 'address', 'add', `10.9.0.${at + 1}/24`, 'dev', 'eth0');
      await ip(name, 'link', 'set', port, 'master', 'sw0', 'up');
      ports.push({ name: port, mac });
    }
    await inside(name, 'sysctl', '-qw', 'net.ipv6.conf.all.disable_ipv6=1');
    if (morePorts > 0) {
      const batch = join(folder, 'ports');
      // Both ends of a cable are ports.
      const links = Array.from({ length: Math.ceil(morePorts / 2) }, (_, at) => {
        const nth = 2 * at + 1;
        return `link add empty${nth} type veth peer name empty${nth + 1}\n`;
      });
      await writeFile(batch, links.join(''));
      await runAsRoot(['ip', '-n', name, '-batch', batch]);
    }
    agent = await startAgent(tree, folder, name);
    const counter = async (port: string, which: string) => {
      const { stdout } = await inside(name, 'cat', `/sys/class/net/${port}/statistics/${which}`);
      return BigInt(stdout.trim());
    };
    return {
      connection: { kind: 'snmp', address, user: 'innkeeper', authProtocol: 'sha256', ...secrets },
      ports,
      counted: async (port) => ({
        in: await counter(port, 'rx_bytes'),
        out: await counter(port, 'tx_bytes'),
      }),
      async send(bytes) {
        const sending = [process.execPath, '-e', datagrams, '10.9.0.2', String(Math.ceil(bytes / 1_000))];
        await inside(servers[0] ?? '', ...sending);
      },
      async plug(port, isIn) {
        const server = servers[ports.findIndex((each) => each.name === port)] ?? '';
        await ip(server, 'link', 'set', 'eth0', isIn ? 'up' : 'down');
      },
      beSilent: (isSilent) => void agent?.kill(isSilent ? 'SIGSTOP' : 'SIGCONT'),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startAgent(tree: string, folder: string, where: string): Promise<ChildProcess> {
  const bridgeMib = join(import.meta.dirname, '../../src/demo/rack/real/bridgeMib.ts');
  const file = join(folder, 'snmpd.conf');
  const lines = [
    `createUser innkeeper SHA-256 ${secrets.authPassphrase} AES ${secrets.privacyPassphrase}`,
    'rouser innkeeper authpriv',
    `agentaddress udp:${address}:161`,
    'sysName sw1',
    `pass_persist .1.3.6.1.2.1.17 ${process.execPath} ${bridgeMib} sw0`,
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const argv = ['netns', 'exec', where, programIn(tree, 'snmpd'), '-f', '-Lo', '-r', '-C', '-c', file];
  const agent = spawn('ip', argv, {
    env: { ...surroundings(tree), SNMP_PERSISTENT_DIR: folder, HOME: folder, MIBS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const heard = (text: Buffer) => {
      said += String(text);
      if (said.includes('NET-SNMP version')) resolve();
    };
    agent.stdout?.on('data', heard);
    agent.stderr?.on('data', heard);
    agent.on('exit', () => reject(new Error(`snmpd ended: ${said.slice(0, 500)}`)));
    agent.on('error', reject);
  });
  return agent;
}
