import { type Example, exampleIds as ids, onlyPage } from '../platform/http/index.ts';

const organization = {
  id: ids.organization,
  name: 'Novak Labs',
  role: 'owner',
  members_count: 1,
  created_at: '2026-01-31T22:02:13.563Z',
  require_2fa: false,
  billing_address: null,
  tax_id: null,
};

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
  listOrganizationsAsStaff: {
    query: { search: 'novak l' },
    data: { organizations: [forStaff], ...onlyPage(1) },
  },
  getOrganizationAsStaff: { params: { id: ids.organization }, data: { organization: forStaff } },
} satisfies Record<string, Example>;
