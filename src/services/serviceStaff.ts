import { type ListDefinition, type ListRequest, listData, pagedList } from '../platform/http/index.ts';
import { type Context, requireRow, statement } from '../platform/index.ts';
import {
  addressIn,
  byName,
  byParent,
  type StaffServiceRow,
  selectServiceForStaff,
  viewForStaff,
} from './read.ts';

const common = {
  from: 'services t',
  select: selectServiceForStaff,
  filters: {
    status: 't.status = :status',
    address: 't.id = (select a.service_id from addresses a where a.address = :address::inet)',
  },
  order: '-created_at',
  search: [byName, byParent],
} satisfies Partial<ListDefinition<StaffServiceRow>>;

const everyService = pagedList<StaffServiceRow>({
  ...common,
  name: 'services.all',
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
});
/** In the order in which its members see them, by the same indexes. */
const ofOrganization = pagedList<StaffServiceRow>({
  ...common,
  name: 'services.ofOne',
  within: 't.organization_id = :organizationId',
  key: { by: 't.position', type: 'bigint', of: (row) => row.position },
  sorts: { created_at: null },
  numbered: true,
});
const serviceForStaff = statement<StaffServiceRow, { id: number }>(
  'services.forStaff',
  `${selectServiceForStaff} where t.id = :id`,
);

interface ServiceFilters {
  status?: string | undefined;
  organization_id?: number | undefined;
}

/**
 * Every service, or those of one organization, newest first unless sorted. What is searched for is the beginning of a
 * name, or a whole address.
 */
export async function listServicesForStaff(ctx: Context, query: ListRequest & ServiceFilters) {
  const { search, status, organization_id: organizationId } = query;
  const address = search === undefined ? undefined : (addressIn(search) ?? undefined);
  const asked = address === undefined ? query : { ...query, search: undefined };
  const { rows, at } =
    organizationId === undefined
      ? await everyService(ctx, asked, { status, address })
      : await ofOrganization(ctx, asked, { status, address, organizationId });
  const now = ctx.clock.now();
  return listData(
    'services',
    rows.map((row) => viewForStaff(row, now)),
    at,
  );
}

export async function readServiceAsStaff(ctx: Context, id: number) {
  return { service: viewForStaff(await requireRow(ctx, serviceForStaff, { id }), ctx.clock.now()) };
}
