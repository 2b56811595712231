import { hasHappened, record } from '../events/index.ts';
import { forgetPrincipals } from '../platform/http/index.ts';
import { type AccountContext, type Context, fail, statement, type TxContext } from '../platform/index.ts';
import { areaBeyond, areas, type Scopes, wholeScopes } from './areas.ts';
import { apiKeyRevoked, apiKeyRotated } from './events.ts';
import { createApiKey, type NewApiKey } from './keys.ts';
import { lockUser } from './users.ts';

/**
 * What may be done to API keys, whoever they belong to. Nobody gets a key that may do more, or lives longer, than the
 * key that asks: whoever finds a small key can make no large one of it.
 */

const keysPerAccount = 100;
const hourMs = 3_600_000;

/** A key that was not revoked, with whose it is. */
export interface ApiKey extends Scopes {
  id: number;
  user_id: number;
  name: string;
  prefix: string;
  expires_at: Date | null;
  created_at: Date;
}

/** What is asked of a new key; what is absent is as with the key that asks. */
export interface KeyWish {
  name: string;
  billing?: boolean | undefined;
  shield?: boolean | undefined;
  vps?: boolean | undefined;
  expires_at?: Date | string | null | undefined;
}

const keyById = statement<ApiKey, { id: number }>(
  'account.keyById',
  `select id, user_id, name, prefix, billing, shield, vps, expires_at, created_at
   from api_keys where id = :id and revoked_at is null`,
);
const countKeys = statement<{ all: number; good: number }, { userId: number; but: number; now: Date }>(
  'account.countKeys',
  `select count(*)::int as all,
     count(*) filter (where id <> :but and (expires_at is null or expires_at > :now))::int as good
   from api_keys where user_id = :userId and revoked_at is null`,
);
const setExpiry = statement<never, { id: number; expiresAt: Date }>(
  'account.setKeyExpiry',
  'update api_keys set expires_at = :expiresAt where id = :id',
);
const revoke = statement<never, { id: number; now: Date }>(
  'account.revokeKey',
  'update api_keys set revoked_at = :now where id = :id',
);

const lockOwner = statement<never, { id: number }>(
  'account.lockOwnerOfKey',
  'select u.id from users u where u.id = (select user_id from api_keys where id = :id) for no key update',
);

/** Nobody changes this person's keys until the transaction ends. */
export async function lockKey(tx: TxContext, id: number): Promise<void> {
  await tx.db.maybe(lockOwner, { id });
}

/** A key that was not revoked; null when there is none. */
export function findKey(ctx: Context, id: number): Promise<ApiKey | null> {
  return ctx.db.maybe(keyById, { id });
}

/** Makes a key for a person. `permission_denied` for one that is mightier than who asks, `invalid_request`, `too_many`. */
export async function makeKey(
  ctx: AccountContext & TxContext,
  userId: number,
  wish: KeyWish,
): Promise<NewApiKey> {
  const asking = await askingKey(ctx);
  const held = asking ?? wholeScopes;
  const scopes: Scopes = {
    billing: wish.billing ?? held.billing,
    shield: wish.shield ?? held.shield,
    vps: wish.vps ?? held.vps,
  };
  const longest = asking?.expires_at ?? null;
  const expiresAt = wish.expires_at === undefined ? longest : asDate(wish.expires_at);
  if (expiresAt !== null && expiresAt <= ctx.clock.now()) throw invalidExpiry();
  requireNoMightier(asking, { ...scopes, expires_at: expiresAt });
  await requireFewKeys(ctx, userId);
  const byOther = userId !== ctx.actor.userId;
  return createApiKey(ctx, userId, wish.name, { scopes, expiresAt, byOther });
}

/**
 * Puts a new key in the place of one, which goes on for the overlap. The new one may do the same, and lives for as long
 * as the old one was made for. `conflict` when the old one has ended.
 */
export async function rotateKey(
  ctx: AccountContext & TxContext,
  key: ApiKey,
  overlapHours: number,
): Promise<NewApiKey & { replacedEndsAt: Date }> {
  const asking = await askingKey(ctx);
  if (asking?.id !== key.id) requireNoMightier(asking, key);
  const now = ctx.clock.now();
  if (key.expires_at !== null && key.expires_at <= now)
    throw fail('conflict', { message: 'This key has ended; make a new one instead' });
  // Whoever found the old one must not get a third of it in the time that is left to it.
  if (await hasHappened(ctx, apiKeyRotated, { type: 'api_key', id: key.id }))
    throw fail('conflict', { message: 'This key was rotated already; rotate the one that took its place' });
  await requireFewKeys(ctx, key.user_id);
  const lifeMs = key.expires_at === null ? null : key.expires_at.getTime() - key.created_at.getTime();
  const made = await createApiKey(ctx, key.user_id, key.name, {
    scopes: key,
    expiresAt: lifeMs === null ? null : new Date(now.getTime() + lifeMs),
    byOther: key.user_id !== ctx.actor.userId,
  });
  const overlapEnd = new Date(now.getTime() + overlapHours * hourMs);
  const endsAt = key.expires_at !== null && key.expires_at < overlapEnd ? key.expires_at : overlapEnd;
  await ctx.db.run(setExpiry, { id: key.id, expiresAt: endsAt });
  await record(ctx, apiKeyRotated, {
    subject: { type: 'api_key', id: key.id },
    organizationId: null,
    data: { user_id: key.user_id, name: key.name, replaced_by: made.id, ends_at: endsAt.toISOString() },
  });
  ctx.db.afterCommit(forgetPrincipals);
  return { ...made, replacedEndsAt: endsAt };
}

/** Ends a key at once. `last_key` when it is the last that its person has, is revoked by them, and may not leave none. */
export async function revokeKey(
  ctx: AccountContext & TxContext,
  key: ApiKey,
  mayLeaveNone: boolean,
): Promise<void> {
  const asking = await askingKey(ctx);
  // However long it lives: whoever may end a key at all may end one that outlives theirs.
  requireNoMightier(asking, { ...key, expires_at: asking?.expires_at ?? null });
  const now = ctx.clock.now();
  await lockUser(ctx, key.user_id);
  if ((await findKey(ctx, key.id)) === null) throw fail('not_found');
  const byOther = key.user_id !== ctx.actor.userId;
  const { good } = await ctx.db.one(countKeys, { userId: key.user_id, but: key.id, now });
  if (good === 0 && !byOther && !mayLeaveNone) throw fail('last_key');
  await ctx.db.run(revoke, { id: key.id, now });
  await record(ctx, apiKeyRevoked, {
    subject: { type: 'api_key', id: key.id },
    organizationId: null,
    data: { user_id: key.user_id, name: key.name, prefix: key.prefix, by_other: byOther },
  });
  ctx.db.afterCommit(forgetPrincipals);
}

/** The key that the request came with; null for a session, which is kept to nothing. */
async function askingKey(ctx: AccountContext): Promise<ApiKey | null> {
  if (ctx.actor.apiKeyId === null) return null;
  const key = await findKey(ctx, ctx.actor.apiKeyId);
  if (key === null) throw fail('unauthorized'); // revoked while this was on its way
  return key;
}

function requireNoMightier(asking: ApiKey | null, wanted: Scopes & { expires_at: Date | null }): void {
  if (asking === null) return;
  const area = areaBeyond(asking, wanted);
  if (area !== null) {
    const mine = areas.filter((each) => asking[each]);
    const message = `Your key is kept to ${mine.join(' and ') || 'no area'}, and this one is for ${area} as well; ask with a key that is`;
    throw fail('permission_denied', { message });
  }
  if (asking.expires_at === null) return;
  if (wanted.expires_at !== null && wanted.expires_at <= asking.expires_at) return;
  const message = `Your key ends on ${asking.expires_at.toISOString()}, and this one would outlive it; ask with a key that lives as long`;
  throw fail('permission_denied', { message });
}

async function requireFewKeys(ctx: TxContext, userId: number): Promise<void> {
  await lockUser(ctx, userId);
  const { all } = await ctx.db.one(countKeys, { userId, but: 0, now: ctx.clock.now() });
  if (all >= keysPerAccount)
    throw fail('too_many', { message: `An account holds ${keysPerAccount} API keys; revoke one first` });
}

function asDate(moment: Date | string | null): Date | null {
  return moment === null ? null : new Date(moment);
}

function invalidExpiry() {
  const details = [{ field: 'expires_at', message: 'must lie in the future' }];
  return fail('invalid_request', { details });
}
