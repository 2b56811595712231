import { readCredential } from '../../platform/http/index.ts';
import { type Context, fail, statement, type TxContext } from '../../platform/index.ts';
import { hashToken, looksLikeSession } from '../sessions/token.ts';
import type { Asked } from './logIn.ts';

const halfSession = statement<{ id: number; user_id: number }, { hash: Buffer; now: Date }>(
  'account.halfSession',
  'select id, user_id from sessions where hash = :hash and half and expires_at > :now',
);
// Whoever deletes the row goes on from it; the next one finds none.
const deleteHalf = statement<never, { id: number }>(
  'account.endHalfSession',
  'delete from sessions where id = :id and half',
);

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
