import { type AccountContext, type Context, fail, transaction } from '../../platform/index.ts';
import { requireCookies } from '../sessions/cookies.ts';
import { openSession } from '../sessions/open.ts';
import { endHalf, requireHalf } from '../signIn/half.ts';
import { proveAgain } from '../signIn/leave.ts';
import { type Asked, signedIn, visitOf } from '../signIn/logIn.ts';
import { lockedPerson } from '../signIn/person.ts';
import { lockUser } from '../users.ts';
import { type Assertion, askForPasskey, refuseCopy, usePasskey, verifyPasskey } from './show.ts';

const nobody = { userId: null, sessionId: null };

/** What a browser needs to show a passkey, alone or after a password. `unauthorized` when no password was shown. */
export async function askToSignIn(ctx: Context, isSecond: boolean, asked: Asked) {
  requireCookies(ctx, asked.headers);
  if (!isSecond) return askForPasskey(ctx, 'sign_in', nobody);
  const half = await requireHalf(ctx, asked);
  return askForPasskey(ctx, 'second_factor', { userId: half.user_id, sessionId: half.id });
}

/**
 * Signs in whoever has the passkey, by it alone or after a password. `invalid_passkey`, `passkey_went_back`,
 * `account_blocked`, `email_unverified`, `unauthorized`.
 */
export async function signInByPasskey(ctx: Context, shown: Assertion, isSecond: boolean, asked: Asked) {
  requireCookies(ctx, asked.headers);
  const half = isSecond ? await requireHalf(ctx, asked) : null;
  const asker = half === null ? nobody : { userId: half.user_id, sessionId: half.id };
  const purpose = half === null ? 'sign_in' : 'second_factor';
  const verified = await verifyPasskey(ctx, purpose, asker, shown, asked.userAgent);
  const done = await transaction(ctx, 'account.signInByPasskey', async (tx) => {
    const person = await tx.db.one(lockedPerson, { id: verified.passkey.user_id });
    if (person.status !== 'active') throw fail('account_blocked');
    if (!person.email_verified) throw fail('email_unverified');
    if (!(await usePasskey(tx, verified))) return null;
    if (half !== null && !(await endHalf(tx, half.id))) throw fail('unauthorized');
    const method = half === null ? ('passkey' as const) : ('password' as const);
    return signedIn(
      person,
      await openSession(tx, { userId: person.id, method, strong: true }, visitOf(asked)),
    );
  });
  return done ?? refuseCopy(ctx, verified);
}

/** What a browser needs to prove by a passkey that it is still the same person. */
export function askToReauthenticate(ctx: AccountContext, sessionId: number) {
  return askForPasskey(ctx, 'reauthenticate', { userId: ctx.actor.userId, sessionId });
}

/** The same as a password shown again. `invalid_passkey`, `passkey_went_back`. */
export async function reauthenticateByPasskey(
  ctx: AccountContext,
  sessionId: number,
  shown: Assertion,
  asked: Asked,
) {
  const asker = { userId: ctx.actor.userId, sessionId };
  const verified = await verifyPasskey(ctx, 'reauthenticate', asker, shown, asked.userAgent);
  const done = await transaction(ctx, 'account.proveByPasskey', async (tx) => {
    await lockUser(tx, ctx.actor.userId);
    return (await usePasskey(tx, verified)) ? proveAgain(tx, sessionId, { strong: true }) : null;
  });
  return done ?? refuseCopy(ctx, verified);
}
