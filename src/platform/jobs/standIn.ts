import type { Context } from '../context.ts';
import type { Drivers } from '../drivers.ts';
import { causesOf } from '../log.ts';
import type { AnySaga } from './saga.ts';
import { startWorker, type Worker } from './worker.ts';
import { lookForWorkers, silentAfterS } from './workers.ts';

const lookEveryMs = 5_000;

const nothing: readonly AnySaga[] = [];

interface StandIn {
  /** What it does while no worker lives; empty in a process that has one of its own. */
  whileSilent: readonly AnySaga[];
  /** What it does while workers do nothing, because the database is not where it was: it may be a copy, so nothing for customers. */
  whileHeld: readonly AnySaga[];
  /** Those that these jobs need. */
  drivers: Partial<Drivers>;
  isWhereItWas: () => Promise<boolean>;
  /** Whether a worker of this process does jobs at the moment: then the database is where it was, or its connection would be gone. */
  isWorking?: () => boolean;
}

/**
 * Does a few kinds of jobs while no worker lives or none may work: whoever is to be told of that cannot be told by one. Returns how
 * to stop.
 */
export function startStandIn(
  ctx: Context,
  url: string,
  { whileSilent, whileHeld, drivers, isWhereItWas, isWorking = () => false }: StandIn,
): () => Promise<void> {
  let standing: { sagas: readonly AnySaga[]; worker: Worker } | null = null;
  let turn: Promise<void> | null = null;
  const startedAt = ctx.clock.now();

  const look = async (): Promise<void> => {
    const sagas = await wanted();
    if (sagas === standing?.sagas) return;
    await leave();
    if (sagas.length === 0) return;
    const options = { sagas, drivers: drivers as Drivers, standsIn: true };
    const worker = startWorker(
      ctx,
      url,
      sagas === whileHeld ? options : { ...options, mayWork: isWhereItWas },
    );
    standing = { sagas, worker };
  };
  const wanted = async (): Promise<readonly AnySaga[]> => {
    if (isWorking()) return nothing;
    if (!(await isWhereItWas())) {
      if (standing?.sagas !== whileHeld)
        ctx.log.warn({}, 'while no jobs are done, this process sends the mails to staff');
      return whileHeld;
    }
    if (whileSilent.length === 0) return nothing;
    const { living, lastSeenAt } = await lookForWorkers(ctx);
    if (living.length > 0) return nothing;
    if (standing?.sagas === whileSilent) return whileSilent;
    const silentMs = ctx.clock.now().getTime() - (lastSeenAt ?? startedAt).getTime();
    if (silentMs < silentAfterS * 1_000) return nothing;
    ctx.log.error(
      { last_seen_at: lastSeenAt },
      'no worker runs; until one does, this process sends the mails',
    );
    return whileSilent;
  };
  const leave = async (): Promise<void> => {
    if (standing === null) return;
    ctx.log.info({}, 'workers do this again');
    const { worker } = standing;
    standing = null;
    await worker.stop();
  };

  const timer = setInterval(() => {
    turn ??= look()
      .catch((error: Error) => ctx.log.warn({ err: causesOf(error) }, 'it could not be seen who does jobs'))
      .finally(() => {
        turn = null;
      });
  }, lookEveryMs);
  return async () => {
    clearInterval(timer);
    await turn;
    await standing?.worker.stop();
  };
}
