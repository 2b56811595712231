import { record } from '../../events/index.ts';
import { organizationExists } from '../../organizations/index.ts';
import {
  type Context,
  fail,
  formatMoney,
  newId,
  parseMoney,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { spendableCredit } from '../charges/held.ts';
import { creditReturnAsked } from '../events.ts';
import { inWords } from '../invoices/payable.ts';
import { heldCredit, post } from '../ledger/ledger.ts';
import { giftsLeft, type Movement } from './gifts.ts';
import { readCreditReturn } from './list.ts';

// What a payment provider keeps for its work is no customer's, and what a bank holds is not there.
const ownMoney = statement<{ minor: number }, { organizationId: number; currency: string }>(
  'billing.ownMoney',
  `select coalesce(sum(e.amount_minor), 0)::bigint as minor
   from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
   join ledger_accounts a on a.id = e.account_id and a.kind in ('bank', 'provider') and a.currency = :currency
   where t.organization_id = :organizationId and t.kind <> 'provider_fee'`,
);
// By the order of the credit's entries. Money is what a bank or a payment provider brought or took, also for a dispute.
const movements = statement<Movement, { organizationId: number; currency: string }>(
  'billing.movementsOfCredit',
  `select t.invoice_id, -n.amount_minor as credit_minor, o.given_minor, o.money_minor
   from ledger_accounts c join ledger_entries n on n.account_id = c.id
   join ledger_transactions t on t.id = n.transaction_id
   cross join lateral (
     select coalesce(sum(e.amount_minor) filter (where a.kind = 'goodwill'), 0)::bigint as given_minor,
       coalesce(sum(e.amount_minor) filter (where a.kind in ('bank', 'provider', 'disputes')), 0)::bigint as money_minor
     from ledger_entries e join ledger_accounts a on a.id = e.account_id where e.transaction_id = t.id) o
   where c.organization_id = :organizationId and c.kind = 'credit' and c.currency = :currency
   order by n.sequence`,
);
const insert = statement<
  never,
  {
    id: number;
    organizationId: number;
    amountMinor: number;
    currency: string;
    reason: string;
    userId: number | null;
    now: Date;
  }
>(
  'billing.insertCreditReturn',
  `insert into credit_returns (id, organization_id, amount_minor, currency, reason, state, user_id, created_at)
   values (:id, :organizationId, :amountMinor, :currency, :reason, 'open', :userId, :now)`,
);

export interface Wish {
  /** Default: all that can be paid out. */
  amount?: string;
  currency: string;
  reason: string;
  dry_run?: boolean;
}

/**
 * Takes credit from an organization that staff then sends to its bank account: never more than there is, and than the
 * organization brought itself. A gift is spent before that, once it is there, and is not paid out, whatever it bought meanwhile. The money counts as
 * gone from our bank from now on; staff says when it has left. Of one that is closed there is what came since. With
 * `dry_run` nothing happens. `not_found`; `invalid_amount`
 * of more than can be paid out; `conflict` where nothing can be.
 */
export async function returnCredit(ctx: Context, organizationId: number, wish: Wish) {
  return transaction(ctx, 'billing.returnCredit', async (tx) => {
    if (!(await organizationExists(tx, organizationId))) throw fail('not_found');
    const { currency, reason, dry_run: isDry = false } = wish;
    const held = await heldCredit(tx, organizationId, currency);
    const mostMinor = await returnableOf(tx, organizationId, currency, held);
    const amountMinor = amountOf(wish, mostMinor);
    const about = {
      ...{ dry_run: isDry, currency, amount: formatMoney(amountMinor, currency) },
      ...{ credit_balance: formatMoney(held, currency), returnable: formatMoney(mostMinor, currency) },
    };
    if (isDry) return { ...about, credit_return: null };
    if (amountMinor === 0) {
      const message = 'None of this credit can be paid out: it was given, or a bank holds the money';
      throw fail('conflict', { message });
    }
    const id = newId();
    const row = { id, organizationId, amountMinor, currency, reason, now: tx.clock.now() };
    await tx.db.run(insert, { ...row, userId: tx.actor.userId });
    await post(tx, {
      kind: 'credit_returned',
      ...{ organizationId, currency, creditMinor: -amountMinor },
      description: 'Paid out by bank transfer',
      provider: { bank: -amountMinor },
    });
    await record(tx, creditReturnAsked, {
      subject: { type: 'credit_return', id },
      organizationId,
      data: { currency, reason, amount: formatMoney(amountMinor, currency) },
    });
    return { ...about, ...(await readCreditReturn(tx, id)) };
  });
}

/**
 * What of an organization's credit, which is locked, can be paid out: what it brought itself and did not get back, of what
 * it can spend, without the gifts that are still in it.
 */
async function returnableOf(tx: TxContext, organizationId: number, currency: string, heldMinor: number) {
  const about = { organizationId, currency };
  const spendableMinor = await spendableCredit(tx, organizationId, currency);
  const { minor: ownMinor } = await tx.db.one(ownMoney, about);
  const givenMinor = giftsLeft(await tx.db.many(movements, about));
  return Math.max(0, Math.min(spendableMinor, ownMinor, heldMinor - givenMinor));
}

function amountOf({ amount, currency }: Wish, mostMinor: number): number {
  if (amount === undefined) return mostMinor;
  const amountMinor = parseMoney(amount, currency);
  if (amountMinor !== null && amountMinor > 0 && amountMinor <= mostMinor) return amountMinor;
  throw fail('invalid_amount', { message: `${inWords(mostMinor, currency)} of this credit can be paid out` });
}
