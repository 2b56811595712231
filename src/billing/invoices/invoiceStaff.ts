import { type ListDefinition, type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type Context, requireRow, statement } from '../../platform/index.ts';
import { type StaffInvoiceRow, selectInvoiceForStaff, viewInvoiceForStaff } from './read.ts';

const common = {
  from: 'invoices t',
  select: selectInvoiceForStaff,
  filters: { status: 't.status = :status' },
  order: '-created_at',
  search: [{ by: 'lower(t.number) collate "C"' }],
} satisfies Partial<ListDefinition<StaffInvoiceRow>>;

const everyInvoice = pagedList<StaffInvoiceRow>({
  ...common,
  name: 'billing.all',
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
});
/** In the order in which its members see them, by the same indexes. */
const ofOrganization = pagedList<StaffInvoiceRow>({
  ...common,
  name: 'billing.ofOne',
  within: 't.organization_id = :organizationId',
  key: { by: 't.position', type: 'bigint', of: (row) => row.position },
  sorts: { created_at: null },
  numbered: true,
});
const invoiceForStaff = statement<StaffInvoiceRow, { id: number }>(
  'billing.invoiceForStaff',
  `${selectInvoiceForStaff} where t.id = :id`,
);

interface InvoiceFilters {
  status?: string | undefined;
  organization_id?: number | undefined;
}

/** Every invoice, or those of one organization, newest first unless sorted; numbers that are searched for in theirs. */
export async function listInvoicesForStaff(ctx: Context, query: ListRequest & InvoiceFilters) {
  const { status, organization_id: organizationId } = query;
  const { rows, at } =
    organizationId === undefined
      ? await everyInvoice(ctx, query, { status })
      : await ofOrganization(ctx, query, { status, organizationId });
  const shown = rows.map((row) => viewInvoiceForStaff(ctx, row));
  return listData('invoices', shown, at);
}

export async function readInvoiceForStaff(ctx: Context, id: number) {
  return { invoice: viewInvoiceForStaff(ctx, await requireRow(ctx, invoiceForStaff, { id })) };
}
