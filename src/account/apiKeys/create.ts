import { createHash } from 'node:crypto';
import { record } from '../../events/index.ts';
import { newId, type Queryable, statement, type TxContext } from '../../platform/index.ts';
import { apiKeyCreated } from '../events.ts';
import { isWhole, randomToken } from '../tokens.ts';
import type { Areas } from './areas.ts';
import { copied, type KeyTerms, wholeTerms } from './key.ts';

const scheme = 'ink_';
/** Says at a glance that nothing comes of what is asked with it. */
const testScheme = 'ink_test_';
const shownCharacters = 6;
const noteUseEveryMs = 60_000;

export interface NewApiKey {
  id: number;
  /** The whole key; this is the only moment it exists in clear. */
  key: string;
}

const insertKey = statement<
  never,
  Areas & {
    id: number;
    userId: number;
    name: string;
    prefix: string;
    hash: Buffer;
    scopes: string[] | null;
    organizationIds: number[] | null;
    ipAllowlist: string[] | null;
    test: boolean;
    expiresAt: Date | null;
    now: Date;
  }
>(
  'account.insertKey',
  `insert into api_keys (id, user_id, name, prefix, hash, billing, shield, vps, scopes, organization_ids, ip_allowlist,
     test, expires_at, created_at)
   values (:id, :userId, :name, :prefix, :hash, :billing, :shield, :vps, :scopes::text[], :organizationIds::bigint[],
     :ipAllowlist::inet[], :test, :expiresAt, :now)`,
);

// Says again how old the last note has to be: other processes may have taken one meanwhile.
const noteKeyUse = statement<never, { id: number; ip: string; now: Date; before: Date }>(
  'account.noteKeyUse',
  `with used as (update api_keys set last_used_at = :now, last_used_ip = :ip::inet where id = :id
     and (last_used_at is null or last_used_at <= :before)
                 returning user_id)
   update users u set last_activity_at = :now from used where u.id = used.user_id`,
);

interface NewKey {
  /** What is absent it is not kept to. */
  terms?: Partial<KeyTerms>;
  expiresAt?: Date | null;
  /** Whether somebody else than its person has it made: then they are told. */
  byOther?: boolean;
}

/** Makes an API key for a user. Only its hash is kept; the answer is the one time it can be read. */
export async function createApiKey(
  ctx: TxContext,
  userId: number,
  name: string,
  { terms, expiresAt = null, byOther = false }: NewKey = {},
): Promise<NewApiKey> {
  const id = newId();
  const { billing, shield, vps, scopes, organization_ids, ip_allowlist, test } = { ...wholeTerms, ...terms };
  const kind = test ? testScheme : scheme;
  const key = randomToken(kind);
  const prefix = key.slice(0, kind.length + shownCharacters);
  await ctx.db.run(insertKey, {
    ...{
      id,
      userId,
      name,
      prefix,
      billing,
      shield,
      vps,
      hash: hashKey(key),
      test,
      expiresAt,
      now: ctx.clock.now(),
    },
    scopes: copied(scopes),
    organizationIds: copied(organization_ids),
    ipAllowlist: copied(ip_allowlist),
  });
  await record(ctx, apiKeyCreated, {
    subject: { type: 'api_key', id },
    organizationId: null,
    data: {
      ...{ user_id: userId, name, prefix, billing, shield, vps },
      expires_at: expiresAt?.toISOString() ?? null,
      by_other: byOther,
      by_self: ctx.actor.userId === userId,
      ...{
        scopes: copied(scopes),
        organization_ids: copied(organization_ids),
        ip_allowlist: copied(ip_allowlist),
        test,
      },
    },
  });
  return { id, key };
}

/** Whether this can be one of our keys at all. */
export function looksLikeKey(text: string): boolean {
  return isWhole(scheme, text) || isWhole(testScheme, text);
}

/** What the database keeps of a key. The key has 192 random bits, so one round of SHA-256 is enough. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/**
 * Notes that a key was used, at most once a minute. The request does not wait for it, nor fail with it: what is lost
 * is only a moment that nobody is told.
 */
export function noteUse(
  db: Queryable,
  key: { id: number; lastUsedAt: Date | null },
  ip: string,
  now: Date,
): void {
  const before = new Date(now.getTime() - noteUseEveryMs);
  if (key.lastUsedAt !== null && key.lastUsedAt > before) return;
  db.run(noteKeyUse, { id: key.id, ip, now, before }).catch(() => undefined);
}
