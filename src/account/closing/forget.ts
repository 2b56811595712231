import { randomBytes } from 'node:crypto';
import { forgetInJournal, forgetMailsTo } from '../../events/index.ts';
import { newId, statement, type TxContext } from '../../platform/index.ts';
import { hashToken } from '../sessions/token.ts';
import type { PersonRow } from '../signIn/person.ts';

/** What nobody has to keep of an account that was closed, and what is put in the place of the rest. */

const clearUser = statement<never, { id: number; email: string; passwordHash: string; now: Date }>(
  'account.clearUser',
  `update users set status = 'closed', email = :email, first_name = '', last_name = '', password_hash = :passwordHash,
     phone = null, billing_email = null, abuse_email = null, email_verified = false, email_subscribed = false,
     default_organization_id = null, last_activity_at = null, language = 'en', timezone = 'UTC', theme = 'system',
     notifications = '{}', updated_at = :now
   where id = :id`,
);
const clearKeys = statement<never, { userId: number; now: Date }>(
  'account.clearKeys',
  `update api_keys set revoked_at = coalesce(revoked_at, :now), name = '', ip_allowlist = null, last_used_ip = null
   where user_id = :userId`,
);
const gone = [
  ...[
    'sessions',
    'devices',
    'account_links',
    'totp_factors',
    'recovery_codes',
    'passkeys',
    'passkey_challenges',
  ],
  ...['factor_resets', 'ssh_keys', 'email_changes'],
].map((table) =>
  statement<never, { userId: number }>(
    `account.forget_${table}`,
    `delete from ${table} where user_id = :userId`,
  ),
);
const forgetRequests = statement<never, { email: string }>(
  'account.forgetAddressRequests',
  'delete from address_requests where lower(email) = lower(:email)',
);
// The last mail goes to the address that the account had, which stands nowhere else any more. Such a row also says which address
// the journal may forget: the application's role may write any, as it may set whose address is which, and gains nothing by it that
// it has not (docs/decisions/0090).
const keepAddress = statement<
  never,
  { id: number; userId: number; email: string; newEmail: string; hash: Buffer; until: Date; now: Date }
>(
  'account.keepClosedAddress',
  `insert into email_changes (id, user_id, old_email, new_email, state, hash, until, created_at)
   values (:id, :userId, :email, :newEmail, 'closed', :hash, :until, :now)`,
);

const addressKeptMs = 7 * 24 * 3_600_000;

/**
 * Clears an account whose row is locked. Its address is free from now on, and kept for a week beside it, for the mail that tells
 * of the closing. Returns by what that mail finds the address.
 */
export async function clearAccount(
  tx: TxContext,
  person: PersonRow,
  addresses: readonly string[],
  passwordHash: string,
): Promise<number> {
  const { id: userId, email } = person;
  const now = tx.clock.now();
  for (const forget of gone) await tx.db.run(forget, { userId });
  await tx.db.run(forgetRequests, { email });
  await tx.db.run(clearKeys, { userId, now });
  const newEmail = `closed-${userId}@closed.invalid`;
  await tx.db.run(clearUser, { id: userId, email: newEmail, passwordHash, now });
  const until = new Date(now.getTime() + addressKeptMs);
  const ids: number[] = [];
  for (const address of new Set([email, ...addresses])) {
    const id = newId();
    const hash = hashToken(randomBytes(32).toString('hex'));
    await tx.db.run(keepAddress, { id, userId, email: address, newEmail, hash, until, now });
    ids.push(id);
  }
  return ids[0] as number;
}

const dueAddresses = statement<
  { id: number; user_id: number; old_email: string; created_at: Date },
  { now: Date; limit: number }
>(
  'account.closedAddresses',
  `select id, user_id, old_email, created_at from email_changes where state = 'closed' and until <= :now
   order by until limit :limit for update skip locked`,
);
const forgetAddress = statement<never, { id: number }>(
  'account.forgetClosedAddress',
  'delete from email_changes where id = :id',
);

const batch = 20;

/** A week after an account was closed: clears the mails that were sent to its addresses, and what the journal knows
 * them by, and forgets these, a batch at a time. */
export async function forgetClosed(tx: TxContext): Promise<'more' | 'done'> {
  const due = await tx.db.many(dueAddresses, { now: tx.clock.now(), limit: batch });
  let isMore = due.length >= batch;
  for (const { id, user_id: userId, old_email: address, created_at: before } of due) {
    if ((await forgetMailsTo(tx, { address, userId, before })) === 'more') isMore = true;
    // After the mails, which are told from it.
    else if ((await forgetInJournal(tx, { userId, address })) === 'more') isMore = true;
    else await tx.db.run(forgetAddress, { id });
  }
  return isMore ? 'more' : 'done';
}
