import { listData, positionedList } from '../platform/http/index.ts';
import type { OrganizationContext } from '../platform/index.ts';
import { creditSummary, type InvoiceRow, selectInvoice, viewInvoice } from './read.ts';

const invoices = positionedList<InvoiceRow>({
  name: 'billing.list',
  table: 'invoices',
  select: selectInvoice,
  filters: { status: 't.status = :status' },
});

/** The organization's invoices, newest first, with what credit it has. */
export async function listInvoices(
  ctx: OrganizationContext,
  query: { page: number; limit: number; cursor?: string | undefined; status?: string | undefined },
) {
  const { rows, at } = await invoices.page(ctx, ctx.organizationId, query, { status: query.status });
  const now = ctx.clock.now();
  return {
    ...listData(
      'invoices',
      rows.map((row) => viewInvoice(row, now)),
      at,
    ),
    ...(await creditSummary(ctx)),
  };
}
