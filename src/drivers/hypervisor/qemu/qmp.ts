import { createConnection, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

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
    const message: { QMP?: object; id?: number; return?: unknown; error?: { desc: string } } & QmpEvent =
      JSON.parse(line);
    if (message.QMP) greeted();
    else if (message.event) onEvent(message);
    else if (message.id !== undefined) {
      const waiting = pending.get(message.id);
      pending.delete(message.id);
      if (message.error) waiting?.reject(new Error(message.error.desc));
      else waiting?.resolve(message.return);
    }
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
      Promise.race([greeting, closed]),
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

function readLines(socket: Socket, onLine: (line: string) => void): void {
  let partial = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (partial + chunk).split('\n');
    partial = lines.pop() ?? '';
    for (const line of lines) if (line.trim()) onLine(line);
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
