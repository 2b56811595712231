import { Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  listOf,
  Nullable,
  named,
  Search,
  SortBy,
  Timestamp,
} from '../platform/http/index.ts';
import { staffRoles } from './users.ts';

const StaffRoleName = named('StaffRole', Choice(staffRoles), 'What somebody of the provider may do');
const UserStatus = named(
  'UserStatus',
  Choice(['active', 'blocked', 'closed']),
  'Only `active` accounts are let in',
);

const StaffUser = named(
  'StaffUser',
  Type.Object({
    id: Id,
    email: Type.String(),
    first_name: Type.String(),
    last_name: Type.String(),
    phone: Nullable(Type.String()),
    billing_email: Nullable(Type.String()),
    abuse_email: Nullable(Type.String()),
    status: UserStatus,
    staff_role: Nullable(StaffRoleName),
    email_verified: Type.Boolean(),
    last_activity_at: Nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
  'A person as staff sees them',
);

export const UserQuery = ListQuery({
  status: Type.Optional(UserStatus),
  staff_role: Type.Optional(StaffRoleName),
  organization_id: Type.Optional(Id),
  search: Search(
    'Finds addresses, last names, and first and last names together that begin with this, in the order of what was ' +
      'found; `sort` is left out of account',
  ),
  sort: SortBy(['created_at', 'email'], '-created_at'),
});
export const UserList = named('UserList', listOf('users', StaffUser));
export const UserData = named('UserAnswer', Type.Object({ user: StaffUser }));
