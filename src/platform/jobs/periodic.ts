import { setTimeout as pause } from 'node:timers/promises';
import { type Context, type TxContext, transaction } from '../context.ts';
import { type Statement, statement } from '../database/index.ts';
import type { AskLeading, Leading } from '../database/lead.ts';
import { causesOf } from '../log.ts';
import { keepAlive } from './workers.ts';

const takeTurn = statement<{ mine: boolean }, { name: string }>(
  'jobs.takeTurn',
  'select pg_try_advisory_xact_lock(741102, hashtext(:name)) as mine',
);

/** Something the product does again and again, whoever asks: expire, sweep, sample. */
export interface PeriodicJob {
  name: string;
  intervalMs: number;
  /** It goes on while the clock is not believed (see `installationClock.ts`), since a wrong time does it no harm. Otherwise it waits. */
  anyTime?: true;
  /**
   * When there is something to do next, as far as it is known by now; null: nothing is. One that says so is begun when it is time, at most
   * every `intervalMs`, and costs nothing meanwhile: all are asked for in one statement ({@link glanceAt}).
   */
  due?: Due;
  /** Besides, it is done so often: for what `due` cannot know of. */
  netMs?: number;
  /** Whether it has anything to do, asked before its transaction begins: mostly one that finds nothing would be three statements more. */
  isNeeded?: (ctx: Context) => Promise<boolean>;
  /**
   * In a transaction; only one process of the product does it at a time. Answers `more` when it did only a batch
   * and there may be another: that one follows at once, in a transaction of its own.
   */
  work: (ctx: TxContext) => Promise<unknown>;
}

/** SQL for a moment, maybe of `:now`, that looks at a few rows of an index. */
type Due = Statement<{ at: Date | null }, { now: Date }> | Statement<{ at: Date | null }>;

/** When each of several periodic jobs has something to do next. */
export type Glance = Statement<{ name: string; at: Date | null }, { now: Date }>;

/** One statement that asks all periodic jobs that say when they are due. */
export function glanceAt(name: string, periodicJobs: readonly PeriodicJob[]): Glance {
  const each = periodicJobs.flatMap(({ name: job, due }) => {
    if (due === undefined) return [];
    const sql = due.text.replace(/\$(\d+)/g, (_, at: string) => `:${due.names[Number(at) - 1]}`);
    return [`select '${job}' as name, (${sql})::timestamptz as at`];
  });
  return statement(
    name,
    `${each.join('\nunion all ')}\nunion all select '', null where :now::timestamptz is null`,
  );
}

/** Starts the periodic jobs. A failure is logged and the next turn comes as usual. Returns how to stop. */
export function startPeriodicJobs(ctx: Context, periodicJobs: PeriodicJob[]): () => Promise<void> {
  const running = new Set<Promise<void>>();
  const halt = new AbortController();
  const timers = periodicJobs.map((job) => {
    let busy = false;
    return setInterval(() => {
      if (busy) return;
      busy = true;
      const turn = runPeriodicJob(ctx, job, halt.signal)
        .catch((error: Error) =>
          ctx.log.warn({ job: job.name, err: causesOf(error) }, 'a periodic job failed'),
        )
        .finally(() => {
          busy = false;
          running.delete(turn);
        });
      running.add(turn);
    }, job.intervalMs);
  });
  return async () => {
    halt.abort();
    for (const timer of timers) clearInterval(timer);
    await Promise.allSettled(running);
  };
}

/**
 * The same by one process of the product alone, so that the others ask for nothing: ten that have nothing to do would ask ten times as
 * often as one. Another one goes on within seconds of its end. Returns how to stop.
 */
export function leadPeriodicJobs(
  ctx: Context,
  leading: Leading,
  periodicJobs: PeriodicJob[],
  glance: Glance,
): () => Promise<void> {
  // By a clock that is moved on purpose anything may be due at any moment.
  const isTold = ({ due }: PeriodicJob) => due !== undefined && !ctx.clock.isDriven;
  const lead = async (signal: AbortSignal, ask: AskLeading): Promise<void> => {
    const stop = startPeriodicJobs(
      ctx,
      periodicJobs.filter((job) => !isTold(job)),
    );
    const look = (now: Date) => ask(glance, { now });
    await doWhenDue(ctx, periodicJobs.filter(isTold), look, signal);
    await stop();
  };
  return leading.start('periodic', lead);
}

/** Does a periodic job's work now, unless another process is at it; `signal` ends it after the batch under way. */
export async function runPeriodicJob(ctx: Context, job: PeriodicJob, signal?: AbortSignal): Promise<void> {
  await keepAlive(ctx);
  if (job.isNeeded !== undefined && !(await job.isNeeded(ctx))) return;
  let answer: unknown;
  do {
    answer = await transaction(ctx, job.name, async (tx) => {
      const { mine } = await tx.db.one(takeTurn, { name: job.name });
      return mine ? job.work(tx) : 'not mine';
    });
  } while (answer === 'more' && !signal?.aborted);
}

const glanceEveryMs = 5_000;
/** What is due is found, done, and looked for again no sooner than this. */
const soonestMs = 1_000;

/**
 * Looks every few seconds, or when the next one is due if that is sooner, and does those that are, until the signal aborts. `look`: when
 * each of them is due.
 */
export async function doWhenDue(
  ctx: Context,
  periodicJobs: readonly PeriodicJob[],
  look: (now: Date) => Promise<{ name: string; at: Date | null }[]>,
  signal: AbortSignal,
): Promise<void> {
  const named = new Map(periodicJobs.map((job) => [job.name, job]));
  const running = new Map<string, Promise<void>>();
  const begunAtMs = new Map<string, number>();
  const begin = (job: PeriodicJob): void => {
    begunAtMs.set(job.name, performance.now());
    const turn = runPeriodicJob(ctx, job, signal)
      .catch((error: Error) => ctx.log.warn({ job: job.name, err: causesOf(error) }, 'a periodic job failed'))
      .finally(() => running.delete(job.name));
    running.set(job.name, turn);
  };
  /** Begins it if it is time to; in how long it may be otherwise. */
  const consider = (job: PeriodicJob, dueInMs: number): number => {
    const sinceMs = performance.now() - (begunAtMs.get(job.name) ?? Number.NEGATIVE_INFINITY);
    const netInMs = (job.netMs ?? Number.POSITIVE_INFINITY) - sinceMs;
    const inMs = Math.max(Math.min(dueInMs, netInMs), job.intervalMs - sinceMs);
    if (inMs > 0) return inMs;
    if (!running.has(job.name)) begin(job);
    return job.intervalMs;
  };
  while (!signal.aborted) {
    let nextMs = glanceEveryMs;
    try {
      const now = ctx.clock.now();
      for (const { name, at } of await look(now)) {
        const job = named.get(name);
        if (job === undefined || signal.aborted) continue;
        const dueInMs = at === null ? Number.POSITIVE_INFINITY : at.getTime() - now.getTime();
        nextMs = Math.min(nextMs, consider(job, dueInMs));
      }
    } catch (error) {
      ctx.log.warn({ err: causesOf(error as Error) }, 'it could not be seen what is due');
    }
    await pause(Math.max(nextMs, soonestMs), undefined, { signal }).catch(() => undefined);
  }
  await Promise.allSettled(running.values());
}
