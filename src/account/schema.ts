import { Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  listOf,
  MoneyText,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../platform/http/index.ts';

const Moment = Type.String({ format: 'date-time' });

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
      }),
      'A person with an account',
    ),
    apikeys: Type.Array(
      named(
        'ApiKey',
        Type.Object({
          id: Id,
          name: Type.String(),
          key: Type.String({ description: 'The first characters; the whole key was shown once' }),
          billing: Type.Boolean(),
          shield: Type.Boolean(),
          vps: Type.Boolean(),
          created_at: Moment,
          lastUsed: Nullable(Moment),
        }),
        'A key, as far as it is shown again',
      ),
    ),
    passkeys: Type.Array(
      named(
        'Passkey',
        Type.Object({
          id: Id,
          name: Type.String(),
          synced: Type.Boolean(),
          created_at: Moment,
          last_used: Nullable(Moment),
        }),
        'A passkey to sign in with',
      ),
    ),
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
