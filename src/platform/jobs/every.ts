import { type Context, type TxContext, transaction } from '../context.ts';
import { statement } from '../database/index.ts';

const takeTurn = statement<{ mine: boolean }>(
  'jobs.takeTurn',
  'select pg_try_advisory_xact_lock(741102, hashtext($1)) as mine',
);

/** Something the product does again and again, whoever asks: expire, sweep, sample. */
export interface Routine {
  name: string;
  intervalMs: number;
  /** In a transaction, unless `outside`. Only one process of the product does it at a time. */
  work: (ctx: TxContext) => Promise<unknown>;
}

/** Starts the routines. A failure is logged and the next turn comes as usual. Returns how to stop. */
export function startRoutines(ctx: Context, routines: Routine[]): () => Promise<void> {
  const running = new Set<Promise<void>>();
  const timers = routines.map((routine) => {
    let busy = false;
    return setInterval(() => {
      if (busy) return;
      busy = true;
      const turn = runRoutine(ctx, routine)
        .catch((error: Error) =>
          ctx.log.warn({ routine: routine.name, err: error.message }, 'a routine failed'),
        )
        .finally(() => {
          busy = false;
          running.delete(turn);
        });
      running.add(turn);
    }, routine.intervalMs);
  });
  return async () => {
    for (const timer of timers) clearInterval(timer);
    await Promise.allSettled(running);
  };
}

/** Does a routine's work now, unless another process is at it. */
export async function runRoutine(ctx: Context, routine: Routine): Promise<void> {
  await transaction(ctx, routine.name, async (tx) => {
    const { mine } = await tx.db.one(takeTurn, routine.name);
    if (mine) await routine.work(tx);
  });
}
