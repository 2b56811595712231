import { type ListDefinition, type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type Context, formatMoney, requireRow, statement } from '../../platform/index.ts';

interface TransferListRow {
  id: number;
  organization_id: number;
  organization_name: string;
  amount_minor: number;
  currency: string;
  reference: string;
  received_on: string;
  created_at: Date;
  taken_back_at: Date | null;
  taken_back_why: string | null;
  invoices: { invoice_id: number; amount_minor: number }[];
}

const selectTransfer = `
  select t.id, t.organization_id, o.name as organization_name, t.amount_minor, t.currency, t.reference, t.received_on,
    t.created_at, t.taken_back_at, t.taken_back_why,
    (select coalesce(jsonb_agg(jsonb_build_object('invoice_id', p.invoice_id, 'amount_minor', p.amount_minor)
       order by p.created_at, p.id), '[]') from payments p where p.transfer_id = t.id) as invoices
  from transfers t join organizations o on o.id = t.organization_id`;

const transfers = pagedList<TransferListRow>({
  name: 'billing.transfers',
  from: 'transfers t',
  select: selectTransfer,
  filters: { organizationId: 't.organization_id = :organizationId' },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
  order: '-created_at',
  search: [{ by: 'lower(t.reference) collate "C"' }],
} satisfies ListDefinition<TransferListRow>);
const transferById = statement<TransferListRow, { id: number }>(
  'billing.transferById',
  `${selectTransfer} where t.id = :id`,
);

/** Every bank transfer that was booked, newest first unless sorted; those taken back say so. */
export async function listTransfers(
  ctx: Context,
  query: ListRequest & { organization_id?: number | undefined },
) {
  const { rows, at } = await transfers(ctx, query, { organizationId: query.organization_id });
  return listData('transfers', rows.map(view), at);
}

/** One transfer; `not_found`. */
export async function readTransfer(ctx: Context, id: number) {
  return { transfer: view(await requireRow(ctx, transferById, { id })) };
}

function view(row: TransferListRow) {
  const money = (minor: number) => formatMoney(minor, row.currency);
  return {
    id: row.id,
    organization: { id: row.organization_id, name: row.organization_name },
    amount: money(row.amount_minor),
    currency: row.currency,
    reference: row.reference,
    received_on: row.received_on,
    invoices: row.invoices.map(({ invoice_id, amount_minor }) => ({
      invoice_id,
      amount: money(amount_minor),
    })),
    created_at: row.created_at,
    taken_back_at: row.taken_back_at,
    taken_back_reason: row.taken_back_why,
  };
}
