import { type PersonalRoom, personalTable } from '../platform/index.ts';

const mine = { people: ['user_id'], closing: 'deleted' } as const;
const hashed = { ...mine, without: ['hash'] } as const;

/** What this room knows of people. What closing does with it is in `closing/forget.ts`. */
export const accountPersonal: PersonalRoom = {
  tables: [
    personalTable('users', { people: ['id'], without: ['password_hash'], closing: 'cleared' }),
    personalTable('sessions', hashed),
    personalTable('devices', hashed),
    personalTable('account_links', hashed),
    personalTable('email_changes', hashed),
    personalTable('totp_factors', { ...mine, without: ['sealed'] }),
    personalTable('recovery_codes', hashed),
    personalTable('passkeys', { ...mine, without: ['credential_id', 'public_key'] }),
    personalTable('passkey_challenges', hashed),
    personalTable('factor_resets', { ...hashed, without: ['hash', 'asked_by'], others: ['asked_by'] }),
    personalTable('api_keys', { ...hashed, closing: 'cleared' }),
    personalTable('ssh_keys', mine),
    personalTable('impersonations', {
      people: ['user_id'],
      others: ['staff_id', 'organization_id'],
      without: ['hash', 'staff_id'],
      closing: { kept: 'staff answers for what it did as somebody else' },
    }),
  ],
};
