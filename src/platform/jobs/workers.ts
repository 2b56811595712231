import os from 'node:os';
import type { Config } from '../../config.ts';
import type { HealthCheck } from '../attention.ts';
import type { Context } from '../context.ts';
import { statement } from '../database/index.ts';

/** A worker, and the node it serves, that was not heard of for so long counts as away. */
export const silentAfterS = 60;
const beatEveryMs = 10_000;
/** A time that lies further ahead was written by a clock that was wrong; hosts differ by less. */
export const aheadMs = 60_000;
const forgetAfterMs = 24 * 3_600_000;

/** First key of the advisory locks by which workers show that they live; the second is the worker's number. */
export const livenessClass = 741_101;

const enter = statement<
  { number: number },
  {
    number: number;
    name: string;
    host: string;
    nodes: number[];
    kinds: string | null;
    now: Date;
    before: Date;
  }
>(
  'jobs.enterWorker',
  `with forgotten as (delete from workers where seen_at < :before and number <> :number)
   insert into workers (number, name, host, nodes, kinds, started_at, seen_at)
   values (:number, :name, :host, :nodes, :kinds, :now, :now)
   on conflict (number) do update set name = excluded.name, host = excluded.host, nodes = excluded.nodes, kinds = excluded.kinds,
     started_at = excluded.started_at, seen_at = excluded.seen_at returning number`,
);
/**
 * Sent over the connection that shows that the worker lives, which so says something as well. It learns by it which workers live that know the
 * same kinds of jobs, itself among them.
 */
export const beat = statement<{ peers: number[] }, { number: number; now: Date; livenessClass: number }>(
  'jobs.beat',
  `with beaten as (update workers set seen_at = :now where number = :number returning kinds)
   select to_jsonb(array(select w.number from workers w join pg_locks l on l.locktype = 'advisory' and l.classid = :livenessClass::int::oid
       and l.objid = w.number::oid and l.objsubid = 2 and l.granted
       and l.database = (select oid from pg_database where datname = current_database())
     where w.kinds = (select kinds from beaten) order by w.number)) as peers`,
);

const correct = statement<never, { now: Date; ahead: Date }>(
  'jobs.correctWorkers',
  'update workers set seen_at = :now where seen_at > :ahead',
);

interface WorkerRow {
  name: string;
  host: string;
  nodes: number[];
  seen_at: Date;
  holds_lock: boolean;
}

const workersSeen = statement<WorkerRow, { livenessClass: number }>(
  'jobs.workersSeen',
  `select name, host, to_jsonb(nodes) as nodes, seen_at, exists (
     select 1 from pg_locks l where l.locktype = 'advisory' and l.classid = :livenessClass::int::oid
       and l.objid = number::oid and l.objsubid = 2 and l.granted
       and l.database = (select oid from pg_database where datname = current_database())) as holds_lock
   from workers order by seen_at desc, number desc limit 1000`,
);

/** A worker that lives: it holds its lock, and was heard of. */
export interface LivingWorker {
  name: string;
  host: string;
  nodes: number[];
  seenAt: Date;
}

/**
 * Who does jobs at the moment. `lastSeenAt`: when any worker was heard of last; null when there never was one. A sign of
 * life from the future counts from now on: one that died would seem to live for as long as the clock was ahead.
 */
export async function lookForWorkers(
  ctx: Context,
  now = ctx.clock.now(),
): Promise<{ living: LivingWorker[]; lastSeenAt: Date | null }> {
  const rows = await ctx.db.many(workersSeen, { livenessClass });
  // By the clock as it is after they were read: it may have jumped since the look began, and one of them may have beaten.
  const ahead = new Date(ctx.clock.now().getTime() + aheadMs);
  const wrong = rows.filter((row) => row.seen_at > ahead);
  if (wrong.length > 0) await ctx.db.run(correct, { now, ahead });
  for (const row of wrong) row.seen_at = now;
  const oldest = now.getTime() - silentAfterS * 1_000;
  const living = rows
    // The lock tells at once of a process that died; the time tells of one that hangs, or of a host without power.
    .filter((row) => row.holds_lock && row.seen_at.getTime() >= oldest)
    .map(({ name, host, nodes, seen_at: seenAt }) => ({ name, host, nodes, seenAt }));
  return { living, lastSeenAt: rows[0]?.seen_at ?? null };
}

const lastOfNode = statement<{ host: string; seen_at: Date }, { nodeId: number }>(
  'jobs.lastOfNode',
  'select host, seen_at from workers where :nodeId = any(nodes) order by seen_at desc, number desc limit 1',
);

/** The host whose worker served a node last, and when it was heard of; null when nobody was within a day. */
export async function lastServing(
  ctx: Context,
  nodeId: number,
): Promise<{ host: string; seenAt: Date } | null> {
  const found = await ctx.db.maybe(lastOfNode, { nodeId });
  return found === null ? null : { host: found.host, seenAt: found.seen_at };
}

/** Says that a worker has begun to live, and forgets those that nobody heard of for a day. `kinds`: what it knows, in a word. */
export async function enterWorker(
  ctx: Context,
  number: number,
  nodes: readonly number[],
  kinds: string | null = null,
): Promise<void> {
  const now = ctx.clock.now();
  await ctx.db.one(enter, {
    number,
    name: ctx.config.nodeName,
    host: os.hostname(),
    nodes: [...nodes],
    kinds,
    now,
    before: new Date(now.getTime() - forgetAfterMs),
  });
}

interface Heart {
  beatAtMs: number;
  isWell: () => boolean;
  /** Writes down that it lives. */
  beat: (now: Date) => Promise<void>;
}

/** The workers of this process, by the product that they belong to: tests run several. */
const hearts = new WeakMap<Config, Set<Heart>>();

/** Has {@link keepAlive} say that a worker of this process lives, as long as `isWell`, by its `beat`. Returns how to end that. */
export function addHeart(ctx: Context, isWell: () => boolean, beat: Heart['beat']): () => void {
  const own = hearts.get(ctx.config) ?? new Set();
  hearts.set(ctx.config, own);
  const heart = { beatAtMs: ctx.clock.now().getTime(), isWell, beat };
  own.add(heart);
  return () => own.delete(heart);
}

/**
 * Writes down that the workers of this process live, if it is time to. Whatever looks for silence does this first: a
 * process that slept through its own turns must not take itself for dead.
 */
export async function keepAlive(ctx: Context, now = ctx.clock.now()): Promise<void> {
  for (const heart of hearts.get(ctx.config) ?? []) {
    if (Math.abs(now.getTime() - heart.beatAtMs) < beatEveryMs || !heart.isWell()) continue;
    await heart.beat(now);
    // Not before: whoever looks for silence meanwhile would read what was written long ago, and not beat for itself.
    heart.beatAtMs = now.getTime();
  }
}

/** Whether anybody does jobs. */
export const workersCheck: HealthCheck = {
  name: 'workers',
  look: async (ctx) => {
    const { living, lastSeenAt } = await lookForWorkers(ctx);
    if (living.length > 0) return null;
    const last = lastSeenAt === null ? '' : ` The last one was heard of at ${lastSeenAt.toISOString()}.`;
    return `No worker runs, so nothing is delivered.${last} Start the process with ROLE=worker, or look at why it hangs.`;
  },
};
