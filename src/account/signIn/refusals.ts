import { record } from '../../events/index.ts';
import { type Context, transaction } from '../../platform/index.ts';
import { signInRefused } from '../events.ts';
import { shortened } from '../sessions/open.ts';

/**
 * Writes down that somebody tried, for the account's history. Nobody waits for it: what an unknown address does not
 * have must not show in how long the answer takes.
 */
export function noteRefusal(
  ctx: Context,
  userId: number,
  reason: 'wrong_password' | 'wrong_code' | 'wrong_passkey',
  userAgent: string | null,
): void {
  const note = transaction(ctx, 'account.noteRefusal', (tx) =>
    // Whoever tried is nobody we know, and least of all the person.
    record({ ...tx, actor: { ...tx.actor, type: 'user', userId: null } }, signInRefused, {
      subject: { type: 'user', id: userId },
      organizationId: null,
      data: { user_id: userId, reason, user_agent: shortened(userAgent) },
    }),
  );
  note.catch((error: unknown) => ctx.log.warn({ err: error }, 'a refused sign-in was not written down'));
}
