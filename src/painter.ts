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
 * that paints nothing. What cannot be painted, or not soon, is left to the page's scripts, which say what is wrong.
 */
export async function openPainter(file: string, log: ProcessLog): Promise<Paint | undefined> {
  const isBuilt = await access(file).then(
    () => true,
    () => false,
  );
  if (!isBuilt) return undefined;
  const paintServices = async (thread: Thread, ask: Ask, shown: Shown): Promise<Painted | null> => {
    const read = await readServices(ask, shown);
    const drawing = read && (await draw(thread, read.personId, read.given));
    return drawing && { ...drawing, answers: read.answers };
  };
  return (where, shown, ask) => {
    if (where !== '/services') return null;
    const thread = threadFor(file, log);
    // Before anything is asked for, which the scripts would ask for again.
    return thread === null || !hasRoom(thread) ? null : paintServices(thread, ask, shown);
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
  const given = { brand, account, organizations, organizationId, services, scheme };
  return { personId: account.user.id as number, given, answers };
}

interface Answer {
  target: string;
  body: string | null;
}

const areAll = (answers: Answer[]): answers is (Answer & { body: string })[] =>
  answers.every(({ body }) => body !== null);

/** So many are drawn while somebody waits for the last of them: who came after them would wait in vain. */
const mostUnder = 8;
/** A page takes some ten milliseconds, and the largest that somebody can fill up thirty. */
const hangsAfterMs = 3_000;
/** One that has ended may do so again, and each begins with half a second of a processor. */
const restMs = 5_000;
/** Ten times what it takes. */
const resourceLimits = { maxOldGenerationSizeMb: 256 };

interface Waiting {
  personId: number;
  tooLate: NodeJS.Timeout;
  resolve: (drawing: Drawing) => void;
  reject: (error: unknown) => void;
}

interface Thread {
  worker: Worker;
  /** Nobody waits for it before: it takes half a second to begin. */
  isThere: boolean;
  /** When it ended, by `performance.now()`. */
  endedAt: number | null;
  /** What it draws, by its id. */
  under: Map<number, Waiting>;
}

const hasRoom = ({ isThere, endedAt, under }: Thread) =>
  isThere && endedAt === null && under.size < mostUnder;

/** One for all of a process, by what it draws with. */
const threads = new Map<string, Thread>();
let last = 0;

/** Null while the one before rests. */
function threadFor(file: string, log: ProcessLog): Thread | null {
  const thread = threads.get(file);
  if (thread !== undefined && thread.endedAt === null) return thread;
  if (thread?.endedAt != null && performance.now() - thread.endedAt < restMs) return null;
  return open(file, log);
}

/** Null where others wait already, or the same person for another page: one after the other is drawn, and somebody may ask for hundreds. */
function draw(thread: Thread, personId: number, given: object): Promise<Drawing> | null {
  const isTheirs = [...thread.under.values()].some((each) => each.personId === personId);
  if (!hasRoom(thread) || isTheirs) return null;
  last += 1;
  const wanted: Wanted = { id: last, given };
  return new Promise((resolve, reject) => {
    const tooLate = setTimeout(() => void thread.worker.terminate(), hangsAfterMs);
    thread.under.set(wanted.id, { personId, tooLate, resolve, reject });
    thread.worker.postMessage(wanted);
  });
}

function open(file: string, log: ProcessLog): Thread {
  const worker = new Worker(new URL('./painterThread.ts', import.meta.url), {
    workerData: { url: pathToFileURL(file).href },
    execArgv: [],
    resourceLimits,
  });
  worker.unref(); // a process that has nothing else to do ends
  const thread: Thread = { worker, isThere: false, endedAt: null, under: new Map() };
  threads.set(file, thread);
  worker.on('message', ({ id, drawing, error }: Said) => {
    thread.isThere = true;
    const waiting = thread.under.get(id);
    thread.under.delete(id);
    clearTimeout(waiting?.tooLate);
    if (drawing === undefined) waiting?.reject(error);
    else waiting?.resolve(drawing);
  });
  worker.on('error', (error) =>
    log.error({ err: causesOf(error) }, 'the thread that paints pages has failed'),
  );
  // Whoever it draws for gets the page without.
  worker.on('exit', () => {
    thread.endedAt = performance.now();
    if (thread.under.size > 0)
      log.error({ pages: thread.under.size }, 'the thread that paints pages has ended');
    for (const { reject, tooLate } of thread.under.values()) {
      clearTimeout(tooLate);
      reject(new Error('the thread that paints pages has ended'));
    }
    thread.under.clear();
  });
  return thread;
}
