import { record } from '../../events/index.ts';
import { answer } from '../../platform/http/index.ts';
import { type AccountContext, fail, requireRow, type TxContext, transaction } from '../../platform/index.ts';
import { sessionProven } from '../events.ts';
import { noSession } from '../sessions/cookies.ts';
import { endSession } from '../sessions/end.ts';
import { renewSession } from '../sessions/renew.ts';
import type { Asked } from './logIn.ts';
import { isPassword } from './passwords.ts';
import { personById } from './person.ts';
import { noteRefusal } from './refusals.ts';

/** Ends the session that asks. */
export async function logOut(ctx: AccountContext, sessionId: number) {
  await endSession(ctx, sessionId);
  return answer({ signed_out: true }, noSession);
}

/**
 * Lets somebody signed in prove again who they are, for what endangers their account. The session gets a new token, as at
 * every rise in rights. `invalid_credentials`.
 */
export async function reauthenticate(ctx: AccountContext, sessionId: number, password: string, asked: Asked) {
  const { userId } = ctx.actor;
  const person = await requireRow(ctx, personById, { id: userId });
  if (!(await isPassword(password, person.password_hash))) {
    noteRefusal(ctx, userId, 'wrong_password', asked.userAgent);
    throw fail('invalid_credentials', { message: 'This is not the password of your account' });
  }
  return transaction(ctx, 'account.proveSession', (tx) => proveAgain(tx, sessionId, { strong: false }));
}

/** Whatever proved it: from now on it counts for ten minutes. */
export async function proveAgain(
  tx: AccountContext & TxContext,
  sessionId: number,
  how: { strong: boolean },
) {
  const { userId } = tx.actor;
  const cookies = await renewSession(tx, sessionId, how);
  await record(tx, sessionProven, {
    subject: { type: 'user', id: userId },
    organizationId: null,
    data: { user_id: userId, session_id: sessionId },
  });
  return answer({ proven: true }, cookies);
}
