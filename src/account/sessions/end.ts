import { record } from '../../events/index.ts';
import { forgetPrincipals } from '../../platform/http/index.ts';
import {
  type AccountContext,
  type Context,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { sessionEnded, sessionsEnded } from '../events.ts';
import { lockUser } from '../users.ts';
import { requireSession } from './list.ts';

const deleteSession = statement<never, { id: number }>(
  'account.deleteSession',
  'delete from sessions where id = :id',
);
const deleteSessions = statement<never, { userId: number; but: number | null }>(
  'account.deleteSessions',
  'delete from sessions where user_id = :userId and (:but::bigint is null or id <> :but)',
);
const purge = statement<never, { now: Date; idleSince: Date; limit: number }>(
  'account.purgeSessions',
  // What was opened by a clock that was ahead would last for as long as that besides.
  `delete from sessions where id in (select id from sessions where expires_at <= :now or last_seen_at <= :idleSince
     or created_at > :now::timestamptz + interval '1 hour' limit :limit)`,
);

/** Ends one session of the caller's at once. `not_found`, `forbidden`. */
export function endSession(ctx: AccountContext, id: number) {
  return transaction(ctx, 'account.endSession', async (tx) => {
    const { userId } = ctx.actor;
    await lockUser(tx, userId);
    await requireSession(tx, id);
    await tx.db.run(deleteSession, { id });
    await record(tx, sessionEnded, {
      subject: { type: 'user', id: userId },
      organizationId: null,
      data: { user_id: userId, session_id: id },
    });
    tx.db.afterCommit(forgetPrincipals);
    return { ended: true };
  });
}

/** Ends all of the caller's sessions but the one that asks; a key is none, so with it all of them end. */
export function endOtherSessions(ctx: AccountContext, current: number | null) {
  return transaction(ctx, 'account.endOtherSessions', async (tx) => {
    const { userId } = ctx.actor;
    await lockUser(tx, userId);
    const count = await endSessionsOf(tx, userId, current);
    await record(tx, sessionsEnded, {
      subject: { type: 'user', id: userId },
      organizationId: null,
      data: { user_id: userId, count },
    });
    return { ended: count };
  });
}

/** Ends a person's sessions, but for one. Returns how many there were. */
export async function endSessionsOf(tx: TxContext, userId: number, but: number | null): Promise<number> {
  const count = await tx.db.run(deleteSessions, { userId, but });
  tx.db.afterCommit(forgetPrincipals);
  return count;
}

const batch = 1_000;

/** Forgets sessions that have ended by themselves, a batch at a time. */
export async function purgeSessions(ctx: Context): Promise<'more' | 'done'> {
  const now = ctx.clock.now();
  const idleSince = new Date(now.getTime() - ctx.config.sessions.idleHours * 3_600_000);
  return (await ctx.db.run(purge, { now, idleSince, limit: batch })) >= batch ? 'more' : 'done';
}
