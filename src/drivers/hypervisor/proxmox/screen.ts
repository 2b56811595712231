import { createCipheriv } from 'node:crypto';
import { type Duplex, duplexPair } from 'node:stream';
import { createWebSocketStream } from 'ws';
import { HypervisorError } from '../contract.ts';
import { asNumber, asRecord, asText } from './answers.ts';
import { byteReader } from './byteReader.ts';
import type { ProxmoxClient } from './client.ts';
import { calling } from './failure.ts';
import { machinePath } from './listed.ts';
import type { Machine } from './machines.ts';

const version = Buffer.from('RFB 003.008\n');
const [noSecurity, passwordSecurity] = [1, 2];
const openMs = 5_000;

/** The machine's screen past its greeting: what comes next is for a viewer to say. RFC 6143. */
export async function openScreen(client: ProxmoxClient, machine: Machine): Promise<Duplex> {
  const path = machinePath(machine);
  const wanted = { websocket: true, 'generate-password': true };
  const opened = calling('not_running', client.change('POST', `${path}/vncproxy`, wanted));
  const { port, ticket, password } = asRecord(await opened, 'a screen');
  const socket = await client.socket(`${path}/vncwebsocket`, {
    port: asNumber(port, 'the port of a screen'),
    vncticket: asText(ticket, 'the ticket of a screen'),
  });
  const stream = createWebSocketStream(socket, { allowHalfOpen: false });
  stream.on('error', () => stream.destroy());
  const timer = setTimeout(() => stream.destroy(), openMs);
  try {
    await greet(stream, asText(password, 'the password of a screen'));
    return stream;
  } catch (cause) {
    stream.destroy();
    throw new HypervisorError('host_not_ready', `the screen of ${machine.id} does not open`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

async function greet(stream: Duplex, password: string): Promise<void> {
  const reader = byteReader(stream);
  if (!(await reader.take(version.length)).equals(version))
    throw new Error('it speaks another version of RFB');
  stream.write(version);
  const [count = 0] = await reader.take(1);
  const kinds = [...(await reader.take(count))];
  if (kinds.includes(passwordSecurity)) {
    stream.write(Buffer.of(passwordSecurity));
    stream.write(answerTo(await reader.take(16), password));
  } else if (kinds.includes(noSecurity)) stream.write(Buffer.of(noSecurity));
  else throw new Error('it offers no security that we know');
  if ((await reader.take(4)).readUInt32BE() !== 0) throw new Error('it does not take our password');
  reader.release();
}

/** DES with each byte of the password mirrored; thrice with one key it is DES, which alone is not offered any more. */
export function answerTo(challenge: Buffer, password: string): Buffer {
  const key = Buffer.alloc(8);
  key.write(password.slice(0, 8), 'latin1');
  for (const [at, byte] of key.entries())
    key[at] = Number.parseInt(byte.toString(2).padStart(8, '0').split('').reverse().join(''), 2);
  const cipher = createCipheriv('des-ede3', Buffer.concat([key, key, key]), null).setAutoPadding(false);
  return Buffer.concat([cipher.update(challenge), cipher.final()]);
}

/** The screen as our viewers want it: greeted anew, without a password, since who may look was asked before. */
export async function openForViewer(client: ProxmoxClient, machine: Machine): Promise<Duplex> {
  const screen = await openScreen(client, machine);
  const [viewer, inside] = duplexPair({ allowHalfOpen: false });
  for (const each of [viewer, inside]) each.on('error', () => each.destroy());
  viewer.once('close', () => inside.destroy());
  inside.once('close', () => viewer.destroy());
  screen.once('close', () => inside.destroy());
  inside.once('close', () => screen.destroy());
  greetViewer(inside).then(
    () => void inside.pipe(screen).pipe(inside),
    () => inside.destroy(),
  );
  return viewer;
}

async function greetViewer(viewer: Duplex): Promise<void> {
  const reader = byteReader(viewer);
  viewer.write(version);
  if (!(await reader.take(version.length)).equals(version))
    throw new Error('it speaks another version of RFB');
  viewer.write(Buffer.of(1, noSecurity));
  if ((await reader.take(1))[0] !== noSecurity) throw new Error('it wants another security');
  viewer.write(Buffer.alloc(4));
  reader.release();
}
