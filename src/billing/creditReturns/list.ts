import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type Context, formatMoney, requireRow, statement } from '../../platform/index.ts';

interface Row {
  id: number;
  organization_id: number;
  organization_name: string;
  amount_minor: number;
  currency: string;
  reason: string;
  state: 'open' | 'done' | 'cancelled';
  paid_on: string | null;
  created_at: Date;
  decided_at: Date | null;
}

const select = `
  select t.id, t.organization_id, o.name as organization_name, t.amount_minor, t.currency, t.reason, t.state,
    t.paid_on::text as paid_on, t.created_at, t.decided_at
  from credit_returns t join organizations o on o.id = t.organization_id`;

const returns = pagedList<Row>({
  name: 'billing.creditReturns',
  from: 'credit_returns t',
  select,
  filters: { owner: 't.organization_id = :owner', state: 't.state = :state' },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
  order: '-created_at',
});
const byId = statement<Row, { id: number }>('billing.creditReturnForStaff', `${select} where t.id = :id`);

type Wanted = ListRequest & { organization_id?: number | undefined; state?: string | undefined };

/** Credit that is paid out by bank transfer, or was, newest first unless sorted. */
export async function listCreditReturns(ctx: Context, query: Wanted) {
  const { organization_id: owner, state } = query;
  const { rows, at } = await returns(ctx, query, { owner, state });
  return listData('credit_returns', rows.map(view), at);
}

/** One of them; `not_found`. */
export async function readCreditReturn(ctx: Context, id: number) {
  return { credit_return: view(await requireRow(ctx, byId, { id })) };
}

function view({ organization_id, organization_name: name, amount_minor, ...row }: Row) {
  return {
    ...row,
    organization: { id: organization_id, name },
    amount: formatMoney(amount_minor, row.currency),
  };
}
