import { type Queryable, statement } from '../../platform/index.ts';

const noteEveryMs = 60_000;

// Says again how old the last note has to be: other processes may have taken one meanwhile.
const noteSessionUse = statement<never, { id: number; now: Date; before: Date }>(
  'account.noteSessionUse',
  `with used as (update sessions set last_seen_at = :now where id = :id and last_seen_at <= :before returning user_id)
   update users u set last_activity_at = :now from used where u.id = used.user_id`,
);

/** Notes that a session is used, at most once a minute. The request does not wait for it, nor fail with it. */
export function noteSession(db: Queryable, session: { id: number; lastSeenAt: Date }, now: Date): void {
  const before = new Date(now.getTime() - noteEveryMs);
  if (session.lastSeenAt > before) return;
  db.run(noteSessionUse, { id: session.id, now, before }).catch(() => undefined);
}
