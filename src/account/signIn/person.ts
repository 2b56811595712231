import { statement } from '../../platform/index.ts';
import type { StaffRole } from '../users.ts';

/** A person, as far as signing in needs them. */
export interface PersonRow {
  id: number;
  email: string;
  first_name: string;
  last_name: string;
  password_hash: string;
  status: 'active' | 'blocked' | 'closed';
  staff_role: StaffRole | null;
  email_verified: boolean;
}

const select =
  'select id, email, first_name, last_name, password_hash, status, staff_role, email_verified from users';

export const personByEmail = statement<PersonRow, { email: string }>(
  'account.personByEmail',
  `${select} where lower(email) = lower(:email)`,
);
export const personById = statement<PersonRow, { id: number }>(
  'account.personById',
  `${select} where id = :id`,
);

/** The same, and nobody else changes them until the transaction ends. */
export const lockedPerson = statement<PersonRow, { id: number }>(
  'account.lockedPerson',
  `${select} where id = :id for no key update`,
);
export const setPassword = statement<never, { id: number; passwordHash: string; now: Date }>(
  'account.setPassword',
  'update users set password_hash = :passwordHash, updated_at = :now where id = :id',
);
export const setEmail = statement<never, { id: number; email: string; now: Date }>(
  'account.setEmail',
  'update users set email = :email, email_verified = true, updated_at = :now where id = :id',
);
export const verifyEmail = statement<never, { id: number; now: Date }>(
  'account.verifyEmail',
  'update users set email_verified = true, updated_at = :now where id = :id and not email_verified',
);
