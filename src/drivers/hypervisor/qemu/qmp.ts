import { createConnection, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { plainText } from './plainText.ts';

/** An event as QEMU sends it, such as `SHUTDOWN` with `{ guest: true, reason: 'guest-shutdown' }`. */
export interface QmpEvent {
  event: string;
  data?: Record<string, unknown>;
}

/** A connection to a running QEMU. Protocol: QEMU's docs/interop/qmp-spec. */
export interface Qmp {
  /** Runs one command and returns what QEMU answered. Fails with QEMU's own description. */
  command(name: string, args?: Record<string, unknown>, timeoutMs?: number): Promise<unknown>;
  /** Settles when the connection has ended, whoever ended it. */
  readonly closed: Promise<void>;
  close(): void;
}

/** Far above every answer that we ask for. */
const longestLine = 8 * 2 ** 20;
const longestError = 600;
/** What many disks out of space have to say at once; who says more wants our time. */
const mostLinesASecond = 10_000;

interface Pending {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

/**
 * Connects and negotiates. QEMU serves one client at a time on a socket: while another holds it there is no
 * greeting, and the call fails after `timeoutMs`.
 */
export async function connectQmp(
  path: string,
  onEvent: (event: QmpEvent) => void = () => undefined,
  timeoutMs = 5_000,
): Promise<Qmp> {
  const socket = await connectSocket(path);
  const pending = new Map<number, Pending>();
  let greeted: () => void = () => undefined;
  const greeting = new Promise<void>((resolve) => {
    greeted = resolve;
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  closed.then(() => {
    for (const each of pending.values()) each.reject(new Error('QEMU closed the connection'));
    pending.clear();
  });
  readLines(socket, (line) => {
    const message = parseMessage(line);
    if (message === null) return false;
    if ('greeting' in message) greeted();
    else if ('event' in message) onEvent(message);
    else {
      const waiting = pending.get(message.id);
      pending.delete(message.id);
      if ('error' in message) waiting?.reject(new Error(message.error));
      else waiting?.resolve(message.value);
    }
    return true;
  });
  let nextId = 1;
  const qmp: Qmp = {
    async command(name, args = {}, limitMs = timeoutMs) {
      const id = nextId++;
      const answer = new Promise<unknown>((resolve, reject) => pending.set(id, { resolve, reject }));
      if (socket.destroyed) throw new Error('QEMU closed the connection');
      socket.write(`${JSON.stringify({ execute: name, arguments: args, id })}\n`);
      try {
        return await within(answer, limitMs, `QEMU did not answer ${name}`);
      } finally {
        pending.delete(id);
      }
    },
    closed,
    close: () => socket.destroy(),
  };
  try {
    await within(
      Promise.race([greeting, closed.then(() => Promise.reject(new Error('QEMU closed the connection')))]),
      timeoutMs,
      'QEMU sent no greeting: another client is connected',
    );
    await qmp.command('qmp_capabilities');
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return qmp;
}

function connectSocket(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
  });
}

type Message = { greeting: true } | QmpEvent | { id: number; value: unknown } | { id: number; error: string };

/** Null when it is none of the protocol's messages: whoever broke out of a guest says there what he likes. */
function parseMessage(line: string): Message | null {
  const said = parseObject(line);
  if (said === null) return null;
  if (isObject(said.QMP)) return { greeting: true };
  if (typeof said.event === 'string')
    return { event: said.event, data: isObject(said.data) ? said.data : {} };
  // QEMU has no id to answer with when it could not read what was asked, which does not happen to us.
  if (typeof said.id !== 'number') return null;
  if (isObject(said.error)) return { id: said.id, error: plainText(said.error.desc, longestError) };
  return { id: said.id, value: said.return };
}

function parseObject(line: string): Record<string, unknown> | null {
  try {
    const said: unknown = JSON.parse(line);
    return isObject(said) ? said : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Ends the connection at a line that `onLine` does not take, at one that does not end, and at too many at once. */
function readLines(socket: Socket, onLine: (line: string) => boolean): void {
  let second = 0;
  let lines = 0;
  // Put together once a line has ended, so that no part of it is looked at twice.
  let parts: string[] = [];
  let length = 0;
  const isFlood = (): boolean => {
    const now = Math.floor(performance.now() / 1_000);
    lines = now === second ? lines + 1 : 1;
    second = now;
    return lines > mostLinesASecond;
  };
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const [first = '', ...rest] = chunk.split('\n');
    parts.push(first);
    length += first.length;
    for (const next of rest) {
      const line = parts.join('');
      if (isFlood() || !(line.trim() === '' || onLine(line))) return void socket.destroy();
      parts = [next];
      length = next.length;
    }
    if (length > longestLine) socket.destroy();
  });
}

/** Fails with `message` when the promise has not settled in time. */
async function within<T>(promise: Promise<T>, timeoutMs: number, message: string): Promise<T> {
  const timer = new AbortController();
  promise.catch(() => undefined); // a late failure has no listener any more
  const timeout = delay(timeoutMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`${message} within ${timeoutMs} ms`);
  });
  timeout.catch(() => undefined);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    timer.abort();
  }
}
