import {
  hashKey,
  hashToken,
  isForOrganization,
  isSecured,
  type KeyLimits,
  keptTo,
  limitsOfKey,
  looksLikeImpersonation,
  looksLikeKey,
  looksLikeSession,
  noteSession,
  noteUse,
  plainAddress,
} from '../account/index.ts';
import type { Config } from '../config.ts';
import type { Authenticate, Principal } from '../platform/http/index.ts';
import { type Clock, type Context, type Queryable, statement } from '../platform/index.ts';
import { permissionsOf } from './permissions.ts';

interface PersonRow {
  user_id: number;
  staff_role: string | null;
  role: string | null;
  default_organization_id: number | null;
  is_member: boolean;
  /** Whether the organization wants a second factor, and this caller stands without one. */
  lacks_factor: boolean | null;
  is_blocked: boolean | null;
  show_cancelled_items: boolean;
}

interface KeyRow extends PersonRow {
  key_id: number;
  last_used_at: Date | null;
  limits: KeyLimits;
  test: boolean;
}

interface SessionRow extends PersonRow {
  session_id: number;
  strong: boolean;
  proven_at: Date;
  last_seen_at: Date;
}

interface ImpersonatedRow extends PersonRow {
  impersonation_id: number;
  staff_id: number;
  read_only: boolean;
  expires_at: Date;
  only_organization_id: number | null;
}

/** Of a person `u`, with the membership `m` that was asked for, as far as memberships count. */
const person = (counts: string) => `u.id as user_id, u.staff_role, u.show_cancelled_items, m.role,
     coalesce(case when u.default_organization_id is not null then
         (select own.organization_id from memberships own
          where own.user_id = u.id and own.organization_id = u.default_organization_id and ${counts}) end,
       (select case when count(*) = 1 then min(own.organization_id) end from memberships own
         where own.user_id = u.id and ${counts})
     ) as default_organization_id,
     (select o.status = 'blocked' from organizations o where o.id = m.organization_id) as is_blocked,
     exists (select 1 from memberships own where own.user_id = u.id) as is_member`;

const lacksFactor = (isStrong: string) =>
  `(select o.require_2fa and not ${isStrong} from organizations o where o.id = m.organization_id) as lacks_factor`;

// One round trip: the key, its account, and the membership in the organization that was asked for.
const keyHolder = (
  which: string,
) => `select k.id as key_id, k.last_used_at, k.test, ${person(isForOrganization('own'))}, ${limitsOfKey} as limits,
     ${lacksFactor(isSecured('u.id'))}
   from api_keys k
   join users u on u.id = k.user_id and u.status = 'active'
   left join memberships m on m.user_id = u.id and m.organization_id = :organizationId and ${isForOrganization('m')}
   where ${which} and k.revoked_at is null and (k.expires_at is null or k.expires_at > :now)
     and (k.ip_allowlist is null or :ip::inet <<= any (k.ip_allowlist))`;

interface AskingKey {
  organizationId: number | null;
  ip: string | null;
  now: Date;
}

const findKeyHolder = statement<KeyRow, AskingKey & { hash: Buffer }>(
  'organizations.findCaller',
  keyHolder('k.hash = :hash'),
);
const findKeyHolderAgain = statement<KeyRow, AskingKey & { id: number }>(
  'organizations.findCallerAgain',
  keyHolder('k.id = :id'),
);

// The same of somebody who signed in. Half a sign-in is nobody's yet.
const signedIn = (
  which: string,
) => `select s.id as session_id, s.strong, s.proven_at, s.last_seen_at, ${person('true')}, ${lacksFactor('s.strong')}
   from sessions s
   join users u on u.id = s.user_id and u.status = 'active'
   left join memberships m on m.user_id = u.id and m.organization_id = :organizationId
   where ${which} and not s.half and s.expires_at > :now and s.last_seen_at > :idleSince`;

interface AskingSession {
  organizationId: number | null;
  now: Date;
  idleSince: Date;
}

const findSignedIn = statement<SessionRow, AskingSession & { hash: Buffer }>(
  'organizations.findSignedIn',
  signedIn('s.hash = :hash'),
);
const findSignedInAgain = statement<SessionRow, AskingSession & { id: number }>(
  'organizations.findSignedInAgain',
  signedIn('s.id = :id'),
);

// The same of somebody of staff who acts as a customer, in one organization and no other, while they are signed in.
const findImpersonated = statement<
  ImpersonatedRow,
  { hash: Buffer; organizationId: number | null; now: Date }
>(
  'organizations.findImpersonated',
  `select i.id as impersonation_id, i.staff_id, i.read_only, i.expires_at, i.organization_id as only_organization_id,
     ${person('own.organization_id = i.organization_id')}, false as lacks_factor
   from impersonations i
   join users u on u.id = i.user_id and u.status = 'active' and u.staff_role is null
   join users s on s.id = i.staff_id and s.status = 'active' and s.staff_role in ('administrator', 'support')
   join sessions b on b.id = i.session_id and b.strong and b.expires_at > :now
   left join memberships m on m.user_id = u.id and m.organization_id = :organizationId
     and m.organization_id = i.organization_id
   where i.hash = :hash and i.ended_at is null and i.expires_at > :now`,
);

/** Decides who an API key or a session belongs to, and what it may do in an organization. */
export function authenticator(
  db: Queryable,
  clock: Clock,
  { sessions }: Pick<Config, 'sessions'>,
): Authenticate {
  const byKey = async (
    key: string,
    organizationId: number | null,
    ip: string,
    isIdle: boolean,
  ): Promise<Principal | null> => {
    const now = clock.now();
    const from = plainAddress(ip);
    const row = await db.maybe(findKeyHolder, { hash: hashKey(key), organizationId, ip: from, now });
    if (row === null) return null;
    if (!isIdle) noteUse(db, { id: row.key_id, lastUsedAt: row.last_used_at }, from, now);
    return {
      actor: { type: 'api_key', userId: row.user_id, apiKeyId: row.key_id, ip },
      sessionId: null,
      signIn: null,
      keptTo: keptTo(row.limits),
      isTest: row.test,
      ...(row.role !== null && { ofRole: permissionsOf(row.role) }),
      ...personOf(row, row.limits),
    };
  };

  const bySession = async (
    token: string,
    organizationId: number | null,
    ip: string,
    isIdle: boolean,
  ): Promise<Principal | null> => {
    const now = clock.now();
    const idleSince = idleSinceOf(now, sessions);
    const row = await db.maybe(findSignedIn, { hash: hashToken(token), organizationId, now, idleSince });
    if (row === null) return null;
    if (!isIdle) noteSession(db, { id: row.session_id, lastSeenAt: row.last_seen_at }, now);
    return {
      actor: { type: 'user', userId: row.user_id, apiKeyId: null, ip },
      sessionId: row.session_id,
      signIn: { strong: row.strong, provenAt: row.proven_at },
      keptTo: null,
      ...personOf(row),
    };
  };

  const byImpersonation = async (
    token: string,
    organizationId: number | null,
    ip: string,
  ): Promise<Principal | null> => {
    const now = clock.now();
    const row = await db.maybe(findImpersonated, { hash: hashToken(token), organizationId, now });
    if (row === null) return null;
    return {
      ...personOf(row),
      actor: {
        ...{ type: 'user', userId: row.user_id, apiKeyId: null, ip, staffId: row.staff_id },
        onlyOrganizationId: row.only_organization_id,
      },
      sessionId: `i${row.impersonation_id}`,
      signIn: null,
      keptTo: null,
      impersonation: { staffId: row.staff_id, readOnly: row.read_only, until: row.expires_at },
      defaultOrganizationId: row.only_organization_id,
    };
  };

  return async (credential, organizationId, ip, isIdle = false) => {
    if (looksLikeImpersonation(credential)) return byImpersonation(credential, organizationId, ip);
    if (looksLikeKey(credential)) return byKey(credential, organizationId, ip, isIdle);
    return looksLikeSession(credential) ? bySession(credential, organizationId, ip, isIdle) : null;
  };
}

/** With what something was opened that goes on by itself, such as a console. */
export interface Opener {
  /** Null: it belongs to none, as what staff looks at. */
  organizationId: number | null;
  /** One of the two; whoever has neither is let in nowhere. */
  apiKeyId: number | null;
  sessionId: number | null;
  ip: string | null;
}

/**
 * What a key or session that was let in before may do in its organization now; empty once it would not be let in any more,
 * whatever the reason.
 */
export async function permissionsNow(ctx: Context, opener: Opener): Promise<ReadonlySet<string>> {
  const found = await openerNow(ctx, opener);
  return (found?.lacksFactor || found?.isBlocked ? null : found?.permissions) ?? nothing;
}

/** Who of staff a key or session that was let in before is now; null once it would not be let in any more. */
export async function staffNow(
  ctx: Context,
  opener: Opener,
): Promise<Pick<Principal, 'staffRole' | 'signIn' | 'keptTo'> | null> {
  return openerNow(ctx, opener);
}

async function openerNow(
  { db, clock, config }: Context,
  { organizationId, apiKeyId, sessionId, ip }: Opener,
) {
  const now = clock.now();
  if (apiKeyId !== null) {
    const asking = { id: apiKeyId, organizationId, ip: ip === null ? null : plainAddress(ip), now };
    const row = await db.maybe(findKeyHolderAgain, asking);
    return row && { ...personOf(row, row.limits), signIn: null, keptTo: keptTo(row.limits) };
  }
  if (sessionId === null) return null;
  const idleSince = idleSinceOf(now, config.sessions);
  const row = await db.maybe(findSignedInAgain, { id: sessionId, organizationId, now, idleSince });
  return row && { ...personOf(row), signIn: { strong: row.strong, provenAt: row.proven_at }, keptTo: null };
}

const nothing: ReadonlySet<string> = new Set();

function idleSinceOf(now: Date, { idleHours }: Config['sessions']): Date {
  return new Date(now.getTime() - idleHours * 3_600_000);
}

function personOf(row: PersonRow, limits?: KeyLimits) {
  return {
    staffRole: row.staff_role,
    permissions: row.role === null ? null : permissionsOf(row.role, limits),
    defaultOrganizationId: row.default_organization_id,
    isMember: row.is_member,
    lacksFactor: row.lacks_factor === true,
    isBlocked: row.is_blocked === true,
    hidesCancelled: !row.show_cancelled_items,
  };
}
