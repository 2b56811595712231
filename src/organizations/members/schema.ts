import { Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  listOf,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { roles } from '../permissions.ts';

export const Role = Choice(roles);

const Member = named(
  'Member',
  Type.Object({
    user: named(
      'MemberUser',
      Type.Object({
        id: Nullable(Id),
        email: Type.String(),
        first_name: Nullable(Type.String()),
        last_name: Nullable(Type.String()),
      }),
      'Who it is; of somebody who was invited the address alone',
    ),
    role: Role,
    status: Choice(['active', 'invited']),
    two_factor: Type.Boolean({ description: 'Whether they have a second factor set up' }),
    joined_at: Nullable(Timestamp),
    last_active_at: Nullable(Timestamp),
  }),
  'Somebody who acts for an organization, in a role',
);

export const MemberParams = Strict({ id: Id, user_id: Id });
export const MemberQuery = ListQuery({
  role: Type.Optional(Role),
  status: Type.Optional(Choice(['active', 'invited'])),
  sort: SortBy(['joined_at', 'email'], 'joined_at'),
});
export const MemberList = named(
  'MemberList',
  Type.Object({
    ...listOf('members', Member).properties,
    roles: Type.Array(
      named('RolePermissions', Type.Object({ role: Role, permissions: Type.Array(Type.String()) })),
      { description: 'What each role may do in it; keys may be kept to less' },
    ),
  }),
);
export const MemberData = named('MemberAnswer', Type.Object({ member: Member }));
export const MemberChange = named('MemberChange', Strict({ role: Role }));
export const MemberRemoved = named('MemberRemoved', Type.Object({ removed: Type.Boolean() }));
export const HandOver = named(
  'HandOver',
  Strict({ user_id: Id }),
  'Who is to own the organization; a member already',
);
