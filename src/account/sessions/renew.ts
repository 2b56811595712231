import { forgetPrincipals } from '../../platform/http/index.ts';
import { type AccountContext, statement, type TxContext } from '../../platform/index.ts';
import { cookiesOf } from './cookies.ts';
import { requireSession } from './list.ts';
import { hashToken, newSessionToken } from './token.ts';

const renew = statement<never, { id: number; hash: Buffer; strong: boolean; now: Date }>(
  'account.renewSession',
  'update sessions set hash = :hash, proven_at = :now, strong = strong or :strong where id = :id',
);

/**
 * Somebody proved who they are: the session goes on, and what endangers the account is theirs for ten minutes. Its token is
 * new, as at every rise in rights. Returns the headers that bring it to the browser.
 */
export async function renewSession(
  tx: AccountContext & TxContext,
  sessionId: number,
  { strong }: { strong: boolean },
): Promise<ReturnType<typeof cookiesOf>> {
  const { expires_at } = await requireSession(tx, sessionId);
  const token = newSessionToken();
  const now = tx.clock.now();
  await tx.db.run(renew, { id: sessionId, hash: hashToken(token), strong, now });
  tx.db.afterCommit(forgetPrincipals);
  return cookiesOf(token, null, Math.floor((expires_at.getTime() - now.getTime()) / 1_000));
}
