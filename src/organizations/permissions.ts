import { type Area, type Areas, areas, type KeyLimits, wholeAreas } from '../account/index.ts';
import type { Permission } from '../platform/http/index.ts';

/** Roles that hold whatever there is. */
const rulers = ['owner', 'admin'] as const;

/** Roles that hold what each permission grants them. */
const specialists = ['billing', 'technical', 'support', 'viewer'] as const;

export const roles = [...rulers, ...specialists] as const;
export type Role = (typeof roles)[number];
type Specialist = (typeof specialists)[number];

/** The area of a permission; `any` is for every key, `all` for those that are kept to none. */
type Within = Area | 'any' | 'all';

const held = new Map<string, Set<Permission>>(roles.map((role) => [role, new Set()]));
const within = new Map<string, Within>();
const cut = new Map<string, ReadonlySet<Permission>>();

/**
 * Declares permissions of a room that belong to an area of keys, each with the roles that hold it besides owners and
 * administrators:
 *
 *     const billingPermissions = permissions('billing', { 'billing.read': ['billing'] });
 *
 *     type BillingPermissions = typeof billingPermissions;
 *     declare module '../platform/http/permission.ts' {
 *       interface PermissionCatalogue extends BillingPermissions {}
 *     }
 */
export function permissions<const Declared extends Record<string, readonly Specialist[]>>(
  area: Within,
  declared: Declared,
): Declared {
  for (const [name, also] of Object.entries(declared)) {
    if (within.has(name)) throw new Error(`the permission ${name} is declared twice`);
    within.set(name, area);
    for (const role of [...rulers, ...also]) held.get(role)?.add(name as Permission);
  }
  return declared;
}

/** Names of all permissions there are, which are the scopes that keys can be kept to. Rooms have declared theirs by now. */
export function permissionNames(): string[] {
  return [...within.keys()].sort();
}

/**
 * What members of this role may do, with a key that is kept to some areas and scopes: the one table that enforcement, the
 * dashboard and the documents read. Which organizations a key is for is part of who is a member there: `isForOrganization`.
 */
export function permissionsOf(
  role: string,
  limits: Areas & { scopes?: KeyLimits['scopes'] } = wholeAreas,
): ReadonlySet<Permission> {
  const ofAreas = permissionsWithin(role, limits);
  const { scopes = null } = limits;
  return scopes === null ? ofAreas : new Set([...ofAreas].filter((name) => scopes.includes(name)));
}

function permissionsWithin(role: string, kept: Areas): ReadonlySet<Permission> {
  const key = `${role} ${areas.filter((area) => kept[area])}`;
  let found = cut.get(key);
  if (found === undefined) {
    found = new Set([...(held.get(role) ?? [])].filter((name) => isWithin(name, kept)));
    cut.set(key, found);
  }
  return found;
}

function isWithin(permission: Permission, kept: Areas): boolean {
  const area = within.get(permission) ?? 'all';
  if (area === 'any') return true;
  return area === 'all' ? areas.every((each) => kept[each]) : kept[area];
}

const organizationPermissions = permissions('all', {
  'activity.read': [],
  'organization.manage': [],
  'members.read': specialists,
  'members.manage': [],
});

type OrganizationPermissions = typeof organizationPermissions;

declare module '../platform/http/permission.ts' {
  interface PermissionCatalogue extends OrganizationPermissions {}
}
