import { hash } from '@node-rs/argon2';
import { record } from '../events/index.ts';
import { newId, statement, type TxContext } from '../platform/index.ts';

export type StaffRole = 'administrator' | 'billing' | 'support' | 'operator';

export interface NewUser {
  email: string;
  firstName: string;
  lastName: string;
  password: string;
  staffRole?: StaffRole;
}

const insertUser = statement(
  'account.insertUser',
  `insert into users (id, email, first_name, last_name, password_hash, staff_role, email_verified, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $8)`,
);

// OWASP's first choice for argon2id; the default algorithm of the library.
const passwordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Makes an account whose e-mail address counts as verified. Returns its id. */
export async function createUser(ctx: TxContext, user: NewUser): Promise<number> {
  const id = newId();
  await ctx.db.run(
    insertUser,
    id,
    user.email,
    user.firstName,
    user.lastName,
    await hash(user.password, passwordCost),
    user.staffRole ?? null,
    true,
    ctx.clock.now(),
  );
  await record(ctx, { action: 'account.created', subject: { type: 'user', id }, organizationId: null });
  return id;
}
