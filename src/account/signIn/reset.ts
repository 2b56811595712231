import { record } from '../../events/index.ts';
import { actingAs, type Context, requireRow, transaction } from '../../platform/index.ts';
import { dropAskedChange } from '../emailChange/rows.ts';
import { emailVerified, passwordReset } from '../events.ts';
import { endSessionsOf } from '../sessions/end.ts';
import { readLink, takeLink } from './links.ts';
import { requireGoodPassword } from './passwordRules.ts';
import { hashPassword } from './passwords.ts';
import { lockedPerson, personById, setPassword, verifyEmail } from './person.ts';

/** Confirms an address by the link that was sent to it. `invalid_link`. */
export function confirmEmail(ctx: Context, token: string) {
  return transaction(ctx, 'account.confirmEmail', async (tx) => {
    const userId = await takeLink(tx, 'verify', token);
    await markVerified(actingAs(tx, userId));
    return { email_verified: true };
  });
}

/**
 * Sets a password by the link that was sent. All sessions end, and the address is confirmed by the way. `invalid_link`,
 * `password_refused`, which leaves the link good.
 */
export async function resetPassword(ctx: Context, token: string, password: string) {
  const person = await requireRow(ctx, personById, { id: await readLink(ctx, 'reset', token) });
  requireGoodPassword(password, {
    ...{ email: person.email, firstName: person.first_name, lastName: person.last_name },
  });
  const passwordHash = await hashPassword(password);
  return transaction(ctx, 'account.resetPassword', async (outer) => {
    const userId = await takeLink(outer, 'reset', token);
    const tx = actingAs(outer, userId);
    await tx.db.one(lockedPerson, { id: userId });
    await tx.db.run(setPassword, { id: userId, passwordHash, now: tx.clock.now() });
    await markVerified(tx);
    await dropAskedChange(tx, userId);
    const sessions_ended = await endSessionsOf(tx, userId, null);
    await record(tx, passwordReset, {
      subject: { type: 'user', id: userId },
      organizationId: null,
      data: { user_id: userId, sessions_ended },
    });
    return { password_set: true };
  });
}

type Acting = Parameters<typeof record>[0] & { actor: { userId: number } };

async function markVerified(tx: Acting): Promise<void> {
  const { userId } = tx.actor;
  if ((await tx.db.run(verifyEmail, { id: userId, now: tx.clock.now() })) === 0) return;
  await record(tx, emailVerified, {
    subject: { type: 'user', id: userId },
    organizationId: null,
    data: { user_id: userId },
  });
}
