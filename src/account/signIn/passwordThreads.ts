import { Worker } from 'node:worker_threads';

/** A password, and the hash it is held against; null: it is to be hashed. */
export interface ToHash {
  password: string;
  against: string | null;
}
export type Hashed = { value: string | boolean } | { error: Error };

/** Whether a thread lets others have its core whenever they want it. */
export interface ThreadKind {
  givesWay: boolean;
}

interface Thread extends ThreadKind {
  hash(wanted: ToHash): Promise<string | boolean>;
}

/** Those that have nothing to do; whoever is at work stands nowhere. */
const idle: Thread[] = [];
/** Whether there is the one that gives way to nobody. */
let isThereFirst = false;

/**
 * Hashes in a thread of its own: those that the process shares for files and names would be held up. One of them is as
 * urgent as whatever answers, so that somebody always signs in, however busy the machine is; all others give way, so that a
 * storm of sign-ins leaves the rest of the API its cores. The queue in front of it says how many there are at most.
 */
export async function hashApart(wanted: ToHash): Promise<string | boolean> {
  const first = idle.findIndex(({ givesWay }) => !givesWay);
  const [free] = idle.splice(Math.max(first, 0), 1);
  return (free ?? open()).hash(wanted);
}

function open(): Thread {
  const kind: ThreadKind = { givesWay: isThereFirst };
  isThereFirst = true;
  const worker = new Worker(new URL('./passwordThread.ts', import.meta.url), {
    execArgv: [],
    workerData: kind,
  });
  worker.unref(); // a process that has nothing else to do ends
  let asked: PromiseWithResolvers<string | boolean> | null = null;
  const thread: Thread = {
    ...kind,
    hash(wanted) {
      asked = Promise.withResolvers();
      worker.ref();
      worker.postMessage(wanted);
      return asked.promise;
    },
  };
  const settle = (hashed: Hashed): void => {
    const waiting = asked;
    asked = null;
    if ('error' in hashed) waiting?.reject(hashed.error);
    else waiting?.resolve(hashed.value);
  };
  worker.on('message', (hashed: Hashed) => {
    worker.unref();
    idle.push(thread);
    settle(hashed);
  });
  // Whoever waits hears of it; the next password opens another one.
  let isOver = false;
  const end = (error: Error): void => {
    if (!isOver && !kind.givesWay) isThereFirst = false;
    isOver = true;
    const at = idle.indexOf(thread);
    if (at >= 0) idle.splice(at, 1);
    settle({ error });
  };
  worker.on('error', end);
  worker.on('exit', () => end(new Error('a thread that hashes passwords has ended')));
  return thread;
}
