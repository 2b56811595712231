import { type Scopes, wholeScopes } from '../account/index.ts';
import type { Permission } from '../platform/http/index.ts';
import { type AccountContext, statement } from '../platform/index.ts';
import { permissionsOf, type Role } from './permissions.ts';

interface MembershipRow {
  organization_id: number;
  role: Role;
  /** What the caller's key is kept to; null for somebody who signed in. */
  scopes: Scopes | null;
}

const membershipsOf = statement<MembershipRow, { userId: number; apiKeyId: number | null }>(
  'organizations.membershipsOf',
  `select m.organization_id, m.role,
     case when k.id is not null
       then jsonb_build_object('billing', k.billing, 'shield', k.shield, 'vps', k.vps) end as scopes
   from memberships m
   join users u on u.id = m.user_id
   left join api_keys k on k.id = :apiKeyId
   where m.user_id = :userId
   order by m.organization_id = u.default_organization_id desc nulls last, m.joined_at, m.organization_id`,
);

const scopesOfKey = statement<Scopes, { id: number }>(
  'organizations.scopesOfKey',
  'select billing, shield, vps from api_keys where id = :id',
);

/** What the caller's key is kept to; to nothing for somebody who signed in. */
export async function scopesOf({ db, actor: { apiKeyId } }: AccountContext): Promise<Scopes> {
  return apiKeyId === null ? wholeScopes : db.one(scopesOfKey, { id: apiKeyId });
}

/** Ids of the organizations in which the caller may do this, the default one first, then as they were joined. */
export async function organizationsPermitting(
  ctx: AccountContext,
  permission: Permission,
): Promise<number[]> {
  const { userId, apiKeyId } = ctx.actor;
  const memberships = await ctx.db.many(membershipsOf, { userId, apiKeyId });
  return memberships
    .filter(({ role, scopes }) => permissionsOf(role, scopes ?? undefined).has(permission))
    .map((membership) => membership.organization_id);
}
