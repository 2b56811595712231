import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import type { OrganizationContext } from '../../platform/index.ts';
import { creditSummary, type InvoiceRow, selectInvoice, viewInvoice } from './read.ts';

const invoices = pagedList<InvoiceRow>({
  name: 'billing.list',
  from: 'invoices t',
  select: selectInvoice,
  within: 't.organization_id = :organizationId',
  filters: {
    status: 't.status = :status',
    hidesCancelled: `(t.status <> 'cancelled') = :hidesCancelled::boolean`,
  },
  key: { by: 't.position', type: 'bigint', of: (row) => row.position },
  sorts: { created_at: null },
  order: '-created_at',
  numbered: true,
  search: [{ by: 'lower(t.number) collate "C"' }],
});

/**
 * The organization's invoices, newest first unless sorted, with what credit it has. Whoever prefers it does not see those
 * that are cancelled, unless they ask for a status.
 */
export async function listInvoices(
  ctx: OrganizationContext,
  query: ListRequest & { status?: string | undefined },
  prefers: { hidesCancelled?: boolean } = {},
) {
  const { organizationId } = ctx;
  const hidesCancelled = (prefers.hidesCancelled === true && query.status === undefined) || undefined;
  const { rows, at } = await invoices(ctx, query, { organizationId, status: query.status, hidesCancelled });
  return {
    ...listData(
      'invoices',
      rows.map((row) => viewInvoice(ctx, row)),
      at,
    ),
    ...(await creditSummary(ctx)),
  };
}
