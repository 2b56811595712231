import pg from 'pg';
import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { onEnqueued } from './enqueue.ts';
import { claimJobs, type JobRow, newWorkerNumber, postpone, releaseOrphans } from './queries.ts';
import { ClaimLost, runJob } from './run.ts';
import type { AnySaga } from './saga.ts';

export interface WorkerOptions {
  /** How many jobs run side by side. */
  concurrency?: number;
  /** How often the worker looks for itself; a commit in this process wakes it at once. */
  pollMs?: number;
}

export interface Worker {
  /** Lets running steps finish, up to `timeoutMs`, and takes no new ones. */
  stop(timeoutMs?: number): Promise<void>;
}

// First key of the advisory locks by which workers show that they live.
const livenessClass = 741_101;

/** A claim on life: as long as the connection stands, the jobs of `number` are being worked on. */
interface Liveness {
  number: number;
  signal: AbortSignal;
  end(): Promise<void>;
}

/**
 * Runs jobs until stopped. When the process dies, or only its connection to the database, the database lets
 * go of its advisory lock and the next look of any worker gives the jobs back: recovery takes as long as one
 * poll, not a timeout.
 */
export function startWorker(
  ctx: Context,
  url: string,
  sagas: AnySaga[],
  options: WorkerOptions = {},
): Worker {
  const concurrency = options.concurrency ?? 8;
  const pollMs = options.pollMs ?? 1_000;
  const byName = new Map(sagas.map((saga) => [saga.name, saga]));
  const running = new Set<Promise<void>>();
  let stopped = false;
  let wake: () => void = () => undefined;
  const stopListening = onEnqueued(() => wake());

  const loop = async (): Promise<void> => {
    while (!stopped) {
      let liveness: Liveness | null = null;
      try {
        liveness = await showLife(ctx, url);
        await workWhileAlive(liveness);
      } catch (error) {
        if (!(error instanceof AppError)) ctx.log.error({ err: error }, 'the worker stumbled');
      }
      await Promise.allSettled(running); // their claims are gone; nothing of them may overlap the next life
      await liveness?.end();
      if (!stopped) await sleep(250);
    }
  };

  const workWhileAlive = async (liveness: Liveness): Promise<void> => {
    while (!stopped && !liveness.signal.aborted) {
      const orphans = await ctx.db.many(releaseOrphans, livenessClass);
      if (orphans.length > 0) ctx.log.info({ jobs: orphans }, 'going on with jobs of a worker that is gone');
      await fill(liveness);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        liveness.signal.addEventListener('abort', wake, { once: true });
      });
    }
  };

  const fill = async (liveness: Liveness): Promise<void> => {
    const room = concurrency - running.size;
    if (room <= 0) return;
    const jobs = await ctx.db.many(claimJobs, liveness.number, ctx.clock.now(), room);
    for (const job of jobs) {
      const saga = byName.get(job.name);
      const work = saga
        ? runJob(ctx, job, saga, liveness.number, liveness.signal)
        : Promise.reject(new Error(`nobody knows the job ${job.name}`));
      const tracked: Promise<void> = work
        .catch((error: unknown) => {
          if (error instanceof ClaimLost || liveness.signal.aborted) return;
          ctx.log.error({ err: error, job: job.id, name: job.name }, 'a job stopped without an end');
          return giveBack(ctx, job, liveness.number);
        })
        .finally(() => {
          running.delete(tracked);
          wake();
        });
      running.add(tracked);
    }
  };

  const finished = loop();
  return {
    stop: async (timeoutMs = 5_000) => {
      stopped = true;
      stopListening();
      wake();
      await Promise.race([finished, sleep(timeoutMs)]);
    },
  };
}

/** After an error of ours, not of a step: the job comes back later instead of staying ours forever. */
async function giveBack(ctx: Context, job: JobRow, worker: number): Promise<void> {
  const later = new Date(ctx.clock.now().getTime() + 10_000);
  await ctx.db
    .run(postpone, job.id, worker, later, job.error_step ?? '', 'internal_error', 'see the log')
    .catch(() => undefined); // without a database the liveness ends, and with it the claim
}

async function showLife(ctx: Context, url: string): Promise<Liveness> {
  const { number } = await ctx.db.one(newWorkerNumber);
  const abort = new AbortController();
  const client = new pg.Client({
    connectionString: url,
    keepAlive: true,
    application_name: 'innkeeper worker',
  });
  client.on('error', () => undefined); // 'end' follows
  client.on('end', () => abort.abort(new ClaimLost()));
  await client.connect();
  await client.query('select pg_advisory_lock($1, $2)', [livenessClass, number]);
  return { number, signal: abort.signal, end: () => client.end().catch(() => undefined) };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
