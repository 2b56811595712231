import { record } from '../../events/index.ts';
import { type Context, fail, formatMoney, requireRow, statement, transaction } from '../../platform/index.ts';
import { creditReturnCancelled, creditReturnDone } from '../events.ts';
import { post } from '../ledger/ledger.ts';
import { readCreditReturn } from './list.ts';

interface Open {
  organization_id: number;
  amount_minor: number;
  currency: string;
  state: 'open' | 'done' | 'cancelled';
}

const lock = statement<Open, { id: number }>(
  'billing.lockCreditReturn',
  'select organization_id, amount_minor, currency, state from credit_returns where id = :id for update',
);
const decide = statement<
  never,
  { id: number; state: 'done' | 'cancelled'; paidOn: string | null; userId: number | null; now: Date }
>(
  'billing.decideCreditReturn',
  `update credit_returns set state = :state, paid_on = :paidOn::date, decided_by = :userId, decided_at = :now
   where id = :id`,
);

/** The transfer has left our bank. `conflict` for one that is decided. */
export async function finishCreditReturn(ctx: Context, id: number, paidOn: string) {
  return transaction(ctx, 'billing.finishCreditReturn', async (tx) => {
    const {
      organization_id: organizationId,
      amount_minor,
      currency,
    } = await requireOpen(await requireRow(tx, lock, { id }));
    await tx.db.run(decide, { id, state: 'done', paidOn, userId: tx.actor.userId, now: tx.clock.now() });
    await record(tx, creditReturnDone, {
      subject: { type: 'credit_return', id },
      organizationId,
      data: { user_id: null, currency, amount: formatMoney(amount_minor, currency), paid_on: paidOn },
    });
    return readCreditReturn(tx, id);
  });
}

/** No money has left our bank, and none will: the credit is there again. `conflict` for one that is decided. */
export async function cancelCreditReturn(ctx: Context, id: number, reason: string) {
  return transaction(ctx, 'billing.cancelCreditReturn', async (tx) => {
    const {
      organization_id: organizationId,
      amount_minor,
      currency,
    } = await requireOpen(await requireRow(tx, lock, { id }));
    const row = { id, state: 'cancelled', paidOn: null, userId: tx.actor.userId } as const;
    await tx.db.run(decide, { ...row, now: tx.clock.now() });
    await post(tx, {
      kind: 'credit_returned',
      ...{ organizationId, currency, creditMinor: amount_minor },
      description: 'Not paid out by bank transfer after all',
      provider: { bank: amount_minor },
    });
    await record(tx, creditReturnCancelled, {
      subject: { type: 'credit_return', id },
      organizationId,
      data: { currency, reason, amount: formatMoney(amount_minor, currency) },
    });
    return readCreditReturn(tx, id);
  });
}

function requireOpen(row: Open): Open {
  if (row.state === 'open') return row;
  const message = row.state === 'done' ? 'It is paid out already' : 'It was cancelled';
  throw fail('conflict', { message });
}
