import { attempt, type TxContext } from './context.ts';

/** What a rehearsal ends with. It carries the answer out of what is taken back. */
class CurtainFall<T> extends Error {
  readonly answer: T;
  constructor(answer: T) {
    super('a rehearsal is taken back');
    this.answer = answer;
  }
}

/**
 * Does something, takes all of it back, and says what the answer was: so what a dry run shows cannot differ from what
 * happens then. Nothing is told to anybody, since jobs and the journal are taken back as well; failures are real.
 */
export async function rehearse<C extends TxContext, T>(tx: C, work: (tx: C) => Promise<T>): Promise<T> {
  try {
    return await attempt(tx, async (inner): Promise<never> => {
      throw new CurtainFall(await work(inner));
    });
  } catch (error) {
    if (error instanceof CurtainFall) return error.answer;
    throw error;
  }
}
