import { access } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Ask, Paint, Painted, Shown } from './platform/http/index.ts';
import { causesOf, type ProcessLog } from './platform/index.ts';

/** What a thread draws of what the API answered. */
export interface Wanted {
  id: number;
  given: object;
}

/** What is drawn; see `web/src/paint.tsx`. */
export type Drawing = Pick<Painted, 'language' | 'html' | 'styles'>;

export interface Said {
  id: number;
  drawing?: Drawing;
  error?: unknown;
}

/** What every page is read from; its scripts would ask for the same. */
const ofWindow = ['/api/brand', '/api/dashboard/account', '/api/dashboard/organizations?limit=100'] as const;
const ofServices = '/api/dashboard/services?limit=50';

/**
 * Paints the list of services for whoever is signed in, by what is built at `file`; undefined where nothing is, as in a site
 * that paints nothing. What cannot be painted is left to the page's scripts, which say what is wrong.
 */
export async function openPainter(file: string, log: ProcessLog): Promise<Paint | undefined> {
  const isBuilt = await access(file).then(
    () => true,
    () => false,
  );
  if (!isBuilt) return undefined;
  return async (where, shown, ask) => {
    if (where !== '/services') return null;
    const read = await readServices(ask, shown);
    return read && { ...(await draw(file, log, read.given)), answers: read.answers };
  };
}

async function readServices(ask: Ask, { organizationId, scheme }: Shown) {
  const targets = [...ofWindow, ofServices];
  const answers = await Promise.all(
    targets.map(async (target) => ({
      target,
      body: await ask(target, target === ofServices ? organizationId : null),
    })),
  );
  if (!areAll(answers)) return null;
  const [brand, account, organizations, services] = answers.map(({ body }) => JSON.parse(body).data);
  // Staff may act as somebody else in one tab of several: which one is known there alone.
  if (account.staff !== null || services.services.length === 0) return null;
  return { given: { brand, account, organizations, organizationId, services, scheme }, answers };
}

interface Answer {
  target: string;
  body: string | null;
}

const areAll = (answers: Answer[]): answers is (Answer & { body: string })[] =>
  answers.every(({ body }) => body !== null);

interface Waiting {
  resolve: (drawing: Drawing) => void;
  reject: (error: unknown) => void;
}

interface Thread {
  worker: Worker;
  /** Nobody waits for it before: it takes half a second to begin. */
  isThere: boolean;
  /** What it draws, by its id. */
  under: Map<number, Waiting>;
}

/** One for all of a process, by what it draws with. */
const threads = new Map<string, Thread>();
let last = 0;

function draw(file: string, log: ProcessLog, given: object): Promise<Drawing> {
  const thread = threads.get(file) ?? open(file, log);
  if (!thread.isThere) return Promise.reject(new Error('the thread that paints pages is not there yet'));
  last += 1;
  const wanted: Wanted = { id: last, given };
  return new Promise((resolve, reject) => {
    thread.under.set(wanted.id, { resolve, reject });
    thread.worker.postMessage(wanted);
  });
}

function open(file: string, log: ProcessLog): Thread {
  const worker = new Worker(new URL('./painterThread.ts', import.meta.url), {
    workerData: { url: pathToFileURL(file).href },
    execArgv: [],
  });
  worker.unref(); // a process that has nothing else to do ends
  const thread: Thread = { worker, isThere: false, under: new Map() };
  threads.set(file, thread);
  worker.on('message', ({ id, drawing, error }: Said) => {
    thread.isThere = true;
    const waiting = thread.under.get(id);
    thread.under.delete(id);
    if (drawing === undefined) waiting?.reject(error);
    else waiting?.resolve(drawing);
  });
  // Whoever it draws for gets the page without; the next one opens another.
  const end = (error: unknown) => {
    if (threads.get(file) === thread) threads.delete(file);
    for (const { reject } of thread.under.values()) reject(error);
    thread.under.clear();
  };
  worker.on('error', (error) => {
    log.error({ err: causesOf(error) }, 'the thread that paints pages has ended');
    end(error);
  });
  worker.on('exit', () => end(new Error('the thread that paints pages has ended')));
  return thread;
}
