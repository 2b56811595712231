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

/** Far above every answer that we ask for: a line is understood at once, and nobody is served meanwhile. */
const longestLine = 2 ** 20;
/** More than all that we ask for in a second, whatever it is cut into. */
const mostBytesASecond = 4 * 2 ** 20;
const longestError = 600;
/** What many disks out of space have to say at once; who says more wants our time. */
const mostLinesASecond = 10_000;

/** How long a socket is left alone whose QEMU was hung up on for what it said, the first time and at most. */
const firstPauseMs = 1_000;
const longestPauseMs = 300_000;
/** Who has said nothing of the kind for so long begins anew. */
const forgottenMs = 3_600_000;
const mostRemembered = 10_000;
/** Sockets of those who said what no QEMU says, by their paths. */
const hungUpOn = new Map<string, { times: number; atMs: number }>();

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
  const pauseMs = pauseLeft(path);
  if (pauseMs > 0) {
    const message = `QEMU said what no QEMU says; it is asked again in ${Math.ceil(pauseMs / 1_000)} s`;
    throw new Error(message);
  }
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
  const hangUp = () => {
    noteHungUp(path);
    socket.destroy();
  };
  readLines(socket, hangUp, (line) => {
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

/** What it costs to hear it once is bounded, so who is heard again and again is heard ever more rarely. */
function noteHungUp(path: string): void {
  const atMs = performance.now();
  const before = hungUpOn.get(path);
  if (hungUpOn.size >= mostRemembered) hungUpOn.clear();
  const times = before === undefined || atMs - before.atMs > forgottenMs ? 1 : before.times + 1;
  hungUpOn.set(path, { times, atMs });
}

/** Another QEMU has the socket now, which has said nothing yet. */
export function forgetHungUp(path: string): void {
  hungUpOn.delete(path);
}

/** How long it is still left alone. */
function pauseLeft(path: string): number {
  const known = hungUpOn.get(path);
  if (known === undefined) return 0;
  const pauseMs = Math.min(firstPauseMs * 2 ** Math.min(known.times - 1, 20), longestPauseMs);
  return known.atMs + pauseMs - performance.now();
}

/** Hangs up at a line that `onLine` does not take, at one that does not end, and at too much at once. */
function readLines(socket: Socket, hangUp: () => void, onLine: (line: string) => boolean): void {
  let lines = 0;
  let bytes = 0;
  let atMs = performance.now();
  // Put together once a line has ended, so that no part of it is looked at twice.
  let parts: string[] = [];
  let length = 0;
  // What was said drains away at the rate that is allowed. Counted by the seconds of a clock, twice as much would pass around
  // the moment when one begins.
  const isFlood = (moreLines: number, moreBytes: number): boolean => {
    const now = performance.now();
    const seconds = (now - atMs) / 1_000;
    atMs = now;
    lines = Math.max(0, lines - seconds * mostLinesASecond) + moreLines;
    bytes = Math.max(0, bytes - seconds * mostBytesASecond) + moreBytes;
    return lines > mostLinesASecond || bytes > mostBytesASecond;
  };
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    if (isFlood(0, chunk.length)) return hangUp();
    const [first = '', ...rest] = chunk.split('\n');
    parts.push(first);
    length += first.length;
    for (const next of rest) {
      const line = parts.join('');
      const isTaken = line.length <= longestLine && !isFlood(1, 0) && (line.trim() === '' || onLine(line));
      if (!isTaken) return hangUp();
      parts = [next];
      length = next.length;
    }
    if (length > longestLine) hangUp();
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
