import { Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  listOf,
  MoneyText,
  Nullable,
  Strict,
  Timestamp,
} from '../platform/http/index.ts';

const Moment = Type.String({ format: 'date-time' });

export const Account = Type.Object({
  twofa_status: Type.Boolean(),
  user: Type.Object({
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
  apikeys: Type.Array(
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
  ),
  passkeys: Type.Array(
    Type.Object({
      id: Id,
      name: Type.String(),
      synced: Type.Boolean(),
      created_at: Moment,
      last_used: Nullable(Moment),
    }),
  ),
});

const SshKey = Type.Object({
  id: Id,
  name: Type.String(),
  fingerprint: Type.String({ examples: ['SHA256:Zq3m…'] }),
  type: Type.String({ examples: ['ssh-ed25519'] }),
  created_at: Timestamp,
});

export const SshKeyQuery = ListQuery({});
export const SshKeyList = listOf('ssh_keys', SshKey);
export const SshKeyData = Type.Object({ ssh_key: SshKey });
export const NewSshKey = Strict({
  name: Type.String({ minLength: 1, maxLength: 100 }),
  public_key: Type.String({ minLength: 1, maxLength: 8_192, description: 'One line of a .pub file' }),
});
export const Deleted = Type.Object({ deleted: Type.Boolean() });
