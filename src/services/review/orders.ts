import { type ListDefinition, type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type Context, formatMoney, requireRow, statement } from '../../platform/index.ts';

interface OrderRow {
  id: number;
  organization_id: number;
  organization_name: string;
  user_id: number | null;
  number: string | null;
  status: string;
  currency: string;
  total_minor: number;
  created_at: Date;
  services: { id: number; product: string; domain: string | null; status: string }[];
  review: {
    status: 'held' | 'released' | 'refused';
    reasons: string[];
    held_at: string;
    decided_at: string | null;
    decided_by: number | null;
    note: string | null;
  } | null;
}

const selectOrder = `
  select t.id, t.organization_id, o.name as organization_name, t.user_id, t.number, t.status, t.currency, t.total_minor,
    t.created_at, case when r.status is not null then to_jsonb(r) end as review,
    (select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'product', p.name, 'domain', s.domain, 'status', s.status)
       order by s.position), '[]')
     from services s join products p on p.id = s.product_id where s.invoice_id = t.id) as services
  from invoices t join organizations o on o.id = t.organization_id
  left join order_reviews r on r.invoice_id = t.id`;

const orderById = statement<OrderRow, { id: number }>(
  'services.orderForStaff',
  `${selectOrder} where t.id = :id and t.kind = 'order'`,
);

const newest = {
  by: 't.created_at',
  type: 'timestamptz',
  of: (row: OrderRow) => row.created_at.toISOString(),
} as const;

const common = {
  select: selectOrder,
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: { created_at: newest },
  order: '-created_at',
} satisfies Partial<ListDefinition<OrderRow>>;

const orders = pagedList<OrderRow>({
  ...common,
  name: 'services.orders',
  from: 'invoices t',
  within: `t.kind = 'order'`,
  filters: { organizationId: 't.organization_id = :organizationId' },
});
/** By what the review knows of its order, so that no order without one is looked at. */
const reviewed = pagedList<OrderRow>({
  ...common,
  name: 'services.reviewedOrders',
  from: 'order_reviews r',
  within: 'r.status = :review',
  filters: { organizationId: 'r.organization_id = :organizationId' },
  key: { by: 'r.invoice_id', type: 'bigint', of: (row) => row.id },
  sorts: { created_at: { ...newest, by: 'r.ordered_at' } },
});

interface OrderFilters {
  review?: 'held' | 'released' | 'refused' | undefined;
  organization_id?: number | undefined;
}

/** Every order, or those that a rule held, newest first. */
export async function listOrders(ctx: Context, query: ListRequest & OrderFilters) {
  const { review, organization_id: organizationId } = query;
  const { rows, at } =
    review === undefined
      ? await orders(ctx, query, { organizationId })
      : await reviewed(ctx, query, { review, organizationId });
  return listData('orders', rows.map(view), at);
}

/** One order; `not_found`, also for an invoice that is no order's. */
export async function readOrder(ctx: Context, id: number) {
  return { order: view(await requireRow(ctx, orderById, { id })) };
}

function view(row: OrderRow) {
  return {
    id: row.id,
    number: row.number,
    organization: { id: row.organization_id, name: row.organization_name },
    user_id: row.user_id,
    invoice_status: row.status,
    currency: row.currency,
    total: formatMoney(row.total_minor, row.currency),
    created_at: row.created_at,
    services: row.services,
    review: row.review && viewReview(row.review),
  };
}

function viewReview({
  status,
  reasons,
  held_at,
  decided_at,
  decided_by,
  note,
}: NonNullable<OrderRow['review']>) {
  return {
    status,
    reasons,
    held_at: new Date(held_at),
    decided_at: decided_at === null ? null : new Date(decided_at),
    decided_by,
    note,
  };
}
