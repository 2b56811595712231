import { type ListDefinition, type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type Context, fail, formatMoney, msPerDay } from '../../platform/index.ts';
import type { PaymentMethod } from '../invoices/kind.ts';

export const paymentStates = ['received', 'disputed', 'returned'] as const;
export type PaymentState = (typeof paymentStates)[number];

interface PaymentListRow {
  id: number;
  organization_id: number;
  organization_name: string;
  invoice_id: number;
  method: PaymentMethod;
  state: PaymentState;
  amount_minor: number;
  returned_minor: number;
  currency: string;
  reference: string | null;
  transfer_id: number | null;
  received_on: string | null;
  created_at: Date;
}

// A transfer goes back whole, and credit never: it is given again, as a refund of the invoice.
const isReturned = `(t.transfer_id in (select b.id from transfers b where b.taken_back_at is not null)
  or t.charge_id in (select g.id from charges g where g.returned_minor >= g.amount_minor))`;
const isDisputed = `t.charge_id in (select d.charge_id from disputes d where d.state = 'open')`;
const within: Record<PaymentState, string> = {
  returned: isReturned,
  disputed: `${isDisputed} and ${isReturned} is not true`,
  received: `(${isDisputed}) is not true and ${isReturned} is not true`,
};

const definition = {
  from: 'payments t',
  select: `
  select t.id, t.organization_id, o.name as organization_name, t.invoice_id, t.method, t.amount_minor, t.currency, t.reference,
    t.transfer_id, t.received_on, t.created_at,
    case when b.taken_back_at is not null then t.amount_minor else least(t.amount_minor, coalesce(c.returned_minor, 0)) end
      as returned_minor,
    case when b.taken_back_at is not null or c.returned_minor >= c.amount_minor then 'returned'
      when exists (select 1 from disputes d where d.charge_id = t.charge_id and d.state = 'open') then 'disputed'
      else 'received' end as state
  from payments t join organizations o on o.id = t.organization_id
    left join transfers b on b.id = t.transfer_id left join charges c on c.id = t.charge_id`,
  filters: {
    owner: 't.organization_id = :owner',
    invoice: 't.invoice_id = :invoice',
    method: 't.method = :method',
  },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
  order: '-created_at',
  bounds: { since: 'since', until: 'until' },
} satisfies Omit<ListDefinition<PaymentListRow>, 'name'>;

const inTime = 't.created_at >= :since::timestamptz and t.created_at < :until::timestamptz';
const payments = pagedList<PaymentListRow>({ ...definition, name: 'billing.payments', within: inTime });
// Each state is a list of its own: what is rare is found by its own index, and not by passing over all others.
const inState = {
  received: pagedList<PaymentListRow>({
    ...definition,
    name: 'billing.paymentsReceived',
    within: `${within.received} and ${inTime}`,
  }),
  disputed: pagedList<PaymentListRow>({
    ...definition,
    name: 'billing.paymentsDisputed',
    within: `${within.disputed} and ${inTime}`,
  }),
  returned: pagedList<PaymentListRow>({
    ...definition,
    name: 'billing.paymentsReturned',
    within: `${within.returned} and ${inTime}`,
  }),
};

type Wanted = ListRequest & {
  organization_id?: number | undefined;
  invoice_id?: number | undefined;
  method?: PaymentMethod | undefined;
  state?: PaymentState | undefined;
  /** First and last day, in UTC. */
  from?: string | undefined;
  to?: string | undefined;
};

/** Everything that paid for an invoice, in whichever way, newest first unless sorted. */
export async function listPayments(ctx: Context, query: Wanted) {
  const { organization_id: owner, invoice_id: invoice, method, state } = query;
  const list = state === undefined ? payments : inState[state];
  const { rows, at } = await list(ctx, query, { owner, invoice, method, ...rangeOf(query) });
  return listData('payments', rows.map(view), at);
}

/** No day comes after it that PostgreSQL reads. */
const lastDay = '9999-12-31';

function rangeOf({ from, to }: Wanted): { since: string; until: string } {
  if (from !== undefined && to !== undefined && to < from)
    throw fail('invalid_request', {
      details: [{ field: 'query.to', message: 'must not be before the day in from' }],
    });
  return {
    since: from === undefined ? '-infinity' : `${from}T00:00:00.000Z`,
    until:
      to === undefined || to === lastDay ? 'infinity' : new Date(Date.parse(to) + msPerDay).toISOString(),
  };
}

function view({
  organization_id,
  organization_name: name,
  amount_minor,
  returned_minor,
  ...row
}: PaymentListRow) {
  return {
    ...row,
    organization: { id: organization_id, name },
    amount: formatMoney(amount_minor, row.currency),
    returned: formatMoney(returned_minor, row.currency),
  };
}
