import { Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  line,
  listOf,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { StaffRoleName } from '../schema.ts';
import { EmailAddress } from '../signIn/emailAddress.ts';

const Status = Choice(['active', 'blocked', 'closed']);

const Member = named(
  'StaffMember',
  Type.Object({
    id: Id,
    email: Type.String(),
    first_name: Type.String(),
    last_name: Type.String(),
    role: StaffRoleName,
    status: Status,
    second_factor: Type.Boolean({
      description: 'Whether there is an authenticator app or a passkey; without one no session reaches staff',
    }),
    last_activity_at: Nullable(Timestamp),
    created_at: Timestamp,
  }),
  "One of the provider's people",
);

export const MemberQuery = ListQuery({
  role: Type.Optional(StaffRoleName),
  status: Type.Optional(Status),
  sort: SortBy(['created_at'], '-created_at'),
});
export const MemberList = named('StaffMemberList', listOf('staff', Member));
export const MemberData = named('StaffMemberAnswer', Type.Object({ member: Member }));
export const NewMember = named(
  'NewStaffMember',
  Strict({ email: EmailAddress, first_name: line(100), last_name: line(100), role: StaffRoleName }),
);
export const MemberChange = named(
  'StaffMemberChange',
  Strict({
    first_name: Type.Optional(line(100)),
    last_name: Type.Optional(line(100)),
    role: Type.Optional(StaffRoleName),
  }),
);
export const MemberRemoved = named('StaffMemberRemoved', Type.Object({ removed: Type.Boolean() }));
export const Blocking = named(
  'Blocking',
  Strict({
    reason: Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'For staff; the person is not told it',
    }),
  }),
);
