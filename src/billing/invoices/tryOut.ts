import { attempt, type TxContext } from '../../platform/index.ts';

/** Does something, says what came of it, and takes it back: what a dry run shows is what would have been. */
export async function tryOut<T>(tx: TxContext, work: (trial: TxContext) => Promise<T>): Promise<T> {
  const trial: { outcome?: { value: T } } = {};
  await attempt(tx, async (inner) => {
    trial.outcome = { value: await work(inner) };
    throw takenBack;
  }).catch((error: unknown) => {
    if (error !== takenBack) throw error;
  });
  if (trial.outcome === undefined) throw new Error('what was tried out came to no end');
  return trial.outcome.value;
}

const takenBack = new Error('this was only tried out');

/** Of a document that was only tried out: it is nobody's, and there is none. */
export const notIssued = { id: null, number: null, payment_reference: null };
