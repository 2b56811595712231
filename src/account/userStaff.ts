import { type ListRequest, listData, pagedList, type SortKey } from '../platform/http/index.ts';
import { type Context, requireRow, statement } from '../platform/index.ts';
import type { StaffRole } from './users.ts';

interface UserRow {
  id: number;
  email: string;
  first_name: string;
  last_name: string;
  phone: string | null;
  billing_email: string | null;
  abuse_email: string | null;
  status: 'active' | 'blocked' | 'closed';
  staff_role: StaffRole | null;
  email_verified: boolean;
  last_activity_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** With what it is sorted by, in the database's own small letters. */
interface FoundRow extends UserRow {
  by_email: string;
}

const byEmail = 'lower(t.email) collate "C"';
const byLastName = 'lower(t.last_name) collate "C"';
const byName = `lower(t.first_name || ' ' || t.last_name) collate "C"`;

// Each column by its name: what is a secret of the account stays where it is.
const selectUser = `
  select t.id, t.email, t.first_name, t.last_name, t.phone, t.billing_email, t.abuse_email, t.status, t.staff_role,
    t.email_verified, t.last_activity_at, t.created_at, t.updated_at,
    ${byEmail} as by_email
  from users t`;

const email: SortKey<FoundRow> = { by: byEmail, type: 'text', of: (row) => row.by_email };

const users = pagedList<FoundRow>({
  name: 'account.users',
  from: 'users t',
  select: selectUser,
  filters: {
    status: 't.status = :status',
    staffRole: 't.staff_role = :staffRole',
    // An array, so that its few members are looked at, and not everybody whose name begins so.
    organizationId:
      't.id = any (array(select m.user_id from memberships m where m.organization_id = :organizationId))',
  },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
    email,
  },
  order: '-created_at',
  search: [email, { by: byLastName }, { by: byName }],
});
const userById = statement<FoundRow, { id: number }>('account.user', `${selectUser} where t.id = :id`);

interface UserFilters {
  status?: string | undefined;
  staff_role?: string | undefined;
  organization_id?: number | undefined;
}

/** Everybody with an account, for staff; what is searched for comes in the order of what was found. */
export async function listUsers(ctx: Context, query: ListRequest & UserFilters) {
  const { rows, at } = await users(ctx, query, {
    status: query.status,
    staffRole: query.staff_role,
    organizationId: query.organization_id,
  });
  return listData('users', rows.map(view), at);
}

export async function readUser(ctx: Context, id: number) {
  return { user: view(await requireRow(ctx, userById, { id })) };
}

function view({ by_email: _, ...row }: FoundRow): UserRow {
  return row;
}
