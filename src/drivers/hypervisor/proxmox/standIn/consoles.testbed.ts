import { createCipheriv, randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, type WebSocket } from 'ws';
import { byteReader } from '../byteReader.ts';
import type { State } from './state.testbed.ts';

type Console = NonNullable<ReturnType<State['consoles']['get']>>;

const size = { width: 40, height: 20 };
const bytesOf = (...numbers: number[]) => Buffer.from(numbers);

/** Serves a console to who has come for it, until its machine goes away. */
export function serveConsole(state: State, console: Console, socket: WebSocket): void {
  const away = (vmid: number) => {
    if (vmid === console.vmid) socket.close();
  };
  state.ends.add(away);
  socket.once('close', () => state.ends.delete(away));
  if (console.kind === 'serial') serveSerial(state, console, socket);
  else
    serveScreen(createWebSocketStream(socket), console.password).catch(() => {
      socket.close();
    });
}

/** Who has come for a machine's line, in order: it takes one, and the others wait for it without a word. */
const waiting = new WeakMap<State, Map<number, WebSocket[]>>();

function queueAt(state: State, vmid: number): WebSocket[] {
  const queues = waiting.get(state) ?? new Map<number, WebSocket[]>();
  waiting.set(state, queues);
  const queue = queues.get(vmid) ?? [];
  queues.set(vmid, queue);
  return queue;
}

/** As the engine's terminal: user and ticket first, then packets of what is typed. */
function serveSerial(state: State, { vmid, ticket }: Console, socket: WebSocket): void {
  let isKnown = false;
  const say = (words: string) => socket.send(Buffer.from(words));
  const queue = queueAt(state, vmid);
  socket.once('close', () => void queue.splice(queue.indexOf(socket), 1));
  queue.push(socket);
  socket.on('message', (data) => {
    const typed = String(data);
    if (!isKnown) {
      isKnown = typed.endsWith(`:${ticket}\n`);
      return isKnown ? say('OK') : socket.close();
    }
    if (typed === '2') return;
    const [, length, keys = ''] = /^0:(\d+):([\s\S]*)$/.exec(typed) ?? [];
    if (Number(length) !== Buffer.byteLength(keys)) return socket.close();
    if (queue[0] !== socket) return;
    say(keys);
    const { hostname = '' } = state.vms.get(vmid)?.running?.guest ?? {};
    if (keys.includes('\n')) say(`\r\n${hostname} login: `);
  });
}

/** How many have come for a machine's line and are there still. */
export function linesTo(state: State, vmid: number): number {
  return queueAt(state, vmid).length;
}

/** As QEMU does: RFC 6143, by password. */
async function serveScreen(stream: Duplex, password: string): Promise<void> {
  stream.on('error', () => stream.destroy());
  const reader = byteReader(stream);
  stream.write('RFB 003.008\n');
  if (String(await reader.take(12)) !== 'RFB 003.008\n') throw new Error('another version');
  stream.write(bytesOf(1, 2));
  if ((await reader.take(1))[0] !== 2) throw new Error('another security');
  const challenge = randomBytes(16);
  stream.write(challenge);
  if (!(await reader.take(16)).equals(response(challenge, password))) throw new Error('another password');
  stream.write(Buffer.alloc(4));
  await reader.take(1);
  const head = Buffer.alloc(24);
  head.writeUInt16BE(size.width, 0);
  head.writeUInt16BE(size.height, 2);
  head.set([32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0], 4);
  head.writeUInt32BE(4, 20);
  stream.write(Buffer.concat([head, Buffer.from('QEMU')]));
  for (;;) {
    const [kind = 0] = await reader.take(1);
    if (kind === 0) await reader.take(19);
    else if (kind === 2) await reader.take(4 * (await reader.take(3)).readUInt16BE(1));
    else if (kind === 3) {
      await reader.take(9);
      stream.write(picture());
    } else if (kind === 4) await reader.take(7);
    else if (kind === 5) await reader.take(5);
    else throw new Error('another message');
  }
}

/** In two pieces, as a screen is drawn where only parts of it have changed. */
function picture(): Buffer {
  const half = size.height / 2;
  const piece = (y: number) => {
    const head = Buffer.alloc(12);
    for (const [at, value] of [0, y, size.width, half].entries()) head.writeUInt16BE(value, at * 2);
    const pixels = Array.from({ length: size.width * half }, (_, at) => [
      (at * 3) % 256,
      170,
      y === 0 ? 0 : 255,
      0,
    ]);
    return Buffer.concat([head, Buffer.from(pixels.flat())]);
  };
  return Buffer.concat([bytesOf(0, 0, 0, 2), piece(0), piece(half)]);
}

function response(challenge: Buffer, password: string): Buffer {
  const mirrored = [...password.slice(0, 8)].map((letter) => {
    let byte = 0;
    for (let bit = 0; bit < 8; bit += 1) byte |= ((letter.charCodeAt(0) >> bit) & 1) << (7 - bit);
    return byte;
  });
  const key = Buffer.from([...mirrored, ...Array(8).fill(0)].slice(0, 8));
  const cipher = createCipheriv('des-ede3', Buffer.concat([key, key, key]), null).setAutoPadding(false);
  return cipher.update(challenge);
}
