import { type ListDefinition, type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type Context, formatMoney } from '../../platform/index.ts';
import type { Payout } from './payout.ts';

interface PayoutRow extends Payout {
  failure: string | null;
  fee_currency: string | null;
  statement_id: number | null;
  /** When we heard of it. */
  seen_at: Date;
}

const payouts = pagedList<PayoutRow>({
  name: 'billing.payouts',
  from: 'payouts t',
  select: `select t.id, t.driver, t.reference, t.state, t.amount_minor, t.currency, t.arrives_on, t.booked_minor,
     t.fee_minor, t.fee_currency, t.failure, t.bank_entry_id, t.seen_at,
     (select e.statement_id from bank_entries e where e.id = t.bank_entry_id) as statement_id
   from payouts t`,
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: { seen_at: { by: 't.seen_at', type: 'timestamptz', of: (row) => row.seen_at.toISOString() } },
  order: '-seen_at',
} satisfies ListDefinition<PayoutRow>);

/** What payment providers sent to the bank, the newest first unless sorted. */
export async function listPayouts(ctx: Context, query: ListRequest) {
  const { rows, at } = await payouts(ctx, query);
  return listData('payouts', rows.map(view), at);
}

function view(row: PayoutRow) {
  return {
    id: row.id,
    driver: row.driver,
    reference: row.reference,
    state: row.state,
    amount: formatMoney(row.amount_minor, row.currency),
    currency: row.currency,
    fee: formatMoney(row.fee_minor, row.fee_currency ?? row.currency),
    fee_currency: row.fee_currency ?? row.currency,
    arrives_on: row.arrives_on,
    seen_at: row.seen_at,
    failure: row.failure,
    bank_entry:
      row.bank_entry_id === null || row.statement_id === null
        ? null
        : { statement_id: row.statement_id, id: row.bank_entry_id },
  };
}
