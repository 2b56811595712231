import { type Context, fail, transaction } from '../../platform/index.ts';
import { requireOne, type Shown, takeFactor } from '../factors/factor.ts';
import { requireCookies } from '../sessions/cookies.ts';
import { openSession } from '../sessions/open.ts';
import { endHalf, requireHalf } from './half.ts';
import { type Asked, signedIn, visitOf } from './logIn.ts';
import { lockedPerson } from './person.ts';
import { noteRefusal } from './refusals.ts';

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
