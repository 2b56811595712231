import { type Example, exampleIds as ids, onlyPage } from '../platform/http/index.ts';

const sshKey = {
  id: ids.sshKey,
  name: 'laptop',
  fingerprint: 'SHA256:HEqsoJuZ6Uvx5eolb7+OKmiWRnG6RFYAjVXOCeM7P6s',
  type: 'ssh-ed25519',
  created_at: '2026-01-31T22:02:14.239Z',
};

const user = {
  id: 4503599627370601,
  email: 'ada@example.com',
  first_name: 'Ada',
  last_name: 'Novak',
  phone: null,
  billing_email: null,
  abuse_email: null,
  status: 'active',
  staff_role: null,
  email_verified: true,
  last_activity_at: '2026-01-31T22:02:14.047Z',
  created_at: '2026-01-31T22:02:13.550Z',
  updated_at: '2026-01-31T22:02:13.550Z',
};

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  getAccountDetails: {
    data: {
      twofa_status: false,
      user: {
        id: 4503599627370601,
        first_name: 'Ada',
        last_name: 'Novak',
        email: 'ada@example.com',
        billing_email: null,
        abuse_email: null,
        phone: null,
        status: 'active',
        credit: '200.00',
        email_verified: true,
        email_subscribed: false,
        twoFactorAuthentication: false,
        lastActivity: '2026-01-31T22:02:14.047Z',
        created_at: '2026-01-31T22:02:13.550Z',
        updated_at: '2026-01-31T22:02:13.550Z',
        show_cancelled_items: false,
      },
      apikeys: [
        {
          id: 4503599627370602,
          name: 'Demo',
          key: 'ink_Ex446R…',
          billing: true,
          shield: true,
          vps: true,
          created_at: '2026-01-31T22:02:13.562Z',
          lastUsed: '2026-01-31T22:02:14.047Z',
        },
      ],
      passkeys: [],
    },
  },
  listSshKeys: { data: { ssh_keys: [sshKey], ...onlyPage(1) } },
  createSshKey: {
    body: {
      name: 'laptop',
      public_key:
        'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOc2XbYl3l8oVd7c5Nq0sUuZfLxqyN0Y7fHDMcYJmcX6 ada@laptop',
    },
    data: { ssh_key: sshKey },
  },
  listUsers: { query: { search: 'ada@' }, data: { users: [user], ...onlyPage(1) } },
  getUser: { params: { id: 4503599627370601 }, data: { user } },
  getSshKey: { params: { id: ids.sshKey }, data: { ssh_key: sshKey } },
  deleteSshKey: { params: { id: ids.sshKey }, data: { deleted: true } },
} satisfies Record<string, Example>;
