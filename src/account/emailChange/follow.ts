import { randomBytes } from 'node:crypto';
import { record } from '../../events/index.ts';
import {
  actingAs,
  attempt,
  type Context,
  fail,
  isDuplicate,
  statement,
  transaction,
} from '../../platform/index.ts';
import { revokeKeysSince } from '../apiKeys/change.ts';
import { emailChanged, emailChangeRevoked } from '../events.ts';
import { dropFactorsSince } from '../factors/gained.ts';
import { endSessionsOf } from '../sessions/end.ts';
import { hashToken } from '../sessions/token.ts';
import { dropLinksOf, makeLink } from '../signIn/links.ts';
import { hashPassword } from '../signIn/passwords.ts';
import { lockedPerson, setEmail, setPassword } from '../signIn/person.ts';
import { dropSshKeysSince } from '../sshKeys.ts';
import { changeByLink, hashOfLink, heldAddress, revokeMs } from './rows.ts';

/** What the links do that mails about a change of an address bring. */

const confirmChange = statement<never, { id: number; hash: Buffer; until: Date }>(
  'account.confirmEmailChange',
  `update email_changes set state = 'confirmed', hash = :hash, until = :until where id = :id`,
);
const dropChanges = statement<never, { userId: number; since: Date }>(
  'account.dropEmailChanges',
  'delete from email_changes where user_id = :userId and created_at >= :since',
);

/** Gives an account the address that the link was sent to. `invalid_link`, `conflict`. */
export function confirmEmailChange(ctx: Context, token: string) {
  return transaction(ctx, 'account.confirmEmailChange', async (outer) => {
    const now = outer.clock.now();
    const change = await outer.db.maybe(changeByLink, { hash: hashToken(token), state: 'asked', now });
    if (change === null) throw fail('invalid_link');
    const { id, user_id: userId, new_email: email } = change;
    const tx = actingAs(outer, userId);
    const person = await tx.db.one(lockedPerson, { id: userId });
    if (person.status !== 'active' || person.email !== change.old_email) throw fail('invalid_link');
    const held = await heldAddress(tx, email);
    if (held !== null && held.user_id !== userId) throw taken();
    try {
      await attempt(tx, (inner) => inner.db.run(setEmail, { id: userId, email, now }));
    } catch (error) {
      throw isDuplicate(error, 'users_email') ? taken(error) : error;
    }
    await dropLinksOf(tx, userId); // they were sent to the address before
    const until = new Date(now.getTime() + revokeMs);
    await tx.db.run(confirmChange, { id, hash: hashOfLink(tx, 'revoke', id), until });
    await record(tx, emailChanged, {
      subject: { type: 'user', id: userId },
      organizationId: null,
      data: { user_id: userId, email_change_id: id },
    });
    return { email_changed: true };
  });
}

/**
 * Gives an account the address back that it had, whatever happened since. Whoever took it away knows the password, so that
 * is good no more: all sessions end, what was added since the change was asked for (API keys, SSH keys, passkeys, an authenticator app) goes, and a mail to the old address brings a link to set another. `invalid_link`.
 */
export async function revokeEmailChange(ctx: Context, token: string) {
  const passwordHash = await hashPassword(randomBytes(32).toString('base64url'));
  return transaction(ctx, 'account.revokeEmailChange', async (outer) => {
    const now = outer.clock.now();
    const change = await outer.db.maybe(changeByLink, { hash: hashToken(token), state: 'confirmed', now });
    if (change === null) throw fail('invalid_link');
    const { user_id: userId } = change;
    const tx = actingAs(outer, userId);
    const person = await tx.db.one(lockedPerson, { id: userId });
    if (person.status === 'closed') throw fail('invalid_link');
    await tx.db.run(setEmail, { id: userId, email: change.old_email, now });
    await tx.db.run(setPassword, { id: userId, passwordHash, now });
    const sessions_ended = await endSessionsOf(tx, userId, null);
    await dropLinksOf(tx, userId);
    await tx.db.run(dropChanges, { userId, since: change.created_at });
    await dropFactorsSince(tx, userId, change.created_at);
    await revokeKeysSince(tx, change.created_at);
    const ssh_keys = await dropSshKeysSince(tx, change.created_at);
    await record(tx, emailChangeRevoked, {
      subject: { type: 'user', id: userId },
      organizationId: null,
      data: { user_id: userId, link_id: await makeLink(tx, 'reset', userId), sessions_ended, ssh_keys },
    });
    return { email_restored: true };
  });
}

function taken(cause?: unknown) {
  return fail('conflict', { message: 'By now another account has this address; choose another one', cause });
}
