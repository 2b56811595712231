import { isSecured } from '../../account/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type OrganizationContext, requireRow, statement } from '../../platform/index.ts';
import { requireChosen } from '../chosen.ts';
import { permissionsOf, type Role, roles } from '../permissions.ts';

interface MemberRow {
  /** Of the person; of the invitation while there is none. */
  id: number;
  user_id: number | null;
  email: string;
  first_name: string | null;
  last_name: string | null;
  role: Role;
  status: 'active' | 'invited';
  two_factor: boolean;
  since: Date;
  joined_at: Date | null;
  last_active_at: Date | null;
}

const from = `(
    select m.organization_id, m.user_id as id, m.user_id, m.role, 'active' as status, m.joined_at,
      date_trunc('milliseconds', m.joined_at) as since, u.email, u.first_name, u.last_name,
      u.last_activity_at as last_active_at
    from memberships m join users u on u.id = m.user_id
    union all
    select i.organization_id, i.id, null, i.role, 'invited', null, i.created_at, i.email, null, null, null
    from invitations i) t`;
const select = `select t.id, t.user_id, t.email, t.first_name, t.last_name, t.role, t.status,
    ${isSecured('t.user_id')} as two_factor, t.since, t.joined_at, t.last_active_at from ${from}`;

const members = pagedList<MemberRow>({
  name: 'organizations.members',
  from,
  select,
  within: 't.organization_id = :organizationId',
  filters: { role: 't.role = :role', status: 't.status = :status' },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    joined_at: { by: 't.since', type: 'timestamptz', of: (row) => row.since.toISOString() },
    email: { by: 'lower(t.email)', type: 'text', of: (row) => row.email.toLowerCase() },
  },
  order: 'joined_at',
});
const memberById = statement<MemberRow, { organizationId: number; userId: number }>(
  'organizations.member',
  `${select} where t.organization_id = :organizationId and t.user_id = :userId`,
);

/** Who acts for the organization, and who was invited to. `not_found`, `forbidden`. */
export async function listMembers(
  ctx: OrganizationContext,
  id: number,
  query: ListRequest & { role?: Role | undefined; status?: MemberRow['status'] | undefined },
) {
  await requireChosen(ctx, id);
  const { rows, at } = await members(ctx, query, {
    ...{ organizationId: id, role: query.role, status: query.status },
  });
  return {
    ...listData('members', rows.map(view), at),
    roles: roles.map((role) => ({ role, permissions: [...permissionsOf(role)].sort() })),
  };
}

/** One of them. `not_found`, `forbidden`. */
export async function readMember(ctx: OrganizationContext, id: number, userId: number) {
  await requireChosen(ctx, id);
  return { member: view(await requireRow(ctx, memberById, { organizationId: id, userId })) };
}

function view({ id: _, since: __, user_id, email, first_name, last_name, ...row }: MemberRow) {
  return { user: { id: user_id, email, first_name, last_name }, ...row };
}
