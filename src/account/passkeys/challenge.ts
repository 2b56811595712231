import { randomBytes } from 'node:crypto';
import { type Context, statement } from '../../platform/index.ts';
import { hashToken } from '../sessions/token.ts';

/** What a challenge is signed for; one that was made for something else is none. */
export type Purpose = 'add' | 'sign_in' | 'second_factor' | 'reauthenticate';

/** How long a browser has to answer. */
export const challengeMs = 5 * 60_000;

/** Who may answer: nobody in particular, or a person in the session that asked. */
export interface Asker {
  userId: number | null;
  sessionId: number | null;
}

const insertChallenge = statement<
  never,
  { hash: Buffer; purpose: Purpose; userId: number | null; sessionId: number | null; expiresAt: Date }
>(
  'account.insertPasskeyChallenge',
  `insert into passkey_challenges (hash, purpose, user_id, session_id, expires_at)
   values (:hash, :purpose, :userId, :sessionId, :expiresAt)`,
);
// Whoever deletes the row has used the challenge; the next one finds none.
const useChallenge = statement<
  { purpose: Purpose; user_id: number | null; session_id: number | null },
  { hash: Buffer; now: Date }
>(
  'account.usePasskeyChallenge',
  `delete from passkey_challenges where hash = :hash and expires_at > :now
   returning purpose, user_id, session_id`,
);
const purge = statement<never, { now: Date; limit: number }>(
  'account.purgePasskeyChallenges',
  `delete from passkey_challenges where hash in
     (select hash from passkey_challenges where expires_at <= :now limit :limit)`,
);

/** Makes something to sign. Returns it in base64url; only its hash is kept. */
export async function newChallenge(ctx: Context, purpose: Purpose, asker: Asker): Promise<string> {
  const challenge = randomBytes(32).toString('base64url');
  const expiresAt = new Date(ctx.clock.now().getTime() + challengeMs);
  await ctx.db.run(insertChallenge, { hash: hashToken(challenge), purpose, ...asker, expiresAt });
  return challenge;
}

/**
 * Uses a challenge up, whatever becomes of what was signed. Whether it was made by us for this purpose and this asker, a
 * few minutes ago at most, and nobody used it before.
 */
export async function takeChallenge(
  ctx: Context,
  purpose: Purpose,
  { userId, sessionId }: Asker,
  challenge: string,
): Promise<boolean> {
  const row = await ctx.db.maybe(useChallenge, { hash: hashToken(challenge), now: ctx.clock.now() });
  return row?.purpose === purpose && row.user_id === userId && row.session_id === sessionId;
}

const batch = 1_000;

/** Forgets challenges that nobody answered, a batch at a time. */
export async function purgeChallenges(ctx: Context): Promise<'more' | 'done'> {
  return (await ctx.db.run(purge, { now: ctx.clock.now(), limit: batch })) >= batch ? 'more' : 'done';
}
