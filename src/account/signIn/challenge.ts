import { readCredential } from '../../platform/http/index.ts';
import { type Context, fail, statement, type TxContext, transaction } from '../../platform/index.ts';
import { requireOne, type Shown, takeFactor } from '../factors/factor.ts';
import { deviceTokenOf, requireCookies } from '../sessions/cookies.ts';
import { findDeviceOf } from '../sessions/devices.ts';
import { openSession } from '../sessions/open.ts';
import { hashToken, looksLikeSession } from '../sessions/token.ts';
import { type Asked, noteRefusal, signedIn, visitOf } from './logIn.ts';
import { lockedPerson } from './person.ts';

const halfSession = statement<{ id: number; user_id: number }, { hash: Buffer; now: Date }>(
  'account.halfSession',
  'select id, user_id from sessions where hash = :hash and half and expires_at > :now',
);
// Whoever deletes the row goes on from it; the next one finds none.
const deleteHalf = statement<never, { id: number }>(
  'account.endHalfSession',
  'delete from sessions where id = :id and half',
);

/** Goes on from a password that was right: shows the second factor. `unauthorized` without one, `invalid_code`. */
export async function showFactor(ctx: Context, shown: Shown, asked: Asked) {
  requireCookies(ctx, asked.headers);
  requireOne(shown);
  const half = await requireHalf(ctx, asked);
  const done = await transaction(ctx, 'account.showFactor', async (tx) => {
    const person = await tx.db.one(lockedPerson, { id: half.user_id });
    if (!(await takeFactor(tx, person.id, shown))) return null;
    if (!(await endHalf(tx, half.id)) || person.status !== 'active') throw fail('unauthorized');
    return signedIn(
      person,
      await openSession(tx, { userId: person.id, method: 'password', strong: true }, visitOf(asked)),
    );
  });
  if (done !== null) return done;
  noteRefusal(ctx, half.user_id, 'wrong_code', asked.userAgent);
  throw fail('invalid_code');
}

/**
 * What wrong codes are counted by: the account, whoever knows its password; a browser in which the person signed in before
 * counts for itself.
 */
export async function guessesAtFactor(ctx: Context, asked: Asked) {
  const half = await requireHalf(ctx, asked);
  const device = await findDeviceOf(ctx, deviceTokenOf(asked.headers), half.user_id);
  return { keys: [device === null ? `u${half.user_id}` : `d${device}`], byAddress: false };
}

/** Ends half a session, for who goes on from it. False when somebody did already. */
export async function endHalf(tx: TxContext, id: number): Promise<boolean> {
  return (await tx.db.run(deleteHalf, { id })) > 0;
}

/** Whose password was right a few minutes ago. `unauthorized` when nobody's was. */
export async function requireHalf(ctx: Context, { headers }: Asked) {
  const token = readCredential('POST', headers, new URL(ctx.config.publicUrl).origin);
  if (token === null || !looksLikeSession(token)) throw fail('unauthorized');
  const half = await ctx.db.maybe(halfSession, { hash: hashToken(token), now: ctx.clock.now() });
  if (half === null)
    throw fail('unauthorized', { message: 'Sign in with your password first: POST /auth/login' });
  return half;
}
