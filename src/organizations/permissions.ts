import type { Permission } from '../platform/http/index.ts';

/** Roles that hold whatever there is. */
const rulers = ['owner', 'admin'] as const;

/** Roles that hold what each permission grants them. */
const specialists = ['billing', 'technical', 'support', 'viewer'] as const;

export const roles = [...rulers, ...specialists] as const;
export type Role = (typeof roles)[number];
type Specialist = (typeof specialists)[number];

const held = new Map<string, Set<Permission>>(roles.map((role) => [role, new Set()]));
const declaredNames = new Set<string>();
const none: ReadonlySet<Permission> = new Set();

/**
 * Declares the permissions of a room, each with the roles that hold it besides owners and administrators:
 *
 *     const billingPermissions = permissions({ 'billing.read': ['billing'] });
 *
 *     type BillingPermissions = typeof billingPermissions;
 *     declare module '../platform/http/permission.ts' {
 *       interface PermissionCatalogue extends BillingPermissions {}
 *     }
 */
export function permissions<const Declared extends Record<string, readonly Specialist[]>>(
  declared: Declared,
): Declared {
  for (const [name, also] of Object.entries(declared)) {
    if (declaredNames.has(name)) throw new Error(`the permission ${name} is declared twice`);
    declaredNames.add(name);
    for (const role of [...rulers, ...also]) held.get(role)?.add(name as Permission);
  }
  return declared;
}

/** What members of this role may do: the one table that enforcement, the dashboard and the documents read. */
export function permissionsOf(role: string): ReadonlySet<Permission> {
  return held.get(role) ?? none;
}

const organizationPermissions = permissions({ 'members.manage': [] });

type OrganizationPermissions = typeof organizationPermissions;

declare module '../platform/http/permission.ts' {
  interface PermissionCatalogue extends OrganizationPermissions {}
}
