import { Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  line,
  listOf,
  MoneyText,
  meaning,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../platform/http/index.ts';
import { ApiKey } from './apiKeys/schema.ts';
import { LanguageCode } from './language.ts';
import { EmailAddress } from './signIn/emailAddress.ts';
import { NewPassword, Password } from './signIn/schema.ts';
import { staffRoles } from './users.ts';

/** Names of places; UTC is none of them. */
const timezones = ['UTC', ...Intl.supportedValuesOf('timeZone')];

import { Passkey } from './passkeys/schema.ts';

const Moment = Type.String({ format: 'date-time' });

const Theme = Choice(['system', 'light', 'dark']);
const wanted = {
  payments: 'Receipts of what you paid',
  services: 'Services that are ready, renewed or changed',
};

const Preferences = named(
  'Preferences',
  Type.Object({
    email_subscribed: Type.Boolean({ description: 'Whether you want news by mail' }),
    show_cancelled_items: Type.Boolean({
      description:
        'Whether lists show services and invoices that are cancelled or over, unless asked for a status',
    }),
    language: Type.String({ description: 'ISO 639-1; of the dashboard, and of mails that there are in it' }),
    timezone: Type.String({ description: 'Of the IANA: in it mails say when something is' }),
    theme: Theme,
    notifications: Type.Object({
      payments: Type.Boolean({ description: wanted.payments }),
      services: Type.Boolean({ description: wanted.services }),
    }),
    default_organization_id: Nullable(
      meaning(
        'For whom you act where a request may leave that out, as checkout may; null: your only one',
        Id,
      ),
    ),
  }),
  'How you are shown and told things',
);
export const PreferencesData = named('PreferencesAnswer', Type.Object({ preferences: Preferences }));
export const NewPreferences = named(
  'NewPreferences',
  Strict({
    email_subscribed: Type.Optional(Type.Boolean()),
    show_cancelled_items: Type.Optional(Type.Boolean()),
    language: Type.Optional(LanguageCode),
    timezone: Type.Optional(Choice(timezones, { description: 'Of the IANA, such as Europe/Vienna' })),
    theme: Type.Optional(Theme),
    notifications: Type.Optional(
      Strict({
        payments: Type.Optional(Type.Boolean({ description: wanted.payments })),
        services: Type.Optional(Type.Boolean({ description: wanted.services })),
      }),
    ),
    default_organization_id: Type.Optional(Nullable(meaning('One that you are in', Id))),
  }),
);

export const Phone = Type.String({
  pattern: '^\\+?[0-9][0-9 ()./-]{3,38}[0-9]$',
  'x-message': 'must be a telephone number such as +31 20 555 0100',
  examples: ['+31 20 555 0100'],
});
export const AccountChange = named(
  'AccountChange',
  Strict({
    first_name: Type.Optional(line(100)),
    last_name: Type.Optional(line(100)),
    phone: Type.Optional(Nullable(Phone)),
    billing_email: Type.Optional(Nullable(EmailAddress)),
    abuse_email: Type.Optional(Nullable(EmailAddress)),
    email: Type.Optional(EmailAddress),
    password: Type.Optional(NewPassword),
    current_password: Type.Optional(Password),
  }),
);

export const StaffRoleName = named('StaffRole', Choice(staffRoles), 'What somebody of the provider may do');

export const Account = named(
  'Account',
  Type.Object({
    twofa_status: Type.Boolean(),
    user: named(
      'User',
      Type.Object({
        id: Id,
        first_name: Type.String(),
        last_name: Type.String(),
        email: Type.String(),
        billing_email: Nullable(Type.String()),
        abuse_email: Nullable(Type.String()),
        phone: Nullable(Type.String()),
        status: Choice(['active', 'blocked', 'closed']),
        credit: MoneyText,
        email_verified: Type.Boolean(),
        email_subscribed: Type.Boolean(),
        twoFactorAuthentication: Type.Boolean(),
        lastActivity: Nullable(Moment),
        created_at: Moment,
        updated_at: Moment,
        show_cancelled_items: Type.Boolean(),
        pending_email: Nullable(
          Type.String({
            description: 'What the address is to be, once the link that was sent to it is followed',
          }),
        ),
      }),
      'A person with an account',
    ),
    preferences: Preferences,
    apikeys: Type.Array(ApiKey),
    passkeys: Type.Array(Passkey),
    staff: Nullable(
      named(
        'OwnStaffRole',
        Type.Object({
          role: StaffRoleName,
          operations: Type.Array(Type.String(), {
            description:
              'The operations below `/staff` that this key or session may call, by their ids; none before a session showed a second factor. Some want proof of the last ten minutes besides',
          }),
        }),
        'What somebody is to the provider, whose people these are',
      ),
    ),
    events_position: Type.Integer({
      minimum: 0,
      description:
        'Where streams of events stood before this was read: `after` of a stream that misses nothing of what happens since',
    }),
  }),
  'Who a key belongs to',
);

const SshKey = named(
  'SshKey',
  Type.Object({
    id: Id,
    name: Type.String(),
    fingerprint: Type.String({ examples: ['SHA256:Zq3m…'] }),
    type: Type.String({ examples: ['ssh-ed25519'] }),
    created_at: Timestamp,
  }),
  'A public key that machines let in',
);

export const SshKeyQuery = ListQuery({ sort: SortBy(['created_at', 'name'], 'created_at') });
export const SshKeyList = named('SshKeyList', listOf('ssh_keys', SshKey));
export const SshKeyData = named('SshKeyAnswer', Type.Object({ ssh_key: SshKey }));
export const NewSshKey = named(
  'NewSshKey',
  Strict({
    name: Type.String({ minLength: 1, maxLength: 100 }),
    public_key: Type.String({ minLength: 1, maxLength: 8_192, description: 'One line of a .pub file' }),
  }),
);
export const Deleted = named('Deleted', Type.Object({ deleted: Type.Boolean() }));
