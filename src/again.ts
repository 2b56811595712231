import { type Context, causesOf } from './platform/index.ts';

/** Something that is done again and again. */
export interface Again {
  /** Resolves when it was done once, or has failed. */
  first: Promise<void>;
  stop(): Promise<void>;
}

/** Does something now and again and again, one turn at a time; a failure is logged. */
export function again(ctx: Context, complaint: string, everyMs: number, work: () => Promise<void>): Again {
  let turn: Promise<void> | null = null;
  const take = () => {
    turn ??= work()
      .catch((error: Error) => ctx.log.warn({ err: causesOf(error) }, complaint))
      .finally(() => {
        turn = null;
      });
  };
  const timer = setInterval(take, everyMs);
  take();
  return {
    first: turn ?? Promise.resolve(),
    stop: async () => {
      clearInterval(timer);
      await turn;
    },
  };
}
