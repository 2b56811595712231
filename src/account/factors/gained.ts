import { statement, type TxContext } from '../../platform/index.ts';
import { dropAskedChange } from '../emailChange/rows.ts';
import { endSessionsOf } from '../sessions/end.ts';
import { factorsOf } from './factor.ts';
import { dropRecoveryCodes, newRecoveryCodes } from './recoveryCodes.ts';

const weaken = statement<never, { userId: number }>(
  'account.weakenSessions',
  'update sessions set strong = false where user_id = :userId',
);

const dropTotpSince = statement<never, { userId: number; since: Date }>(
  'account.dropTotpSince',
  'delete from totp_factors where user_id = :userId and created_at >= :since',
);
const dropPasskeysSince = statement<never, { userId: number; since: Date }>(
  'account.dropPasskeysSince',
  'delete from passkeys where user_id = :userId and created_at >= :since',
);

/** Takes what an account got since a moment from which on somebody else had it; what it had before stays. */
export async function dropFactorsSince(tx: TxContext, userId: number, since: Date): Promise<void> {
  await tx.db.run(dropTotpSince, { userId, since });
  await tx.db.run(dropPasskeysSince, { userId, since });
  await loseFactor(tx, userId);
}

/**
 * Before an account gets a factor: when it is its first one, the other sessions end, which know the password alone and
 * must not change it. Returns ten recovery codes then, and null when there are some.
 */
export async function gainFactor(tx: TxContext, userId: number, sessionId: number): Promise<string[] | null> {
  if ((await factorsOf(tx, userId)).length > 0) return null;
  await endSessionsOf(tx, userId, sessionId);
  await dropAskedChange(tx, userId);
  return newRecoveryCodes(tx, userId);
}

/** After an account lost a factor: when it was the last one, no session counts as signed in with one. */
export async function loseFactor(tx: TxContext, userId: number): Promise<void> {
  if ((await factorsOf(tx, userId)).length > 0) return;
  await dropRecoveryCodes(tx, userId);
  await tx.db.run(weaken, { userId });
}
