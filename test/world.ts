import { runAsRoot } from '../src/platform/host/program.ts';

/** The world in front of a host: packets from it are routed to guests, as those of the host itself are not. */
export interface OutsideWorld {
  address: string;
  /** Opens a connection; whether somebody answered within the time. */
  reaches(address: string, port: number, timeoutMs?: number): Promise<boolean>;
  /** Sends so many datagrams, one after another. */
  sends(address: string, port: number, datagrams: { count: number; bytes: number }): Promise<void>;
  close(): Promise<void>;
}

const connecting = `
const [address, port, timeout] = process.argv.slice(1);
const socket = require('node:net').connect({ host: address, port: Number(port) });
const say = (word) => { process.stdout.write(word); socket.destroy(); process.exit(0); };
socket.on('connect', () => say('open'));
socket.on('error', (error) => say(error.code));
setTimeout(() => say('silent'), Number(timeout));`;

const sending = `
const [address, port, count, bytes] = process.argv.slice(1);
const socket = require('node:dgram').createSocket(address.includes(':') ? 'udp6' : 'udp4');
let left = Number(count);
const next = () => {
  if (left-- === 0) return socket.close();
  socket.send(Buffer.alloc(Number(bytes)), Number(port), address, (error) => {
    if (error) throw error;
    next();
  });
};
next();`;

/**
 * Makes a network namespace in front of the one that we are in. Takes root. `id` tells those apart that are there at once:
 * 198.18.<id>.0/30.
 */
export async function outsideWorld(id: number): Promise<OutsideWorld> {
  const name = `innkeeper-world-${process.pid}-${id}`;
  const [near, far] = [`world${id}`, `home${id}`];
  const address = `198.18.${id}.2`;
  const inside = (argv: readonly string[]) => ['ip', 'netns', 'exec', name, ...argv];
  await runAsRoot(['ip', 'netns', 'add', name]);
  const close = async () => {
    await runAsRoot(['ip', 'netns', 'delete', name]);
    // It goes with its other end, a moment later.
    await runAsRoot(['ip', 'link', 'delete', near]).catch(() => undefined);
  };
  try {
    await runAsRoot(['ip', 'link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', name]);
    await runAsRoot(['ip', 'address', 'add', `198.18.${id}.1/30`, 'dev', near]);
    await runAsRoot(['ip', 'link', 'set', near, 'up']);
    await runAsRoot(inside(['ip', 'address', 'add', `${address}/30`, 'dev', far]));
    await runAsRoot(inside(['ip', 'link', 'set', far, 'up']));
    await runAsRoot(inside(['ip', 'route', 'add', 'default', 'via', `198.18.${id}.1`]));
  } catch (error) {
    await close();
    throw error;
  }
  const node = (program: string, ...given: (string | number)[]) =>
    runAsRoot(inside([process.execPath, '-e', program, ...given.map(String)]));
  return {
    address,
    async reaches(to, port, timeoutMs = 2_000) {
      const { stdout } = await node(connecting, to, port, timeoutMs);
      return stdout === 'open';
    },
    async sends(to, port, { count, bytes }) {
      await node(sending, to, port, count, bytes);
    },
    close,
  };
}

/**
 * The packet filter's table of Shield as it stands, without what changes by itself: what was counted, what time is left, and how many
 * packets are looked at, which follows the load and is written anew by a process that begins to look.
 */
export async function edgeTable(): Promise<string> {
  const { stdout } = await runAsRoot(['nft', '-a', 'list', 'table', 'inet', 'innkeeper_edge']);
  return stdout
    .replaceAll(/counter packets \d+ bytes \d+/g, 'counter')
    .replace(/\tchain sample \{[\s\S]*?\n\t\}/, '')
    .replaceAll(/ (expires|timeout) [\dms]+/g, '')
    .replaceAll(/\tset \w+ \{[\s\S]*?\n\t\}/g, (set) => (set.includes('dynamic') ? '' : set));
}
