import { type Example, exampleIds as ids, onlyPage } from '../platform/http/index.ts';

const permissions = [
  ...[
    'activity.read',
    'billing.manage',
    'billing.pay',
    'billing.read',
    'members.manage',
    'members.read',
    'order',
  ],
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
  status: 'active',
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

const invitation = {
  id: 4503599627370141,
  email: 'carla@example.com',
  role: 'technical',
  invited_by: { id: ids.user, first_name: 'Ada', last_name: 'Novak' },
  expired: false,
  sent_at: '2026-01-31T22:03:10.221Z',
  expires_at: '2026-02-07T22:03:10.221Z',
  created_at: '2026-01-31T22:03:10.221Z',
};
const ofInvitation = { id: ids.organization, invitation_id: invitation.id };

const forStaff = {
  id: ids.organization,
  name: 'Novak Labs',
  country: 'NL',
  tax_id: null,
  billing_address: null,
  require_2fa: false,
  status: 'active',
  status_since: null,
  status_reason: null,
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
    data: { members: [owner], ...onlyPage(1), roles: [{ role: 'owner', permissions }] },
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
  createInvitation: {
    params: { id: ids.organization },
    body: { email: invitation.email, role: invitation.role },
    data: { invitation },
  },
  listInvitations: {
    params: { id: ids.organization },
    data: { invitations: [invitation], ...onlyPage(1) },
  },
  getInvitation: { params: ofInvitation, data: { invitation } },
  resendInvitation: { params: ofInvitation, data: { invitation } },
  withdrawInvitation: { params: ofInvitation, data: { withdrawn: true } },
  acceptInvitation: {
    body: { token: 'mW3yLwq0Yc5n9mCq0F1oV6v0b1u8r3dK2s7xJ4tPzEg' },
    data: { organization: { ...organization, role: 'technical', members_count: 2 } },
  },
  getOrganizationActivity: {
    params: { id: ids.organization },
    query: { action: 'member_invited' },
    data: {
      activity: [
        {
          id: 1042,
          action: 'member_invited',
          description: 'Somebody was invited by mail to act for an organization',
          values: { email: 'grace@example.com', role: 'technical' },
          created_at: '2026-01-31T22:03:10.221Z',
          user: { id: ids.user, first_name: 'Ada', last_name: 'Novak', email: 'ada@example.com' },
          admin: null,
          api_key: { id: 4503599627370142, name: 'Automation', key: 'ik_3fQ9…' },
          ip: '203.0.113.7',
          subject: { type: 'invitation', id: invitation.id },
          invoice: null,
          service: null,
        },
      ],
      ...onlyPage(1),
      kept_since: null,
    },
  },
  listOrganizationsAsStaff: {
    query: { search: 'novak l' },
    data: { organizations: [forStaff], ...onlyPage(1) },
  },
  getOrganizationAsStaff: { params: { id: ids.organization }, data: { organization: forStaff } },
  correctOrganization: {
    params: { id: ids.organization },
    body: { country: 'NL' },
    data: { organization: { ...forStaff, country: 'NL' } },
  },
  blockOrganization: {
    params: { id: ids.organization },
    body: { reason: 'Complaint 4711' },
    data: {
      organization: {
        ...forStaff,
        ...{ status: 'blocked', status_since: '2026-01-31T22:08:10.114Z', status_reason: 'Complaint 4711' },
      },
    },
  },
  unblockOrganization: {
    params: { id: ids.organization },
    data: { organization: { ...forStaff, status_since: '2026-01-31T22:08:11.520Z' } },
  },
} satisfies Record<string, Example>;
