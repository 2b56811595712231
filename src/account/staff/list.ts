import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type Context, requireRow, statement } from '../../platform/index.ts';
import { isSecured } from '../factors/factor.ts';
import type { StaffRole } from '../users.ts';

interface Row {
  id: number;
  email: string;
  first_name: string;
  last_name: string;
  role: StaffRole;
  status: 'active' | 'blocked' | 'closed';
  second_factor: boolean;
  last_activity_at: Date | null;
  created_at: Date;
}

const select = `
  select t.id, t.email, t.first_name, t.last_name, t.staff_role as role, t.status, t.last_activity_at, t.created_at,
    ${isSecured('t.id')} as second_factor
  from users t`;
const ofStaff = 't.staff_role is not null';

const members = pagedList<Row>({
  name: 'account.staff',
  from: 'users t',
  select,
  within: ofStaff,
  filters: { role: 't.staff_role = :role', status: 't.status = :status' },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
  order: '-created_at',
});
const memberById = statement<Row, { id: number }>(
  'account.staffAccount',
  `${select} where ${ofStaff} and t.id = :id`,
);

interface Filters {
  role?: string | undefined;
  status?: string | undefined;
}

/** The provider's people. */
export async function listMembers(ctx: Context, query: ListRequest & Filters) {
  const { rows, at } = await members(ctx, query, { role: query.role, status: query.status });
  return listData('staff', rows, at);
}

/** One of them. `not_found`, also for a customer. */
export async function readMember(ctx: Context, id: number) {
  return { member: await requireRow(ctx, memberById, { id }) };
}
