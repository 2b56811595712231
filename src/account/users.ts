import { record } from '../events/index.ts';
import {
  type AccountContext,
  type Context,
  fail,
  newId,
  statement,
  type TxContext,
} from '../platform/index.ts';
import { accountChanged, accountCreated } from './events.ts';
import { hashPassword } from './signIn/passwords.ts';

export const staffRoles = ['administrator', 'billing', 'support', 'operator'] as const;
export type StaffRole = (typeof staffRoles)[number];

export function isStaffRole(text: string): text is StaffRole {
  return staffRoles.some((role) => role === text);
}

export interface NewUser {
  email: string;
  firstName: string;
  lastName: string;
  password: string;
  staffRole?: StaffRole;
}

const insertUser = statement<
  never,
  {
    id: number;
    email: string;
    firstName: string;
    lastName: string;
    passwordHash: string;
    staffRole: StaffRole | null;
    emailVerified: boolean;
    language: string;
    now: Date;
  }
>(
  'account.insertUser',
  `insert into users (id, email, first_name, last_name, password_hash, staff_role, email_verified, language,
     created_at, updated_at)
   values (:id, :email, :firstName, :lastName, :passwordHash, :staffRole, :emailVerified, :language, :now, :now)`,
);

/** Makes an account whose e-mail address counts as verified. Returns its id. */
export async function createUser(ctx: TxContext, { password, ...user }: NewUser): Promise<number> {
  const passwordHash = await hashPassword(password);
  return insertAccount(ctx, { ...user, passwordHash, emailVerified: true });
}

/** What an account begins with. */
interface NewAccount extends Omit<NewUser, 'password'> {
  passwordHash: string;
  emailVerified: boolean;
  language?: string | null | undefined;
}

/** Makes an account with a password that was hashed before. Returns its id. */
export async function insertAccount(ctx: TxContext, user: NewAccount): Promise<number> {
  const id = newId();
  await ctx.db.run(insertUser, {
    id,
    email: user.email,
    firstName: user.firstName,
    lastName: user.lastName,
    passwordHash: user.passwordHash,
    staffRole: user.staffRole ?? null,
    emailVerified: user.emailVerified,
    language: user.language ?? 'en',
    now: ctx.clock.now(),
  });
  await record(ctx, accountCreated, { subject: { type: 'user', id }, organizationId: null });
  return id;
}

const lock = statement<{ status: 'active' | 'blocked' | 'closed' }, { userId: number }>(
  'account.lockUser',
  'select status from users where id = :userId for no key update',
);

/**
 * Makes others wait who want to give this person one more of what is limited. Comes before the counting and apart from
 * it: the count has to be of a snapshot that begins after the lock is ours. Who was let in and is not any more, since
 * the account was closed or blocked meanwhile, gets nothing: `unauthorized`; `conflict` when another one asks for them.
 */
export async function lockUser(tx: TxContext, userId: number): Promise<void> {
  const status = await lockAnyUser(tx, userId);
  if (status === 'active') return;
  if (tx.actor.userId === userId) throw fail('unauthorized');
  throw fail('conflict', { message: `This account is ${status}` });
}

/** The same of whoever it is, to take something away. */
export async function lockAnyUser(tx: TxContext, userId: number) {
  return (await tx.db.one(lock, { userId })).status;
}

const staffMember = statement<{ id: number }, { email: string }>(
  'account.staffMember',
  `select id from users where lower(email) = lower(:email) and staff_role is not null and status = 'active'`,
);

/** The id of somebody of the provider's by their address; null when there is nobody. */
export async function findStaffMember(ctx: Context, email: string): Promise<number | null> {
  return (await ctx.db.maybe(staffMember, { email }))?.id ?? null;
}

const addressesOfStaff = statement<{ email: string }, { roles: string[] }>(
  'account.staffAddresses',
  `select email from users where staff_role = any(:roles::text[]) and status = 'active' order by id`,
);

/** Where the provider's people are told what needs them, by their roles. */
export async function staffAddresses(
  ctx: Context,
  roles: StaffRole[] = ['administrator', 'operator'],
): Promise<string[]> {
  return (await ctx.db.many(addressesOfStaff, { roles })).map(({ email }) => email);
}

/** Says which fields changed, and not to what: the journal stays when an account is closed. */
export async function recordChange(tx: AccountContext & TxContext, fields: string[]): Promise<void> {
  const { userId } = tx.actor;
  await record(tx, accountChanged, {
    subject: { type: 'user', id: userId },
    organizationId: null,
    data: { user_id: userId, fields },
  });
}
