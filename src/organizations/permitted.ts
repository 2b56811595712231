import { isForOrganization, isSecured, type KeyLimits, limitsOfKey } from '../account/index.ts';
import type { Permission } from '../platform/http/index.ts';
import { type AccountContext, statement } from '../platform/index.ts';
import { permissionsOf, type Role } from './permissions.ts';

interface MembershipRow {
  organization_id: number;
  role: Role;
  /** What the caller's key is kept to; null for somebody who signed in. */
  limits: KeyLimits | null;
}

const membershipsOf = statement<MembershipRow, { userId: number; apiKeyId: number | null }>(
  'organizations.membershipsOf',
  `select m.organization_id, m.role,
     case when k.id is not null then ${limitsOfKey} end as limits
   from memberships m
   join users u on u.id = m.user_id
   join organizations o on o.id = m.organization_id and (not o.require_2fa or ${isSecured('u.id')})
   left join api_keys k on k.id = :apiKeyId
   where m.user_id = :userId and ${isForOrganization('m')}
   order by m.organization_id = u.default_organization_id desc nulls last, m.joined_at, m.organization_id`,
);

const limitsOfAsking = statement<{ limits: KeyLimits }, { id: number }>(
  'organizations.limitsOfKey',
  `select ${limitsOfKey} as limits from api_keys k where k.id = :id`,
);

/** What the caller's key is kept to; undefined for somebody who signed in, who is kept to nothing. */
export async function limitsOf({ db, actor: { apiKeyId } }: AccountContext): Promise<KeyLimits | undefined> {
  return apiKeyId === null ? undefined : (await db.one(limitsOfAsking, { id: apiKeyId })).limits;
}

/** Ids of the organizations in which the caller may do this, the default one first, then as they were joined. */
export async function organizationsPermitting(
  ctx: AccountContext,
  permission: Permission,
): Promise<number[]> {
  const { userId, apiKeyId, onlyOrganizationId } = ctx.actor;
  const memberships = await ctx.db.many(membershipsOf, { userId, apiKeyId });
  return memberships
    .filter(
      ({ organization_id }) => onlyOrganizationId === undefined || organization_id === onlyOrganizationId,
    )
    .filter(({ role, limits }) => permissionsOf(role, limits ?? undefined).has(permission))
    .map((membership) => membership.organization_id);
}
