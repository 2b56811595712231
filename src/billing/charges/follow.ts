import type { About, MethodTruth, PaymentTruth, PayoutTruth } from '../../drivers/payments/index.ts';
import { type Run, saga, type TxRun } from '../../platform/index.ts';
import { keepMethod, noteGone } from '../methods/keep.ts';
import { bookPayout } from '../payouts/book.ts';
import { bookPayment } from './book.ts';
import { forgetPage } from './charge.ts';
import { requireOurAccount } from './customer.ts';
import { providerOutages } from './provider.ts';

interface Payload {
  about: About;
}

interface State {
  /** A page that is over, or is not known there, and cannot be used any more. */
  page: string;
  payment: PaymentTruth;
  method: MethodTruth;
  /** A method that the provider does not know any more. */
  goneMethod: string;
  payout: PayoutTruth;
}

/**
 * Looks at something at the payment provider and books how it stands now. An event only says where to look, so events may
 * come late, twice and in any order.
 */
export const followProvider = saga<Payload, State>({
  name: 'billing.followProvider',
  outages: providerOutages,
  steps: [
    { name: 'look', do: look, attempts: 12 },
    { name: 'book', transactional: true, do: book },
  ],
});

async function look({ ctx, drivers, payload }: Run<Payload, State>): Promise<Partial<State>> {
  const seen = await drivers.payments.look(payload.about);
  if (seen?.kind === 'payment') return { payment: seen };
  if (seen?.kind === 'method') return { method: seen };
  if (seen?.kind === 'payout') return { payout: seen };
  if (seen === null) {
    const { kind, reference } = payload.about;
    await requireOurAccount(ctx, drivers.payments, payload.about);
    // What the provider does not know nobody pays on, and nothing is charged to.
    return {
      ...(kind === 'page' && { page: reference }),
      ...(kind === 'method' && { goneMethod: reference }),
    };
  }
  const { payment: reference, method } = seen;
  const paid = reference === null ? null : await drivers.payments.look({ kind: 'payment', reference });
  return {
    // Also where a card was declined on it before.
    ...(seen.state === 'over' && { page: seen.reference }),
    ...(paid?.kind === 'payment' && { payment: paid }),
    ...(method !== null && { method }),
  };
}

async function book({ ctx: tx, state }: TxRun<Payload, State>): Promise<void> {
  if (state.method !== undefined) await keepMethod(tx, state.method);
  if (state.goneMethod !== undefined) await noteGone(tx, state.goneMethod);
  if (state.page !== undefined) await tx.db.run(forgetPage, { reference: state.page });
  if (state.payout !== undefined) await bookPayout(tx, state.payout);
  if (state.payment !== undefined) await bookPayment(tx, state.payment);
}
