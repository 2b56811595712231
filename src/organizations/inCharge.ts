import type { HoldersReader } from '../events/index.ts';
import { type Context, type OwnersReader, statement } from '../platform/index.ts';
import { permissionsOf, roles } from './permissions.ts';

/** Who is in charge of an organization, for those who tell it something, share something out among people, or bill it. */

const firstOwner = statement<{ user_id: number }, { organizationId: number }>(
  'organizations.firstOwner',
  `select user_id from memberships where organization_id = :organizationId and role = 'owner'
   order by joined_at, user_id limit 1`,
);

const ownedTogether = statement<
  { organization_id: number; owner_id: number; organization_ids: number[] },
  { organizationIds: number[] }
>(
  'organizations.ownedTogether',
  `select o.id as organization_id, first.user_id as owner_id, (
     select jsonb_agg(m.organization_id) from memberships m
     where m.user_id = first.user_id and m.role = 'owner' and m.user_id = (
       select user_id from memberships where organization_id = m.organization_id and role = 'owner'
       order by joined_at, user_id limit 1)) as organization_ids
   from unnest(:organizationIds::bigint[]) o(id) cross join lateral (
     select user_id from memberships where organization_id = o.id and role = 'owner'
     order by joined_at, user_id limit 1) first`,
);

/** Somebody to whom an organization's affairs are told. */
export interface PersonTold {
  user_id: number;
  email: string;
  /** Where bills go instead. */
  billing_email: string | null;
  first_name: string | null;
  last_name: string | null;
  language: string | null;
  timezone: string | null;
  notifications: Record<string, boolean> | null;
}

// Whoever began it, while that person is one of its people; then its owners.
const told = statement<PersonTold & { began: boolean }, { organizationId: number; userId: number | null }>(
  'organizations.told',
  `select u.id as user_id, u.email, u.billing_email, u.first_name, u.last_name, u.language, u.timezone, u.notifications,
     u.id is not distinct from :userId::bigint as began
   from memberships m join users u on u.id = m.user_id and u.status = 'active'
   where m.organization_id = :organizationId and (m.role = 'owner' or u.id = :userId::bigint)
   order by began desc, m.joined_at, u.id`,
);

const holders = statement<PersonTold, { organizationId: number; roles: string[] }>(
  'organizations.holders',
  `select u.id as user_id, u.email, u.billing_email, u.first_name, u.last_name, u.language, u.timezone, u.notifications
   from memberships m join users u on u.id = m.user_id and u.status = 'active'
   where m.organization_id = :organizationId and m.role = any(:roles::text[]) order by m.joined_at, u.id`,
);

interface BillAddress {
  name: string;
  /** That of its first owner; null without one. */
  email: string | null;
}

const billAddress = statement<BillAddress, { organizationId: number }>(
  'organizations.billAddress',
  `select o.name, (select coalesce(u.billing_email, u.email) from memberships m join users u on u.id = m.user_id
     where m.organization_id = o.id and m.role = 'owner' order by m.joined_at, m.user_id limit 1) as email
   from organizations o where o.id = :organizationId`,
);

/** The person that an organization's own affairs are told to: who has been its owner for longest; null without one. */
export async function ownerOf(ctx: Context, organizationId: number): Promise<number | null> {
  return (await ctx.db.maybe(firstOwner, { organizationId }))?.user_id ?? null;
}

/** Who has owned each of these organizations for longest, and all that person's: what is shared out counts by it. */
export const readOwners: OwnersReader = async (ctx, organizationIds) => {
  const rows = await ctx.db.many(ownedTogether, { organizationIds: [...organizationIds] });
  return new Map(
    rows.map((row) => [
      row.organization_id,
      { ownerId: row.owner_id, organizationIds: row.organization_ids },
    ]),
  );
};

/**
 * Who is told of what an organization has: whoever began it, as long as that is an active member, otherwise all its
 * active owners. Nobody when there are none.
 */
export async function peopleTold(
  ctx: Context,
  organizationId: number,
  userId: number | null,
): Promise<PersonTold[]> {
  const [first, ...others] = await ctx.db.many(told, { organizationId, userId });
  if (first === undefined) return [];
  return first.began ? [first] : [first, ...others];
}

/** Who of an organization's people holds a permission, as those that mails go to. */
export const readHolders: HoldersReader = async (ctx, organizationId, permission) => {
  const those = roles.filter((role) => permissionsOf(role).has(permission));
  const people = await ctx.db.many(holders, { organizationId, roles: those });
  return people.map(({ user_id: userId, email: address, ...person }) => ({ ...person, userId, address }));
};

/** Under which name others outside know an organization, and where bills for it go. */
export function ownerAddress(ctx: Context, organizationId: number): Promise<BillAddress> {
  return ctx.db.one(billAddress, { organizationId });
}
