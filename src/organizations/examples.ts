import { type Example, exampleIds as ids, onlyPage } from '../platform/http/index.ts';

const permissions = [
  ...['billing.manage', 'billing.pay', 'billing.read', 'members.manage', 'members.read', 'order'],
  ...['organization.manage', 'service.cancel', 'service.manage', 'service.read'],
  ...['vps.manage', 'vps.power', 'vps.read'],
];

const organization = {
  id: ids.organization,
  name: 'Novak Labs',
  role: 'owner',
  permissions,
  members_count: 1,
  created_at: '2026-01-31T22:02:13.563Z',
  require_2fa: false,
  billing_address: null,
  tax_id: null,
};

const owner = {
  user: { id: ids.user, email: 'ada@example.com', first_name: 'Ada', last_name: 'Novak' },
  role: 'owner',
  status: 'active',
  two_factor: false,
  joined_at: '2026-01-31T22:02:13.563Z',
  last_active_at: '2026-01-31T22:04:14.047Z',
};

const colleague = {
  user: { id: 4503599627370131, email: 'ben@example.com', first_name: 'Ben', last_name: 'Okafor' },
  role: 'technical',
  status: 'active',
  two_factor: true,
  joined_at: '2026-01-31T22:03:40.108Z',
  last_active_at: null,
};
const ofColleague = { id: ids.organization, user_id: colleague.user.id };

const forStaff = {
  id: ids.organization,
  name: 'Novak Labs',
  country: 'NL',
  tax_id: null,
  billing_address: null,
  require_2fa: false,
  members_count: 1,
  created_at: '2026-01-31T22:02:13.563Z',
};

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  listOrganizations: { data: { organizations: [organization], ...onlyPage(1) } },
  createOrganization: {
    body: { name: 'Novak Hosting', country: 'NL' },
    data: {
      organization: {
        ...organization,
        id: 4503599627370612,
        name: 'Novak Hosting',
        created_at: '2026-01-31T22:04:15.656Z',
      },
    },
  },
  getOrganization: { params: { id: ids.organization }, data: { organization } },
  updateOrganization: {
    params: { id: ids.organization },
    body: { name: 'Novak Labs' },
    data: { organization },
  },
  listOrganizationMembers: {
    params: { id: ids.organization },
    data: { members: [owner], ...onlyPage(1) },
  },
  getOrganizationMember: {
    params: { id: ids.organization, user_id: ids.user },
    data: { member: owner },
  },
  updateOrganizationMember: {
    params: ofColleague,
    body: { role: 'technical' },
    data: { member: colleague },
  },
  removeOrganizationMember: { params: ofColleague, data: { removed: true } },
  handOverOrganization: {
    params: { id: ids.organization },
    body: { user_id: colleague.user.id },
    data: { member: { ...colleague, role: 'owner' } },
  },
  listOrganizationsAsStaff: {
    query: { search: 'novak l' },
    data: { organizations: [forStaff], ...onlyPage(1) },
  },
  getOrganizationAsStaff: { params: { id: ids.organization }, data: { organization: forStaff } },
} satisfies Record<string, Example>;
