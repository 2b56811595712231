import { type ListDefinition, type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type Context, formatMoney, requireRow, statement } from '../../platform/index.ts';
import type { RefundMethod } from '../payments/refund.ts';

interface RefundRow {
  id: number;
  organization_id: number;
  organization_name: string;
  invoice_id: number;
  method: RefundMethod;
  state: 'pending' | 'done' | 'failed';
  amount_minor: number;
  tax_minor: number;
  currency: string;
  reason: string;
  reference: string | null;
  created_at: Date;
}

interface DisputeRow {
  id: number;
  organization_id: number;
  organization_name: string;
  invoice_id: number;
  driver: string;
  reference: string;
  state: 'asked' | 'open' | 'won' | 'lost';
  amount_minor: number;
  currency: string;
  reason: string;
  fee_minor: number;
  unclear_minor: number;
  fee_currency: string | null;
  answer_by: Date | null;
  opened_at: Date;
  closed_at: Date | null;
}

const selectRefund = `
  select t.id, t.organization_id, o.name as organization_name, t.invoice_id, t.method, t.state, t.amount_minor,
    t.tax_minor, t.currency, t.reason, t.reference, t.created_at
  from refunds t join organizations o on o.id = t.organization_id`;
const selectDispute = `
  select t.id, t.organization_id, o.name as organization_name, t.invoice_id, t.driver, t.reference, t.state,
    t.amount_minor, t.currency, t.reason, t.fee_minor, t.unclear_minor, t.fee_currency, t.answer_by, t.opened_at, t.closed_at
  from disputes t join organizations o on o.id = t.organization_id`;

const filters = {
  owner: 't.organization_id = :owner',
  invoice: 't.invoice_id = :invoice',
  state: 't.state = :state',
};

const refunds = pagedList<RefundRow>({
  name: 'billing.refunds',
  from: 'refunds t',
  select: selectRefund,
  filters,
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
  order: '-created_at',
} satisfies ListDefinition<RefundRow>);
const disputes = pagedList<DisputeRow>({
  name: 'billing.disputes',
  from: 'disputes t',
  select: selectDispute,
  filters,
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    opened_at: { by: 't.opened_at', type: 'timestamptz', of: (row) => row.opened_at.toISOString() },
  },
  order: '-opened_at',
} satisfies ListDefinition<DisputeRow>);
const refundById = statement<RefundRow, { id: number }>(
  'billing.refundForStaff',
  `${selectRefund} where t.id = :id`,
);
const disputeById = statement<DisputeRow, { id: number }>(
  'billing.disputeForStaff',
  `${selectDispute} where t.id = :id`,
);

type Wanted = ListRequest & {
  organization_id?: number | undefined;
  invoice_id?: number | undefined;
  state?: string | undefined;
};

const filtersOf = ({ organization_id: owner, invoice_id: invoice, state }: Wanted) => ({
  ...{ owner, invoice, state },
});

/** Money of paid invoices that went back, in whichever way, newest first unless sorted. */
export async function listRefunds(ctx: Context, query: Wanted) {
  const { rows, at } = await refunds(ctx, query, filtersOf(query));
  return listData('refunds', rows.map(viewRefund), at);
}

/** One of them; `not_found`. */
export async function readRefund(ctx: Context, id: number) {
  return { refund: viewRefund(await requireRow(ctx, refundById, { id })) };
}

/** What customers told their banks was no payment of theirs, newest first unless sorted. */
export async function listDisputes(ctx: Context, query: Wanted) {
  const { rows, at } = await disputes(ctx, query, filtersOf(query));
  return listData('disputes', rows.map(viewDispute), at);
}

/** One of them; `not_found`. */
export async function readDispute(ctx: Context, id: number) {
  return { dispute: viewDispute(await requireRow(ctx, disputeById, { id })) };
}

function viewRefund({
  organization_id,
  organization_name: name,
  amount_minor,
  tax_minor,
  ...row
}: RefundRow) {
  return {
    ...row,
    organization: { id: organization_id, name },
    amount: formatMoney(amount_minor, row.currency),
    tax: formatMoney(tax_minor, row.currency),
  };
}

function viewDispute({ organization_id, organization_name: name, ...row }: DisputeRow) {
  const { amount_minor, fee_minor, fee_currency, unclear_minor, ...rest } = row;
  return {
    ...rest,
    organization: { id: organization_id, name },
    amount: formatMoney(amount_minor, row.currency),
    fee: formatMoney(fee_minor, fee_currency ?? row.currency),
    fee_currency: fee_currency ?? row.currency,
    unclear: formatMoney(unclear_minor, row.currency),
  };
}
