import type { Context } from '../context.ts';
import type { Drivers } from '../drivers.ts';
import { causesOf } from '../log.ts';
import type { AnySaga } from './saga.ts';
import { startWorker, type Worker } from './worker.ts';
import { lookForWorkers, silentAfterS } from './workers.ts';

const lookEveryMs = 5_000;

/**
 * Does a few kinds of jobs while no worker lives, in a process that otherwise does none: whoever is to be told that the
 * workers are away cannot be told by one. `drivers` has those that these jobs need. Returns how to stop.
 */
export function startStandIn(
  ctx: Context,
  url: string,
  { sagas, drivers }: { sagas: readonly AnySaga[]; drivers: Partial<Drivers> },
): () => Promise<void> {
  let worker: Worker | null = null;
  let turn: Promise<void> | null = null;
  const startedAt = ctx.clock.now();

  const look = async (): Promise<void> => {
    const { living, lastSeenAt } = await lookForWorkers(ctx);
    if (living.length > 0) return leave();
    const silentMs = ctx.clock.now().getTime() - (lastSeenAt ?? startedAt).getTime();
    if (worker !== null || silentMs < silentAfterS * 1_000) return;
    ctx.log.error(
      { last_seen_at: lastSeenAt },
      'no worker runs; until one does, this process sends the mails',
    );
    worker = startWorker(ctx, url, { sagas, drivers: drivers as Drivers, standsIn: true });
  };
  const leave = async (): Promise<void> => {
    if (worker === null) return;
    ctx.log.info({}, 'a worker runs again');
    const gone = worker;
    worker = null;
    await gone.stop();
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
    await worker?.stop();
  };
}
