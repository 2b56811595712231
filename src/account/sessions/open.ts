import { record } from '../../events/index.ts';
import { forgetPrincipals } from '../../platform/http/index.ts';
import { actingAs, newId, statement, type TxContext } from '../../platform/index.ts';
import { sessionOpened } from '../events.ts';
import { meetDevice } from './devices.ts';
import { hashToken, newSessionToken } from './token.ts';

const hourMs = 3_600_000;
const halfMs = 10 * 60_000;
const sessionsAtMost = 50;

const insertSession = statement<
  never,
  {
    id: number;
    userId: number;
    hash: Buffer;
    half: boolean;
    strong: boolean;
    method: Method;
    deviceId: number | null;
    ip: string | null;
    userAgent: string | null;
    expiresAt: Date;
    now: Date;
  }
>(
  'account.insertSession',
  `insert into sessions (id, user_id, hash, half, strong, method, device_id, ip, user_agent, proven_at, last_seen_at,
     expires_at, created_at)
   values (:id, :userId, :hash, :half, :strong, :method, :deviceId, :ip, :userAgent, :now, :now, :expiresAt, :now)`,
);
const dropOldest = statement<never, { userId: number; half: boolean; keep: number }>(
  'account.dropOldestSessions',
  `delete from sessions where id in (select id from sessions where user_id = :userId and half = :half
     order by created_at desc, id desc offset :keep)`,
);

export type Method = 'password' | 'passkey';

/** Who signs in, and how that was proved. */
export interface Proven {
  userId: number;
  method: Method;
  /** Whether a second factor or a passkey was shown. */
  strong: boolean;
}

/** Where from. */
export interface Visit {
  userAgent: string | null;
  /** What the browser keeps to be known again, if it does. */
  device: string | null;
}

/** A session that has begun: what the browser is to keep, and for how long. */
export interface Opened {
  id: number;
  token: string;
  device: string | null;
  seconds: number;
}

/**
 * Opens a session for a person. Every way of signing in ends here, whatever proved who they are: a password, a passkey,
 * or what comes later. The token is new each time, so nobody can have known it before.
 */
export async function openSession(
  tx: TxContext,
  { userId, method, strong }: Proven,
  visit: Visit,
): Promise<Opened> {
  const id = newId();
  const token = newSessionToken();
  const now = tx.clock.now();
  const lifeMs = tx.config.sessions.longestHours * hourMs;
  const device = await meetDevice(tx, userId, visit.device);
  const userAgent = shortened(visit.userAgent);
  const inserted = tx.db.run(insertSession, {
    ...{ id, userId, hash: hashToken(token), half: false, strong, method, deviceId: device.id },
    ...{ ip: tx.actor.ip, userAgent, expiresAt: new Date(now.getTime() + lifeMs), now },
  });
  const dropped = tx.db.run(dropOldest, { userId, half: false, keep: sessionsAtMost });
  const recorded = record(actingAs(tx, userId), sessionOpened, {
    subject: { type: 'user', id: userId },
    organizationId: null,
    data: {
      ...{ user_id: userId, session_id: id, method, second_factor: strong, user_agent: userAgent },
      new_device: device.isNew,
    },
  });
  const [, ended] = await Promise.all([inserted, dropped, recorded]);
  // A session that begins changes nothing of what is remembered: only one that ends does.
  if (ended > 0) tx.db.afterCommit(forgetPrincipals);
  return { id, token, device: device.token, seconds: Math.floor(lifeMs / 1_000) };
}

/** Begins a session that only its challenge knows: the password was right, and the second factor is still to come. */
export async function openHalf(tx: TxContext, userId: number, visit: Visit): Promise<Opened> {
  const id = newId();
  const token = newSessionToken();
  const now = tx.clock.now();
  await tx.db.run(insertSession, {
    ...{ id, userId, hash: hashToken(token), half: true, strong: false, method: 'password', deviceId: null },
    ...{ ip: tx.actor.ip, userAgent: shortened(visit.userAgent) },
    ...{ expiresAt: new Date(now.getTime() + halfMs), now },
  });
  await tx.db.run(dropOldest, { userId, half: true, keep: sessionsAtMost });
  return { id, token, device: null, seconds: halfMs / 1_000 };
}

/** What a browser says of itself, as one line. */
export function shortened(userAgent: string | null): string | null {
  return userAgent === null
    ? null
    : userAgent
        .replace(/\p{Cc}+/gu, ' ')
        .trim()
        .slice(0, 300) || null;
}
