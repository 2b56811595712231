import { Worker } from 'node:worker_threads';

/** What a mail says, as plain data of bounded size. */
export interface ReadMail {
  messageId: string | null;
  /** What it says that it answers, the nearest last. */
  references: string[];
  /** Who it says it is from, when that is one address. */
  from: { name: string; address: string } | null;
  subject: string;
  /** For whom it is, as its head says. */
  recipients: string[];
  text: string;
  /** What was written before and stands below or above it. */
  quoted: string | null;
  attachments: { name: string; type: string; size_bytes: number }[];
  /** By what a machine is known; null when somebody wrote it. */
  machine: string | null;
  report: MailReport | null;
  /** The topmost Authentication-Results of its head. */
  results: string | null;
  /** How many signatures it claims to have. */
  signatures: number;
}

export interface MailReport {
  messageId: string;
  recipient: string;
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';
  status: string;
  diagnostic: string;
}

export type ThreadAnswer = { id: number; mail: ReadMail } | { id: number; error: string };

/** Longer than any mail takes that somebody wrote: a second for 25 MiB. */
const longestMs = 30_000;

let queue: Promise<unknown> = Promise.resolve();
let thread: Worker | null = null;
let last = 0;

/**
 * Reads a mail in a thread of its own, one after another. A mail can be made to keep a processor busy or to fill memory: the
 * thread then ends, the mail counts as one that cannot be read, and the next one gets another thread. Null: it cannot be read.
 */
export function readMail(load: () => Promise<Buffer>): Promise<ReadMail | null> {
  const reading = queue.then(async () => inThread(await load()));
  queue = reading.catch(() => undefined);
  return reading;
}

function inThread(raw: Buffer): Promise<ReadMail | null> {
  const worker = thread ?? open();
  thread = worker;
  const id = ++last;
  return new Promise((resolve) => {
    const done = (mail: ReadMail | null, isDead: boolean) => {
      clearTimeout(timer);
      worker.off('message', answered).off('error', failed).off('exit', failed);
      worker.unref();
      if (isDead) {
        if (thread === worker) thread = null;
        worker.once('error', () => undefined);
        void worker.terminate();
      }
      resolve(mail);
    };
    const answered = (answer: ThreadAnswer) => {
      if (answer.id === id) done('mail' in answer ? answer.mail : null, false);
    };
    const failed = () => done(null, true);
    const timer = setTimeout(failed, longestMs);
    worker.ref();
    worker.on('message', answered).once('error', failed).once('exit', failed);
    const bytes = new Uint8Array(raw); // of its own, to be given away
    worker.postMessage({ id, raw: bytes }, [bytes.buffer]);
  });
}

function open(): Worker {
  const opened = new Worker(new URL('./readThread.ts', import.meta.url), {
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  opened.unref(); // a process that has nothing else to do ends
  return opened;
}
