import { setTimeout as pause } from 'node:timers/promises';
import { type Context, causesOf, type Database, statement } from '../platform/index.ts';
import { type JournalEntry, readJournal } from './readJournal.ts';

/** Where processes tell each other that there are new entries. */
const channel = 'innkeeper_journal';

const isListenedTo = statement<{ listened: boolean }, { channel: string }>(
  'events.isListenedTo',
  `select exists (
     select 1 from pg_locks where locktype = 'advisory' and classid = 741105
       and objid::bigint = hashtext(:channel)::bigint & 4294967295
       and database = (select oid from pg_database where datname = current_database())
   ) as listened`,
);
const tell = statement<{ told: string }, { channel: string }>(
  'events.tellReaders',
  `select pg_notify(:channel, '')::text as told`,
);

interface Options {
  /** How many entries come at once, at most. */
  limit?: number;
  /** How often it looks without being told, which is the net under what a message misses. */
  pollMs?: number;
}

/**
 * All entries after one, then each new one a few milliseconds after its commit, until the signal aborts. Pages are in
 * the order of {@link readJournal}. Whoever records an entry pays for it only while somebody follows.
 */
export async function* followJournal(
  ctx: Context & { db: Database },
  after: number,
  signal: AbortSignal,
  { limit = 100, pollMs = 1_000 }: Options = {},
): AsyncGenerator<JournalEntry[]> {
  let next = Promise.withResolvers<void>();
  const wake = () => next.resolve();
  const stop = await ctx.db.listen(channel, wake);
  readersHere.add(wake);
  signal.addEventListener('abort', wake);
  try {
    for (let at = after; !signal.aborted; ) {
      next = Promise.withResolvers();
      const page = await readJournal(ctx, at, limit, signal);
      // Whoever stopped meanwhile goes on elsewhere, from where it was.
      if (signal.aborted) return;
      at = page.at(-1)?.id ?? at;
      if (page.length > 0) yield page;
      if (page.length < limit && !signal.aborted) await told(next.promise, pollMs);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    readersHere.delete(wake);
    signal.removeEventListener('abort', wake);
    await stop();
  }
}

/** Waits until a reader is told, or for so long. */
async function told(next: Promise<void>, pollMs: number): Promise<void> {
  const late = new AbortController();
  const look = pause(pollMs, undefined, { ref: false, signal: late.signal }).catch(() => undefined);
  await Promise.race([next, look]);
  late.abort();
}

const readersHere = new Set<() => void>();
/** Set by each product of this process while somebody reads in another one. */
const tellers = new Set<() => void>();

/** Whether anybody has to be told of new entries. */
export function isFollowed(): boolean {
  return readersHere.size > 0 || tellers.size > 0;
}

/** Tells them. After the commit: readers look at once. */
export function tellReaders(): void {
  for (const wake of readersHere) wake();
  for (const teller of tellers) teller();
}

const gatherMs = 10;

/**
 * Looks every few seconds whether anybody follows the journal from another process, and tells them of new entries as
 * long as there is somebody. Until that is noticed they find the entries by looking themselves.
 */
export function startTellingReaders(ctx: Context, lookMs = 5_000): () => Promise<void> {
  let sending: Promise<unknown> | null = null;
  let again = false;
  const send = async (): Promise<void> => {
    do {
      again = false;
      await ctx.db.one(tell, { channel });
      await pause(gatherMs);
    } while (again);
  };
  const teller = () => {
    again = true;
    sending ??= send()
      .catch((error: Error) =>
        ctx.log.debug({ err: causesOf(error) }, 'readers of the journal were not told'),
      )
      .finally(() => {
        sending = null;
      });
  };
  let looking: Promise<void> | null = null;
  const look = async () => {
    const { listened } = await ctx.db.one(isListenedTo, { channel });
    if (listened) tellers.add(teller);
    else tellers.delete(teller);
  };
  const timer = setInterval(() => {
    looking ??= look()
      .catch((error: Error) =>
        ctx.log.debug({ err: causesOf(error) }, 'it is not known who reads the journal'),
      )
      .finally(() => {
        looking = null;
      });
  }, lookMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await looking;
    tellers.delete(teller);
    await sending;
  };
}
