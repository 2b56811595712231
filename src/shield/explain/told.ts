import { setTimeout as pause } from 'node:timers/promises';
import { type Context, type Database, type Queryable, statement } from '../../platform/index.ts';

/** Where processes are told that packets were traced for them. */
const channel = 'innkeeper_traces';
/** A message may be missed, as its connection is lost. */
const lookEveryMs = 2_000;

const notify = statement<{ told: string }, { channel: string; id: string }>(
  'shield.tellTraced',
  'select pg_notify(:channel, :id)::text as told',
);

/** Tells who waits for this trace, once what was written with it is there. */
export async function tellTraced(ctx: Context, id: number): Promise<void> {
  await ctx.db.one(notify, { channel, id: String(id) });
}

interface Listening {
  waiting: Map<number, () => void>;
  stop: Promise<() => Promise<void>>;
}

/** One connection for all who wait in a process, which is open while there are any. */
const listenings = new WeakMap<Queryable, Listening>();

/** Looks whenever this trace may be told of, until there is something to see or `signal` says that nobody waits any more: then null. */
export async function untilTold<T>(
  ctx: Context,
  id: number,
  look: () => Promise<T | null>,
  signal: AbortSignal,
): Promise<T | null> {
  const listening = listenings.get(ctx.db) ?? listen(ctx.db as Database);
  let next = Promise.withResolvers<void>();
  const wake = () => next.resolve();
  listening.waiting.set(id, wake);
  signal.addEventListener('abort', wake);
  try {
    while (!signal.aborted) {
      next = Promise.withResolvers();
      const seen = await look();
      if (seen !== null) return seen;
      const late = new AbortController();
      await Promise.race([next.promise, pause(lookEveryMs, undefined, late).catch(() => undefined)]);
      late.abort();
    }
    return null;
  } finally {
    signal.removeEventListener('abort', wake);
    listening.waiting.delete(id);
    if (listening.waiting.size === 0) await stop(ctx.db, listening);
  }
}

function listen(db: Database): Listening {
  const waiting = new Map<number, () => void>();
  const stopped = db.listen(channel, (payload) => {
    if (payload !== '') waiting.get(Number(payload))?.();
    else for (const wake of waiting.values()) wake();
  });
  stopped.catch(() => undefined); // who waits looks by itself
  const listening = { waiting, stop: stopped };
  listenings.set(db, listening);
  return listening;
}

async function stop(db: Queryable, listening: Listening): Promise<void> {
  listenings.delete(db);
  await listening.stop.then((end) => end()).catch(() => undefined);
}
