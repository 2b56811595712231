import { type Context, type TxContext, transaction } from '../context.ts';
import { statement } from '../database/index.ts';
import { startLeading } from '../database/lead.ts';
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
   * In a transaction; only one process of the product does it at a time. Answers `more` when it did only a batch
   * and there may be another: that one follows at once, in a transaction of its own.
   */
  work: (ctx: TxContext) => Promise<unknown>;
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
  url: string,
  periodicJobs: PeriodicJob[],
): () => Promise<void> {
  const lead = async (signal: AbortSignal): Promise<void> => {
    const stop = startPeriodicJobs(ctx, periodicJobs);
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await stop();
  };
  return startLeading(url, 'periodic', lead, ctx.log);
}

/** Does a periodic job's work now, unless another process is at it; `signal` ends it after the batch under way. */
export async function runPeriodicJob(ctx: Context, job: PeriodicJob, signal?: AbortSignal): Promise<void> {
  await keepAlive(ctx);
  let answer: unknown;
  do {
    answer = await transaction(ctx, job.name, async (tx) => {
      const { mine } = await tx.db.one(takeTurn, { name: job.name });
      return mine ? job.work(tx) : 'not mine';
    });
  } while (answer === 'more' && !signal?.aborted);
}
