import { hasHappened, record } from '../../events/index.ts';
import { forgetPrincipals } from '../../platform/http/index.ts';
import { type AccountContext, fail, statement, type TxContext } from '../../platform/index.ts';
import { apiKeyChanged, apiKeyRevoked, apiKeyRotated } from '../events.ts';
import { requireMember } from '../membership.ts';
import { lockAnyUser, lockUser } from '../users.ts';
import { createApiKey, type NewApiKey } from './create.ts';
import { type ApiKey, copied, findKey, type KeyTerms, wholeTerms } from './key.ts';
import { type KeyChange, type KeyWish, requireNoMightier, termsOf } from './terms.ts';

/**
 * What may be done to API keys, whoever they belong to. Nobody gets a key that may do more, or lives longer, than the
 * key that asks: whoever finds a small key can make no large one of it.
 */

const keysPerAccount = 100;
const hourMs = 3_600_000;

const countKeys = statement<{ all: number; good: number }, { userId: number; but: number; now: Date }>(
  'account.countKeys',
  `select count(*)::int as all,
     count(*) filter (where id <> :but and (expires_at is null or expires_at > :now))::int as good
   from api_keys where user_id = :userId and revoked_at is null`,
);
const setExpiry = statement<never, { id: number; expiresAt: Date }>(
  'account.setKeyExpiry',
  // It was said already that this one ends.
  'update api_keys set expires_at = :expiresAt, warned_at = :expiresAt where id = :id',
);
const writeKey = statement<
  never,
  Omit<KeyTerms, 'scopes' | 'organization_ids' | 'ip_allowlist' | 'test'> & {
    id: number;
    name: string;
    scopes: string[] | null;
    organizationIds: number[] | null;
    ipAllowlist: string[] | null;
    expiresAt: Date | null;
  }
>(
  'account.writeKey',
  `update api_keys set name = :name, billing = :billing, shield = :shield, vps = :vps, scopes = :scopes::text[],
     organization_ids = :organizationIds::bigint[], ip_allowlist = :ipAllowlist::inet[], expires_at = :expiresAt::timestamptz,
     warned_at = case when expires_at is not distinct from :expiresAt::timestamptz then warned_at end
   where id = :id`,
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

/** Makes a key for a person. `permission_denied` for one that is mightier than who asks, `invalid_request`, `too_many`. */
export async function makeKey(
  ctx: AccountContext & TxContext,
  userId: number,
  wish: KeyWish,
): Promise<NewApiKey> {
  const asking = await askingKey(ctx);
  const terms = termsOf(wish, asking ?? wholeTerms);
  const longest = asking?.expires_at ?? null;
  const expiresAt = wish.expires_at === undefined ? longest : asDate(wish.expires_at);
  if (expiresAt !== null && expiresAt <= ctx.clock.now()) throw invalidExpiry();
  requireNoMightier(asking, { ...terms, expires_at: expiresAt });
  await requireFewKeys(ctx, userId);
  await requireMember(ctx, userId, terms.organization_ids);
  const byOther = userId !== ctx.actor.userId;
  return createApiKey(ctx, userId, wish.name, { terms, expiresAt, byOther });
}

/** Changes a key of somebody who signed in. `conflict` when it has ended, `invalid_request`. */
export async function changeKey(
  ctx: AccountContext & TxContext,
  key: ApiKey,
  change: KeyChange,
): Promise<void> {
  const now = ctx.clock.now();
  requireGoing(key, now);
  const terms = termsOf(change, key);
  const name = change.name ?? key.name;
  const expiresAt = change.expires_at === undefined ? key.expires_at : asDate(change.expires_at);
  if (change.expires_at !== undefined && expiresAt !== null && expiresAt <= now) throw invalidExpiry();
  if (change.organization_ids !== undefined) await requireMember(ctx, key.user_id, terms.organization_ids);
  const before: Record<string, unknown> = { ...key, expires_at: key.expires_at?.getTime() };
  const after: Record<string, unknown> = { name, ...terms, expires_at: expiresAt?.getTime() };
  const fields = Object.keys(after).filter((field) => String(before[field]) !== String(after[field]));
  if (fields.length === 0) return;
  const { billing, shield, vps, scopes, organization_ids, ip_allowlist } = terms;
  await ctx.db.run(writeKey, {
    ...{ id: key.id, name, billing, shield, vps, expiresAt },
    ...{
      scopes: copied(scopes),
      organizationIds: copied(organization_ids),
      ipAllowlist: copied(ip_allowlist),
    },
  });
  await record(ctx, apiKeyChanged, {
    subject: { type: 'api_key', id: key.id },
    organizationId: null,
    data: { user_id: key.user_id, name, fields },
  });
  ctx.db.afterCommit(forgetPrincipals);
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
  requireGoing(key, now);
  // Whoever found the old one must not get a third of it in the time that is left to it.
  if (await hasHappened(ctx, apiKeyRotated, { type: 'api_key', id: key.id }))
    throw fail('conflict', { message: 'This key was rotated already; rotate the one that took its place' });
  await requireFewKeys(ctx, key.user_id);
  const lifeMs = key.expires_at === null ? null : key.expires_at.getTime() - key.created_at.getTime();
  const made = await createApiKey(ctx, key.user_id, key.name, {
    terms: key,
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
  await lockAnyUser(ctx, key.user_id);
  if ((await findKey(ctx, key.id)) === null) throw fail('not_found');
  const byOther = key.user_id !== ctx.actor.userId;
  const { good } = await ctx.db.one(countKeys, { userId: key.user_id, but: key.id, now });
  if (good === 0 && !byOther && !mayLeaveNone) throw fail('last_key');
  await endKey(ctx, key, byOther);
}

type EndedKey = Pick<ApiKey, 'id' | 'user_id' | 'name' | 'prefix'>;

async function endKey(tx: AccountContext & TxContext, key: EndedKey, by_other: boolean): Promise<void> {
  const { id, user_id, name, prefix } = key;
  await tx.db.run(revoke, { id, now: tx.clock.now() });
  await record(tx, apiKeyRevoked, {
    subject: { type: 'api_key', id },
    organizationId: null,
    data: { user_id, name, prefix, by_other },
  });
  tx.db.afterCommit(forgetPrincipals);
}

const keysSince = statement<EndedKey, { userId: number; since: Date }>(
  'account.keysSince',
  'select id, user_id, name, prefix from api_keys where user_id = :userId and created_at >= :since and revoked_at is null for update',
);

/** Ends the keys that were made for an account since a moment from which on somebody else had it. */
export async function revokeKeysSince(tx: AccountContext & TxContext, since: Date): Promise<void> {
  const { userId } = tx.actor;
  for (const key of await tx.db.many(keysSince, { userId, since })) await endKey(tx, key, false);
}

/** The key that the request came with; null for a session, which is kept to nothing. */
async function askingKey(ctx: AccountContext): Promise<ApiKey | null> {
  if (ctx.actor.apiKeyId === null) return null;
  const key = await findKey(ctx, ctx.actor.apiKeyId);
  if (key === null) throw fail('unauthorized'); // revoked while this was on its way
  return key;
}

function requireGoing({ expires_at }: ApiKey, now: Date): void {
  if (expires_at !== null && expires_at <= now)
    throw fail('conflict', { message: 'This key has ended; make a new one instead' });
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
