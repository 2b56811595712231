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

const staffKey = {
  id: 4503599627370701,
  user: { id: 4503599627370702, email: 'sam@example.com' },
  name: 'monitoring',
  key: 'ink_Jb3k1s…',
  billing: false,
  shield: true,
  vps: true,
  expires_at: null,
  last_used_at: null,
  created_at: '2026-01-31T22:06:02.101Z',
  current: false,
};
const staffMember = {
  id: 4503599627370711,
  email: 'kim@example.com',
  first_name: 'Kim',
  last_name: 'Berg',
  role: 'support',
  status: 'active',
  second_factor: false,
  last_activity_at: null,
  created_at: '2026-01-31T22:06:40.312Z',
};
const factorReset = {
  user_id: 4503599627370601,
  asked_by: { id: 4503599627370702, email: 'sam@example.com' },
  reason: 'Lost the phone; called back at the number of the account',
  due_at: '2026-02-03T22:08:00.512Z',
  created_at: '2026-01-31T22:08:00.512Z',
};
const impersonation = {
  id: 4503599627370721,
  staff: { id: 4503599627370702, email: 'sam@example.com' },
  user: { id: 4503599627370601, email: 'ada@example.com' },
  organization_id: 4503599627370603,
  reason: 'Ticket a1b2c3d4: the invoice is not shown',
  read_only: true,
  expires_at: '2026-01-31T22:40:02.733Z',
  ended_at: null,
  created_at: '2026-01-31T22:10:02.733Z',
};
const shownOnce = 'ink_Jb3k1sVQ2Y0d8Xq5t7wZr4uK9mPcLhTe0a1b2c';

const session = {
  id: 4503599627370801,
  current: true,
  method: 'password',
  second_factor: false,
  ip: '192.0.2.10',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  last_seen_at: '2026-01-31T22:05:10.402Z',
  expires_at: '2026-03-02T22:05:10.402Z',
  created_at: '2026-01-31T22:05:10.402Z',
};
const recoveryCodes = [
  ...['k7mq-2xwz-h4cp', 'd9ra-vn3t-6ybe', 'w5hs-8fjk-m2qz', 'p3cx-7ged-t9nu', 'b6yv-4rka-s8hw'],
  ...['z2nf-9mpt-c5jd', 'g8qe-3wxb-k7rv', 'u4ts-6hya-n9cf', 'e7jd-2pzm-w3kq', 'r5vb-8xgn-y6th'],
];
const passkey = {
  id: 4503599627370811,
  name: 'Phone',
  synced: true,
  created_at: '2026-01-31T22:07:41.280Z',
  last_used: null,
  credential_id: 'b9QeT4mYcLw2sV7nXj0uKg',
};
const challenge = 'q3nT0bY5cW7uJk1xLr9fZaE2vHs8mPdXgQo4iNtUyRw';
const credentialId = 'b9QeT4mYcLw2sV7nXj0uKg';
const requestOptions = {
  ...{ challenge, rpId: 'panel.example.com', timeout: 300_000, userVerification: 'required' },
  allowCredentials: [],
};
const knownPasskey = { id: credentialId, type: 'public-key', transports: ['internal', 'hybrid'] };
const clientDataJSON =
  'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoicTNuVDBiWTVjVzd1SmsxeExyOWZaYUUydkhzOG1QZFhnUW80aU50VXlSdyIsIm9yaWdpbiI6Imh0dHBzOi8vcGFuZWwuZXhhbXBsZS5jb20ifQ';
const assertion = {
  ...{ id: credentialId, rawId: credentialId, type: 'public-key' },
  response: {
    clientDataJSON,
    authenticatorData: 'Zx3mQ8rT1vLk5cYw0uHs2nBj7gFa9dPe4iXo6tUzKqMdAAAABQ',
    signature:
      'MEUCIQDk4vQ7bX1cT9mYw2sL0uJr8nHf5gPe3aZd6iKoVxWtUgIgB2qN7hRy4cLm9sTk1vXe8wJf0uPd5aZg3iHoKbQxUtM',
    userHandle: 'NDUwMzU5OTYyNzM3MDgwMg',
  },
};
const signedInUser = {
  id: 4503599627370802,
  email: 'grace@example.com',
  first_name: 'Grace',
  last_name: 'Lindqvist',
  staff_role: null,
};
const unsubscribeToken = `4503599627370601.services.${'0vX2m7Qy1cZ8sTtW5nB4kLhE9uRfJpGaDdYxKiMoQwA'}`;
const linkToken = '0vX2m7Qy1cZ8sTtW5nB4kLhE9uRfJpGaDdYxKiMoQwA';

const unlimited = { scopes: null, organization_ids: null, ip_allowlist: null, test: false };
const demoKey = {
  id: 4503599627370602,
  name: 'Demo',
  key: 'ink_Ex446R…',
  ...{ billing: true, shield: true, vps: true, ...unlimited },
  expires_at: null,
  created_at: '2026-01-31T22:02:13.562Z',
  lastUsed: '2026-01-31T22:02:14.047Z',
  last_used_ip: '192.0.2.10',
  current: true,
};
const apiKey = {
  id: 4503599627370603,
  name: 'deploy',
  key: 'ink_Vn8s3K…',
  ...{ billing: false, shield: false, vps: true },
  scopes: ['service.read', 'vps.power', 'vps.read'],
  organization_ids: [1001],
  ip_allowlist: ['192.0.2.0/24', '2001:db8::/32'],
  test: false,
  expires_at: '2027-01-31T00:00:00.000Z',
  created_at: '2026-01-31T22:06:02.101Z',
  lastUsed: null,
  last_used_ip: null,
  current: false,
};

const preferences = {
  email_subscribed: false,
  show_cancelled_items: true,
  language: 'en',
  timezone: 'UTC',
  theme: 'system',
  notifications: { payments: true, services: true },
  default_organization_id: null,
};
const account = {
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
    show_cancelled_items: true,
    pending_email: null,
  },
  preferences,
  apikeys: [demoKey],
  passkeys: [],
  staff: null,
  events_position: 1187,
};

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  getAccountDetails: { data: account },
  updateAccountDetails: {
    body: { phone: '+31 20 555 0100', billing_email: 'books@example.com' },
    data: {
      ...account,
      user: { ...account.user, phone: '+31 20 555 0100', billing_email: 'books@example.com' },
    },
  },
  exportAccountData: { data: null },
  closeAccount: {
    body: {},
    data: {
      closed: true,
      organization_ids: [1001],
      kept: [
        {
          tables: ['invoices', 'payments'],
          why: 'books, and what they stand on, are kept as long as the law wants them',
        },
      ],
    },
  },
  updatePreferences: {
    body: { timezone: 'Europe/Amsterdam', notifications: { services: false } },
    data: {
      preferences: {
        ...preferences,
        timezone: 'Europe/Amsterdam',
        notifications: { payments: true, services: false },
      },
    },
  },
  confirmEmailChange: { body: { token: linkToken }, data: { email_changed: true } },
  revokeEmailChange: { body: { token: linkToken }, data: { email_restored: true } },
  register: {
    body: {
      email: 'grace@example.com',
      password: 'seven otters read maps',
      first_name: 'Grace',
      last_name: 'Lindqvist',
      organization_name: 'Lindqvist AB',
      country: 'SE',
    },
    data: { mail_sent: true },
  },
  openUnsubscribePage: { query: { token: unsubscribeToken }, data: null },
  unsubscribe: { query: { token: unsubscribeToken }, data: null },
  verifyEmail: { body: { token: linkToken }, data: { email_verified: true } },
  resendVerification: { body: { email: 'grace@example.com' }, data: { mail_sent: true } },
  logIn: {
    body: { email: 'grace@example.com', password: 'seven otters read maps' },
    data: {
      second_factor_required: false,
      methods: [],
      user: signedInUser,
    },
  },
  showSecondFactor: {
    body: { code: '492039' },
    data: {
      second_factor_required: false,
      methods: [],
      user: {
        id: 4503599627370803,
        email: 'sam@example.com',
        first_name: 'Sam',
        last_name: 'Keeper',
        staff_role: 'administrator',
      },
    },
  },
  setUpSecondFactor: {
    data: {
      secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
      otpauth_url:
        'otpauth://totp/panel.example.com:grace%40example.com?issuer=panel.example.com&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30',
    },
  },
  enableSecondFactor: { body: { code: '492039' }, data: { recovery_codes: recoveryCodes } },
  disableSecondFactor: { body: { code: '118204' }, data: { disabled: true } },
  renewRecoveryCodes: { data: { recovery_codes: recoveryCodes } },
  listPasskeys: { data: { passkeys: [passkey], ...onlyPage(1) } },
  getPasskey: { params: { id: passkey.id }, data: { passkey } },
  renamePasskey: { params: { id: passkey.id }, body: { name: 'Phone' }, data: { passkey } },
  removePasskey: { params: { id: passkey.id }, data: { removed: true } },
  askForNewPasskey: {
    data: {
      options: {
        challenge,
        rp: { id: 'panel.example.com', name: 'panel.example.com' },
        user: {
          ...{ id: 'NDUwMzU5OTYyNzM3MDgwMg', name: 'grace@example.com', displayName: 'Grace Lindqvist' },
        },
        pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
        timeout: 300_000,
        attestation: 'none',
        excludeCredentials: [],
        authenticatorSelection: {
          ...{ residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
        },
      },
    },
  },
  addPasskey: {
    body: {
      credential: {
        ...{ id: credentialId, rawId: credentialId, type: 'public-key' },
        response: {
          clientDataJSON,
          attestationObject:
            'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YViUSZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2NFAAAAAAAAAAAAAAAAAAAAAAAAAAAAEG',
          transports: ['internal', 'hybrid'],
        },
      },
      name: 'Phone',
    },
    data: { passkey, recovery_codes: recoveryCodes },
  },
  askForPasskey: { body: {}, data: { options: requestOptions } },
  signInWithPasskey: {
    body: { credential: assertion },
    data: { second_factor_required: false, methods: [], user: signedInUser },
  },
  askForPasskeyAgain: { data: { options: { ...requestOptions, allowCredentials: [knownPasskey] } } },
  reauthenticateWithPasskey: { body: { credential: assertion }, data: { proven: true } },
  logOut: { data: { signed_out: true } },
  reauthenticate: { body: { password: 'seven otters read maps' }, data: { proven: true } },
  forgetPassword: { body: { email: 'grace@example.com' }, data: { mail_sent: true } },
  resetPassword: {
    body: { token: linkToken, password: 'nine herons fold linen' },
    data: { password_set: true },
  },
  listSessions: { data: { sessions: [session], ...onlyPage(1) } },
  getSession: { params: { id: session.id }, data: { session } },
  endSession: { params: { id: session.id }, data: { ended: true } },
  endOtherSessions: { data: { ended: 2 } },
  listSignIns: {
    data: {
      sign_ins: [
        {
          outcome: 'signed_in',
          method: 'password',
          second_factor: false,
          new_device: true,
          ip: session.ip,
          user_agent: session.user_agent,
          created_at: session.created_at,
        },
      ],
      ...onlyPage(1),
    },
  },
  listApiKeys: { data: { api_keys: [demoKey], ...onlyPage(1) } },
  getApiKey: { params: { id: demoKey.id }, data: { api_key: demoKey } },
  createApiKey: {
    body: {
      name: 'deploy',
      billing: false,
      shield: false,
      scopes: ['service.read', 'vps.power', 'vps.read'],
      organization_ids: [1001],
      ip_allowlist: ['192.0.2.0/24', '2001:db8::/32'],
      expires_at: '2027-01-31T00:00:00.000Z',
    },
    data: { api_key: apiKey, token: 'ink_Vn8s3KVQ2Y0d8Xq5t7wZr4uK9mPcLhTe0a1b2c' },
  },
  updateApiKey: {
    params: { id: apiKey.id },
    body: { ip_allowlist: ['192.0.2.0/24'] },
    data: { api_key: { ...apiKey, ip_allowlist: ['192.0.2.0/24'] } },
  },
  rotateApiKey: {
    params: { id: apiKey.id },
    body: { overlap_hours: 48 },
    data: {
      api_key: { ...apiKey, id: 4503599627370604, key: 'ink_Qw8e2r…' },
      token: 'ink_Qw8e2rT6y1U4i7o0P3aSdFgHjKlZxCvBnM9q8w7e',
      replaced: { id: apiKey.id, expires_at: '2026-02-02T22:06:02.101Z' },
    },
  },
  revokeApiKey: { params: { id: apiKey.id }, data: { revoked: true } },
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
  correctUser: {
    params: { id: 4503599627370601 },
    body: { last_name: 'Novak' },
    data: { user },
  },
  blockUser: {
    params: { id: 4503599627370601 },
    body: { reason: 'Sends spam; ticket a1b2c3d4' },
    data: { user: { ...user, status: 'blocked' } },
  },
  unblockUser: { params: { id: 4503599627370601 }, data: { user } },
  askForFactorReset: {
    params: { id: 4503599627370601 },
    body: { reason: 'Lost the phone; called back at the number of the account' },
    data: { factor_reset: factorReset },
  },
  getFactorReset: { params: { id: 4503599627370601 }, data: { factor_reset: factorReset } },
  revokeFactorReset: { params: { id: 4503599627370601 }, data: { stopped: true } },
  keepFactors: { body: { token: linkToken }, data: { kept: true } },
  impersonateUser: {
    params: { id: 4503599627370601 },
    body: { reason: 'Ticket a1b2c3d4: the invoice is not shown' },
    data: { impersonation, token: 'ini_Qx7b2mVn9T4kLw8cRz1yHs5dJf3gPaUe0o6iq8w2e4' },
  },
  listImpersonations: { query: { limit: 1 }, data: { impersonations: [impersonation], ...onlyPage(1) } },
  endImpersonation: {
    params: { id: impersonation.id },
    data: { impersonation: { ...impersonation, ended_at: '2026-01-31T22:14:09.120Z' } },
  },
  listStaff: { query: { role: 'support' }, data: { staff: [], ...onlyPage(0) } },
  getStaff: { params: { id: staffMember.id }, data: { member: staffMember } },
  addStaff: {
    body: { email: 'kim@example.com', first_name: 'Kim', last_name: 'Berg', role: 'support' },
    data: { member: staffMember },
  },
  updateStaff: {
    params: { id: staffMember.id },
    body: { role: 'support' },
    data: { member: staffMember },
  },
  removeStaff: { params: { id: staffMember.id }, data: { removed: true } },
  blockStaff: {
    params: { id: staffMember.id },
    body: { reason: 'Left the company' },
    data: { member: { ...staffMember, status: 'blocked' } },
  },
  unblockStaff: { params: { id: staffMember.id }, data: { member: staffMember } },
  createStaffKey: {
    body: { name: 'monitoring', billing: false },
    data: { api_key: staffKey, token: shownOnce },
  },
  listStaffKeys: {
    query: { limit: 1 },
    data: {
      api_keys: [staffKey],
      pages: 2,
      current_page: 1,
      entries: 1,
      total: 2,
      next_cursor: 'WyIyMDI2Il0',
    },
  },
  getStaffKey: { params: { id: staffKey.id }, data: { api_key: staffKey } },
  rotateStaffKey: {
    params: { id: staffKey.id },
    body: { overlap_hours: 48 },
    data: {
      api_key: { ...staffKey, id: 4503599627370703, key: 'ink_Qw8e2r…' },
      token: 'ink_Qw8e2rT6y1U4i7o0P3aSdFgHjKlZxCvBnM9q8w7e',
      replaced: { id: staffKey.id, expires_at: '2026-02-02T22:06:02.101Z' },
    },
  },
  revokeStaffKey: { params: { id: 4503599627370703 }, data: { revoked: true } },
  deleteSshKey: { params: { id: ids.sshKey }, data: { deleted: true } },
} satisfies Record<string, Example>;
