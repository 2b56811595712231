import { answer } from '../../platform/http/index.ts';
import { type Context, fail, type TxContext, transaction } from '../../platform/index.ts';
import { factorsOf } from '../factors/factor.ts';
import { cookiesOf, deviceTokenOf, requireCookies } from '../sessions/cookies.ts';
import { type Opened, openHalf, openSession, type Visit } from '../sessions/open.ts';
import { hashPassword, isOutdated, isPassword } from './passwords.ts';
import { lockedPerson, type PersonRow, personByEmail, setPassword } from './person.ts';
import { noteRefusal } from './refusals.ts';

/** What is read of a request beside its body. */
export interface Asked {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  userAgent: string | null;
}

interface Credentials {
  email: string;
  password: string;
}

/**
 * Signs somebody in by address and password. `invalid_credentials`, the same and after the same time whether there is
 * such an account; `account_blocked` only for who knows the password.
 */
export async function logIn(ctx: Context, { email, password }: Credentials, asked: Asked) {
  requireCookies(ctx, asked.headers);
  const person = await ctx.db.maybe(personByEmail, { email });
  const isRight = await isPassword(password, person?.password_hash ?? null);
  if (person === null || !isRight) {
    if (person !== null) noteRefusal(ctx, person.id, 'wrong_password', asked.userAgent);
    throw fail('invalid_credentials');
  }
  // Anybody makes such an account, with a password that they know: another answer would tell them whether there was one before.
  if (!person.email_verified) throw fail('invalid_credentials');
  if (person.status !== 'active') throw fail('account_blocked');
  const renewed = isOutdated(person.password_hash) ? await hashPassword(password) : null;
  return transaction(ctx, 'account.logIn', async (tx) => {
    const [, methods] = await Promise.all([requireSame(tx, person), factorsOf(tx, person.id)]);
    if (renewed !== null)
      await tx.db.run(setPassword, { id: person.id, passwordHash: renewed, now: tx.clock.now() });
    if (methods.length > 0) {
      const half = await openHalf(tx, person.id, visitOf(asked));
      return answer({ second_factor_required: true, methods }, cookiesOf(half.token, null, half.seconds));
    }
    const opened = await openSession(
      tx,
      { userId: person.id, method: 'password', strong: false },
      visitOf(asked),
    );
    return signedIn(person, opened);
  });
}

/** Between the look at the password and the session, somebody may have set another one, which ends all sessions. */
async function requireSame(tx: TxContext, { id, password_hash, status }: PersonRow): Promise<void> {
  const now = await tx.db.one(lockedPerson, { id });
  if (now.password_hash !== password_hash || now.status !== status) throw fail('invalid_credentials');
}

/** The answer to whoever is signed in now. */
export function signedIn(person: PersonRow, { token, device, seconds }: Opened) {
  const { id, email, first_name, last_name, staff_role } = person;
  const user = { id, email, first_name, last_name, staff_role };
  return answer({ second_factor_required: false, methods: [], user }, cookiesOf(token, device, seconds));
}

export function visitOf({ headers, userAgent }: Asked): Visit {
  return { userAgent, device: deviceTokenOf(headers) };
}
