import { Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  line,
  listOf,
  Nullable,
  named,
  Search,
  SortBy,
  Strict,
  Timestamp,
} from '../platform/http/index.ts';
import { Phone, StaffRoleName } from './schema.ts';
import { EmailAddress } from './signIn/emailAddress.ts';

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

export const UserCorrection = named(
  'UserCorrection',
  Strict({
    first_name: Type.Optional(line(100)),
    last_name: Type.Optional(line(100)),
    phone: Type.Optional(Nullable(Phone)),
    billing_email: Type.Optional(Nullable(EmailAddress)),
    abuse_email: Type.Optional(Nullable(EmailAddress)),
  }),
);

const areaOf = (words: string) => Type.Boolean({ description: words });
const Areas = {
  billing: areaOf('Whether it is for money and customers'),
  shield: areaOf('Whether it is for the shield'),
  vps: areaOf('Whether it is for services, machines and nodes'),
};

const StaffKey = named(
  'StaffKey',
  Type.Object({
    id: Id,
    user: named('StaffKeyOwner', Type.Object({ id: Id, email: Type.String() }), 'Whose a key is'),
    name: Type.String(),
    key: Type.String({ description: 'The first characters; the whole key was shown once' }),
    ...Areas,
    expires_at: Nullable(Timestamp),
    last_used_at: Nullable(Timestamp),
    created_at: Timestamp,
    current: Type.Boolean({ description: 'Whether it is the one that this request came with' }),
  }),
  'An API key of somebody of the provider, as far as it is shown again',
);
const Token = Type.String({ description: 'The whole key, for the header `token`; shown this once' });

export const StaffKeyQuery = ListQuery({
  user_id: Type.Optional(Id),
  sort: SortBy(['created_at', 'name'], '-created_at'),
});
export const StaffKeyList = named('StaffKeyList', listOf('api_keys', StaffKey));
export const StaffKeyData = named('StaffKeyAnswer', Type.Object({ api_key: StaffKey }));
export const NewStaffKey = named(
  'NewStaffKey',
  Strict({
    name: line(100, { description: 'What it is for' }),
    billing: Type.Optional(Areas.billing),
    shield: Type.Optional(Areas.shield),
    vps: Type.Optional(Areas.vps),
    expires_at: Type.Optional(Nullable(Timestamp)),
    user_id: Type.Optional(Id),
  }),
);
export const StaffKeyMade = named('StaffKeyMade', Type.Object({ api_key: StaffKey, token: Token }));
export const KeyRotation = named(
  'KeyRotation',
  Strict({
    overlap_hours: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 720, description: 'How long the old key goes on; 24 when absent' }),
    ),
  }),
);
export const StaffKeyRotated = named(
  'StaffKeyRotated',
  Type.Object({
    api_key: StaffKey,
    token: Token,
    replaced: named(
      'ReplacedKey',
      Type.Object({ id: Id, expires_at: Timestamp }),
      'The key that it takes the place of, and when that one ends',
    ),
  }),
);
export const KeyRevocation = Strict({
  leave_none: Type.Optional(
    Type.Boolean({ description: 'Whether your last key may go, so that you are left with none' }),
  ),
});
export const StaffKeyRevoked = named('StaffKeyRevoked', Type.Object({ revoked: Type.Boolean() }));
