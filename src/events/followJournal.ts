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
  `select pg_notify(:channel, 'new')::text as told`,
);

/** How long it is known whether anybody follows the journal. */
const knownForMs = 5_000;

interface Options {
  /** How many entries come at once, at most. */
  limit?: number;
  /** How often it looks without being told, which is the net under what a message misses; more often as long as nobody knows of it. */
  pollMs?: number;
}

/** Whoever records does not know yet that somebody has begun to listen. */
const unknownForMs = 2 * knownForMs;
const unknownPollMs = 1_000;

/**
 * All entries after one, then each new one a few milliseconds after its commit, until the signal aborts. Pages are in
 * the order of {@link readJournal}. Whoever records an entry pays for it only while somebody follows.
 */
export async function* followJournal(
  ctx: Context & { db: Database },
  after: number,
  signal: AbortSignal,
  { limit = 100, pollMs = 40_000 }: Options = {},
): AsyncGenerator<JournalEntry[]> {
  let next = Promise.withResolvers<void>();
  const wake = () => next.resolve();
  let begunAtMs = performance.now();
  const stop = await ctx.db.listen(channel, (news) => {
    if (news === '') begunAtMs = performance.now(); // it listens from now on, maybe anew
    wake();
  });
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
      const isUnknown = performance.now() - begunAtMs < unknownForMs;
      const waitMs = isUnknown ? Math.min(unknownPollMs, pollMs) : pollMs;
      if (page.length < limit && !signal.aborted) await told(next.promise, waitMs);
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
/** Of each product of this process: whoever reads in another one. */
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
 * Tells whoever follows the journal from another process of new entries. Whether there is anybody is looked at when there is
 * something to tell, and known for a few seconds: who has nothing to tell asks for nothing.
 */
export function startTellingReaders(ctx: Context, lookMs = knownForMs): () => Promise<void> {
  let sending: Promise<unknown> | null = null;
  let again = false;
  let isListened = false;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  const mayBeListened = async (): Promise<boolean> => {
    if (performance.now() - lookedAtMs < lookMs) return isListened;
    const at = performance.now();
    isListened = (await ctx.db.one(isListenedTo, { channel })).listened;
    lookedAtMs = at;
    return isListened;
  };
  const send = async (): Promise<void> => {
    do {
      again = false;
      if (await mayBeListened()) await ctx.db.one(tell, { channel });
      await pause(gatherMs);
    } while (again);
  };
  const teller = () => {
    if (!isListened && performance.now() - lookedAtMs < lookMs) return;
    again = true;
    sending ??= send()
      .catch((error: Error) =>
        ctx.log.debug({ err: causesOf(error) }, 'readers of the journal were not told'),
      )
      .finally(() => {
        sending = null;
      });
  };
  tellers.add(teller);
  return async () => {
    tellers.delete(teller);
    await sending;
  };
}
