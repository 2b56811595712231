import { type Context, type TxContext, transaction } from '../context.ts';
import { statement } from '../database/index.ts';

// What is looked at when a transaction ends, such as whether the ledger balances, is looked at before this one is taken back.
const checkAll = statement<{ checked: unknown }>(
  'http.checkConstraints',
  'select check_constraints() as checked',
);

/** Carries the result out of a transaction that is taken back by it. */
class TriedOut extends Error {
  readonly result: unknown;
  constructor(result: unknown) {
    super('this was tried out, and is taken back');
    this.result = result;
  }
}

/**
 * Runs `work` in a transaction that is taken back when it is done: its result, or its failure, is what it would be, and nothing
 * changes. No job starts, since what is enqueued is never committed.
 */
export async function tryOut<C extends Context, T>(
  ctx: C,
  name: string,
  work: (ctx: C & TxContext) => Promise<T>,
): Promise<T> {
  try {
    return await transaction(ctx, name, async (tx) => {
      const result = await work(tx);
      await tx.db.one(checkAll);
      throw new TriedOut(result);
    });
  } catch (error) {
    if (error instanceof TriedOut) return error.result as T;
    throw error;
  }
}
