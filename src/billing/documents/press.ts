import { Worker } from 'node:worker_threads';
import type { ElectronicFormat } from './electronic.ts';
import type { Paper } from './paper.ts';

/** What can be made of a paper. */
export type Format = 'pdf' | 'factur-x' | ElectronicFormat;

/** What the press is asked for, and what it answers. */
export interface Order {
  id: number;
  paper: Paper;
  format: Format;
  /** A PNG that is known to be whole. */
  logo: Uint8Array | null;
}
export type Delivery = { id: number; bytes: Uint8Array } | { id: number; error: Error };

interface Waiting {
  resolve: (bytes: Buffer) => void;
  reject: (error: unknown) => void;
}

let thread: Worker | null = null;
let last = 0;
const waiting = new Map<number, Waiting>();

/**
 * Makes a document in a thread of its own, one after another: drawing keeps a processor busy for tens of milliseconds, in
 * which nobody else would be answered.
 */
export function press(paper: Paper, format: Format, logo: Buffer | null): Promise<Buffer> {
  thread ??= open();
  const id = ++last;
  const order: Order = { id, paper, format, logo };
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    thread?.ref();
    thread?.postMessage(order);
  });
}

function open(): Worker {
  const opened = new Worker(new URL('./pressThread.ts', import.meta.url), { execArgv: [] });
  opened.unref(); // a process that has nothing else to do ends
  opened.on('message', (delivery: Delivery) => {
    const order = waiting.get(delivery.id);
    waiting.delete(delivery.id);
    if (waiting.size === 0) opened.unref();
    if ('error' in delivery) order?.reject(delivery.error);
    else
      order?.resolve(
        Buffer.from(delivery.bytes.buffer, delivery.bytes.byteOffset, delivery.bytes.byteLength),
      );
  });
  // Whoever waits hears of it; the next order opens another one.
  const end = (error: unknown) => {
    if (thread === opened) thread = null;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  opened.on('error', end);
  opened.on('exit', () => end(new Error('the thread that makes documents has ended')));
  return opened;
}
