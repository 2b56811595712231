import { hashKey, keptTo, looksLikeKey, noteUse, type Scopes } from '../account/index.ts';
import type { Authenticate } from '../platform/http/index.ts';
import { type Clock, type Queryable, statement } from '../platform/index.ts';
import { permissionsOf } from './permissions.ts';

interface CallerRow {
  key_id: number;
  last_used_at: Date | null;
  user_id: number;
  staff_role: string | null;
  role: string | null;
  scopes: Scopes;
  default_organization_id: number | null;
}

// One round trip: the key, its account, and the membership in the organization that was asked for.
const findCaller = statement<CallerRow, { hash: Buffer; organizationId: number | null; now: Date }>(
  'organizations.findCaller',
  `select k.id as key_id, k.last_used_at, u.id as user_id, u.staff_role, m.role,
     jsonb_build_object('billing', k.billing, 'shield', k.shield, 'vps', k.vps) as scopes,
     coalesce(u.default_organization_id,
       (select case when count(*) = 1 then min(own.organization_id) end from memberships own where own.user_id = u.id)
     ) as default_organization_id
   from api_keys k
   join users u on u.id = k.user_id and u.status = 'active'
   left join memberships m on m.user_id = u.id and m.organization_id = :organizationId
   where k.hash = :hash and k.revoked_at is null and (k.expires_at is null or k.expires_at > :now)`,
);

/** Decides who an API key belongs to and what it may do in an organization. */
export function authenticator(db: Queryable, clock: Clock): Authenticate {
  return async (credential, organizationId, ip) => {
    if (!looksLikeKey(credential)) return null;
    const now = clock.now();
    const row = await db.maybe(findCaller, { hash: hashKey(credential), organizationId, now });
    if (row === null) return null;
    noteUse(db, { id: row.key_id, lastUsedAt: row.last_used_at }, now);
    return {
      actor: { type: 'api_key', userId: row.user_id, apiKeyId: row.key_id, ip },
      sessionId: null,
      staffRole: row.staff_role,
      keptTo: keptTo(row.scopes),
      permissions: row.role === null ? null : permissionsOf(row.role, row.scopes),
      defaultOrganizationId: row.default_organization_id,
    };
  };
}
