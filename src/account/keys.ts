import { createHash } from 'node:crypto';
import { record } from '../events/index.ts';
import { newId, type Queryable, statement, type TxContext } from '../platform/index.ts';
import { type Scopes, wholeScopes } from './areas.ts';
import { apiKeyCreated } from './events.ts';
import { isWhole, randomToken } from './tokens.ts';

const scheme = 'ink_';
const prefixLength = scheme.length + 6;
const noteUseEveryMs = 60_000;

export interface NewApiKey {
  id: number;
  /** The whole key; this is the only moment it exists in clear. */
  key: string;
}

const insertKey = statement<
  never,
  {
    id: number;
    userId: number;
    name: string;
    prefix: string;
    hash: Buffer;
    billing: boolean;
    shield: boolean;
    vps: boolean;
    expiresAt: Date | null;
    now: Date;
  }
>(
  'account.insertKey',
  `insert into api_keys (id, user_id, name, prefix, hash, billing, shield, vps, expires_at, created_at)
   values (:id, :userId, :name, :prefix, :hash, :billing, :shield, :vps, :expiresAt, :now)`,
);

// Says again how old the last note has to be: other processes may have taken one meanwhile.
const noteKeyUse = statement<never, { id: number; now: Date; before: Date }>(
  'account.noteKeyUse',
  `with used as (update api_keys set last_used_at = :now where id = :id
     and (last_used_at is null or last_used_at <= :before)
                 returning user_id)
   update users u set last_activity_at = :now from used where u.id = used.user_id`,
);

/** What a key may be for, and until when; a key is for all its person may do, and for good, unless this says otherwise. */
export interface KeyTerms {
  scopes?: Scopes;
  expiresAt?: Date | null;
  /** Whether somebody else than its person has it made: then they are told. */
  byOther?: boolean;
}

/** Makes an API key for a user. Only its hash is kept; the answer is the one time it can be read. */
export async function createApiKey(
  ctx: TxContext,
  userId: number,
  name: string,
  { scopes = wholeScopes, expiresAt = null, byOther = false }: KeyTerms = {},
): Promise<NewApiKey> {
  const id = newId();
  const key = randomToken(scheme);
  const prefix = key.slice(0, prefixLength);
  const { billing, shield, vps } = scopes;
  const facts = { id, userId, name, prefix, billing, shield, vps };
  await ctx.db.run(insertKey, { ...facts, hash: hashKey(key), expiresAt, now: ctx.clock.now() });
  await record(ctx, apiKeyCreated, {
    subject: { type: 'api_key', id },
    organizationId: null,
    data: {
      ...{ user_id: userId, name, prefix, billing, shield, vps },
      expires_at: expiresAt?.toISOString() ?? null,
      by_other: byOther,
    },
  });
  return { id, key };
}

/** Whether this can be one of our keys at all. */
export function looksLikeKey(text: string): boolean {
  return isWhole(scheme, text);
}

/** What the database keeps of a key. The key has 192 random bits, so one round of SHA-256 is enough. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/**
 * Notes that a key was used, at most once a minute. The request does not wait for it, nor fail with it: what is lost
 * is only a moment that nobody is told.
 */
export function noteUse(db: Queryable, key: { id: number; lastUsedAt: Date | null }, now: Date): void {
  const before = new Date(now.getTime() - noteUseEveryMs);
  if (key.lastUsedAt !== null && key.lastUsedAt > before) return;
  db.run(noteKeyUse, { id: key.id, now, before }).catch(() => undefined);
}
