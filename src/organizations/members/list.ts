import { isSecured } from '../../account/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type OrganizationContext, requireRow, statement } from '../../platform/index.ts';
import { requireChosen } from '../chosen.ts';
import type { Role } from '../permissions.ts';

interface MemberRow {
  user_id: number;
  email: string;
  first_name: string;
  last_name: string;
  role: Role;
  two_factor: boolean;
  joined_at: Date;
  last_active_at: Date | null;
}

const from = 'memberships t join users u on u.id = t.user_id';
const select = `select t.user_id, u.email, u.first_name, u.last_name, t.role, ${isSecured('u.id')} as two_factor,
    t.joined_at, u.last_activity_at as last_active_at from ${from}`;

const members = pagedList<MemberRow>({
  name: 'organizations.members',
  from,
  select,
  within: 't.organization_id = :organizationId',
  filters: { role: 't.role = :role' },
  key: { by: 't.user_id', type: 'bigint', of: (row) => row.user_id },
  sorts: {
    joined_at: {
      by: `date_trunc('milliseconds', t.joined_at)`,
      type: 'timestamptz',
      of: (row) => row.joined_at.toISOString(),
    },
    email: { by: 'lower(u.email)', type: 'text', of: (row) => row.email.toLowerCase() },
  },
  order: 'joined_at',
});
const memberById = statement<MemberRow, { organizationId: number; userId: number }>(
  'organizations.member',
  `${select} where t.organization_id = :organizationId and t.user_id = :userId`,
);

/** Who acts for the organization. `not_found`, `forbidden`. */
export async function listMembers(
  ctx: OrganizationContext,
  id: number,
  query: ListRequest & { role?: Role | undefined },
) {
  await requireChosen(ctx, id);
  const { rows, at } = await members(ctx, query, { organizationId: id, role: query.role });
  return listData('members', rows.map(view), at);
}

/** One of them. `not_found`, `forbidden`. */
export async function readMember(ctx: OrganizationContext, id: number, userId: number) {
  await requireChosen(ctx, id);
  return { member: view(await requireRow(ctx, memberById, { organizationId: id, userId })) };
}

function view({ user_id, email, first_name, last_name, ...row }: MemberRow) {
  return { user: { id: user_id, email, first_name, last_name }, status: 'active' as const, ...row };
}
