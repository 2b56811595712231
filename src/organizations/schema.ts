import { Type } from 'typebox';
import {
  Choice,
  CountryCode,
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
import { Role } from './members/schema.ts';

const OrganizationStatus = named(
  'OrganizationStatus',
  Choice(['active', 'blocked', 'closed']),
  'Whoever is `blocked` orders and changes nothing, and pays what is owed; in one that is `closed` nobody is',
);
const Organization = named(
  'Organization',
  Type.Object({
    id: Id,
    name: Type.String(),
    role: Role,
    permissions: Type.Array(Type.String(), {
      description: 'What you may do in it with the credential that asks',
    }),
    members_count: Type.Integer(),
    created_at: Type.String({ format: 'date-time' }),
    require_2fa: Type.Boolean(),
    status: OrganizationStatus,
    billing_address: Nullable(Type.String()),
    tax_id: Nullable(Type.String()),
  }),
  'What owns services and invoices; people act for it in a role',
);

export const OrganizationQuery = ListQuery({ sort: SortBy(['joined_at', 'name'], 'joined_at') });
export const OrganizationList = named('OrganizationList', listOf('organizations', Organization));
export const OrganizationData = named('OrganizationAnswer', Type.Object({ organization: Organization }));
const StaffOrganization = named(
  'StaffOrganization',
  Type.Object({
    id: Id,
    name: Type.String(),
    country: Nullable(Type.String({ description: 'ISO 3166-1; decides the tax on invoices' })),
    tax_id: Nullable(Type.String()),
    billing_address: Nullable(Type.String()),
    require_2fa: Type.Boolean(),
    status: OrganizationStatus,
    status_since: Nullable(Timestamp),
    status_reason: Nullable(Type.String({ description: 'Why it is blocked' })),
    members_count: Type.Integer(),
    created_at: Timestamp,
  }),
  'An organization as staff sees it',
);

/** Whose something is, where staff looks at many organizations. */
export const OrganizationName = named(
  'OrganizationName',
  Type.Object({ id: Id, name: Type.String() }),
  'The organization that something belongs to',
);

export const StaffOrganizationQuery = ListQuery({
  user_id: Type.Optional(Id),
  search: Search('Finds names that begin with this, in their order; `sort` is left out of account'),
  sort: SortBy(['created_at', 'name'], '-created_at'),
});
export const StaffOrganizationList = named(
  'StaffOrganizationList',
  listOf('organizations', StaffOrganization),
);
export const StaffOrganizationData = named(
  'StaffOrganizationAnswer',
  Type.Object({ organization: StaffOrganization }),
);

const ReleasedName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '\\S',
  'x-message': 'must not be blank',
});

export const OrganizationChange = named(
  'OrganizationChange',
  Strict({
    name: Type.Optional(line(100)),
    require_2fa: Type.Optional(
      Type.Boolean({
        description:
          'Whether members need a second factor; who has none is locked out (403 `second_factor_required`)',
      }),
    ),
  }),
  'What is left out stays',
);
export const NewOrganization = named(
  'NewOrganization',
  Strict({
    name: ReleasedName,
    country: Type.Optional(CountryCode({ description: 'ISO 3166-1; decides the tax on invoices' })),
  }),
);
const Country = CountryCode({
  description: 'ISO 3166-1; decides the tax on invoices while the billing profile names none',
});
export const OrganizationCorrection = named(
  'OrganizationCorrection',
  Strict({
    name: Type.Optional(line(100)),
    country: Type.Optional(Nullable(Country)),
    require_2fa: Type.Optional(
      Type.Literal(false, { description: 'For those who locked themselves out; only they put it on' }),
    ),
  }),
  'What is left out stays',
);
export const OrganizationBlocking = named(
  'OrganizationBlocking',
  Strict({
    reason: Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'It stands in the activity of the organization, and not in the mail to its owner',
    }),
  }),
);
