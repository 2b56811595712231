import { Worker } from 'node:worker_threads';
import type { ElectronicFormat } from './electronic.ts';
import type { Paper } from './paper.ts';
import type { Seller } from './parties.ts';
import type { Sheet } from './sheet.ts';

/** What can be made of a paper. */
export type Format = 'pdf' | 'factur-x' | ElectronicFormat;

/** What the press makes; a logo is a PNG that is known to be whole. */
export type Work =
  | { kind: 'paper'; paper: Paper; format: Format; logo: Uint8Array | null }
  | { kind: 'sheet'; sheet: Sheet; seller: Seller; logo: Uint8Array | null };

/** What the press is asked for, and what it answers. */
export interface Order {
  id: number;
  work: Work;
}
export type Delivery = { id: number; bytes: Uint8Array } | { id: number; error: Error };

interface Waiting {
  resolve: (bytes: Buffer) => void;
  reject: (error: unknown) => void;
}

/** One that is being made and the next one, so that the thread need not wait for us in between. */
const mostInThread = 2;

interface Thread {
  worker: Worker;
  /** What it has and has not answered. */
  under: Map<number, Waiting>;
}

/** Whose an order is: a person's, or nobody's. */
type Whose = number | null;

let thread: Thread | null = null;
let last = 0;
/** What the thread does not have yet. Whoever had a turn goes to the end, so that nobody waits for all that another one wants. */
const lines = new Map<Whose, (Waiting & { order: Order })[]>();

/**
 * Makes a document in a thread of its own, one after another and a person's after another's: drawing keeps a processor busy
 * for tens of milliseconds, in which nobody else would be answered.
 */
export function press(work: Work, whose: Whose): Promise<Buffer> {
  const order: Order = { id: ++last, work };
  return new Promise((resolve, reject) => {
    lines.set(whose, [...(lines.get(whose) ?? []), { resolve, reject, order }]);
    feed();
  });
}

/** Gives the thread what is next. */
function feed(): void {
  for (;;) {
    const next = lines.entries().next().value;
    if (next === undefined || (thread?.under.size ?? 0) >= mostInThread) return;
    const [whose, [first, ...others]] = next;
    lines.delete(whose);
    if (others.length > 0) lines.set(whose, others);
    if (first !== undefined) start(first);
  }
}

function start({ order, resolve, reject }: Waiting & { order: Order }): void {
  thread ??= open();
  const { worker, under } = thread;
  under.set(order.id, { resolve, reject });
  worker.ref();
  worker.postMessage(order);
}

function open(): Thread {
  const worker = new Worker(new URL('./pressThread.ts', import.meta.url), { execArgv: [] });
  const under = new Map<number, Waiting>();
  const opened = { worker, under };
  worker.unref(); // a process that has nothing else to do ends
  worker.on('message', (delivery: Delivery) => {
    const order = under.get(delivery.id);
    under.delete(delivery.id);
    feed();
    if (under.size === 0) worker.unref();
    if ('error' in delivery) order?.reject(delivery.error);
    else
      order?.resolve(
        Buffer.from(delivery.bytes.buffer, delivery.bytes.byteOffset, delivery.bytes.byteLength),
      );
  });
  // Whoever it works for hears of it; the next order opens another one.
  const end = (error: unknown) => {
    if (thread === opened) thread = null;
    for (const { reject } of under.values()) reject(error);
    under.clear();
    feed();
  };
  worker.on('error', end);
  worker.on('exit', () => end(new Error('the thread that makes documents has ended')));
  return opened;
}
