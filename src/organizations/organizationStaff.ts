import { type ListRequest, listData, pagedList, type SortKey } from '../platform/http/index.ts';
import { type Context, requireRow, statement } from '../platform/index.ts';
import { countryOfProfile, joinProfile, shownOfProfile } from './billing.ts';

interface OrganizationRow {
  id: number;
  name: string;
  country: string | null;
  tax_id: string | null;
  billing_address: string | null;
  require_2fa: boolean;
  status: 'active' | 'blocked' | 'closed';
  status_since: Date | null;
  status_reason: string | null;
  members_count: number;
  created_at: Date;
}

/** With the name in the database's own small letters. */
interface FoundRow extends OrganizationRow {
  by_name: string;
}

const byName = 'lower(o.name) collate "C"';
const selectOrganization = `
  select o.id, o.name, ${shownOfProfile}, ${countryOfProfile}, o.require_2fa, o.status, o.status_since, o.status_reason, o.created_at, ${byName} as by_name,
    (select count(*)::int from memberships c where c.organization_id = o.id) as members_count
  from organizations o ${joinProfile}`;

const name: SortKey<FoundRow> = { by: byName, type: 'text', of: (row) => row.by_name };

const organizations = pagedList<FoundRow>({
  name: 'organizations.all',
  from: 'organizations o',
  select: selectOrganization,
  filters: {
    userId: 'o.id in (select m.organization_id from memberships m where m.user_id = :userId)',
  },
  key: { by: 'o.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 'o.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
    name,
  },
  order: '-created_at',
  search: [name],
});
const organizationById = statement<FoundRow, { id: number }>(
  'organizations.one',
  `${selectOrganization} where o.id = :id`,
);

/** Every organization, for staff; what is searched for comes in the order of the names. */
export async function listAllOrganizations(
  ctx: Context,
  query: ListRequest & { user_id?: number | undefined },
) {
  const { rows, at } = await organizations(ctx, query, { userId: query.user_id });
  return listData('organizations', rows.map(view), at);
}

export async function readAnyOrganization(ctx: Context, id: number) {
  return { organization: view(await requireRow(ctx, organizationById, { id })) };
}

function view({ by_name: _, ...row }: FoundRow): OrganizationRow {
  return row;
}
