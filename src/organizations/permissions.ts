const everything = [
  'service.read',
  'service.manage',
  'vps.read',
  'vps.power',
  'vps.manage',
  'billing.read',
  'billing.pay',
  'order',
  'members.manage',
] as const;

/** What members may do, by role. The one table that enforcement, the dashboard and the documents read. */
export const permissionsByRole = {
  owner: everything,
  admin: everything,
  billing: ['service.read', 'vps.read', 'billing.read', 'billing.pay', 'order'],
  technical: ['service.read', 'service.manage', 'vps.read', 'vps.power', 'vps.manage'],
  support: ['service.read', 'vps.read', 'vps.power'],
  viewer: ['service.read', 'vps.read'],
} as const satisfies Record<string, readonly string[]>;

export type Role = keyof typeof permissionsByRole;
export type Permission = (typeof permissionsByRole)[Role][number];

const sets = new Map(Object.entries(permissionsByRole).map(([role, list]) => [role, new Set<string>(list)]));
const none: ReadonlySet<string> = new Set();

export function permissionsOf(role: string): ReadonlySet<string> {
  return sets.get(role) ?? none;
}
