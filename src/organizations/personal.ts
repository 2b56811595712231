import { isSecured } from '../account/index.ts';
import { record } from '../events/index.ts';
import { forgetPrincipals } from '../platform/http/index.ts';
import {
  type ClosingAccount,
  type Context,
  type ErrorDetail,
  type PersonalRoom,
  personalTable,
  statement,
  type TxContext,
} from '../platform/index.ts';
import { memberRemoved, organizationClosed } from './events.ts';
import type { Role } from './permissions.ts';

interface Membership {
  organization_id: number;
  name: string;
  status: string;
  role: Role;
  /** Whether anybody else is in it. */
  is_shared: boolean;
  has_other_owner: boolean;
}

const lockAll = statement<{ id: number }, { userId: number }>(
  'organizations.lockAllOf',
  `select id from organizations where id in (select organization_id from memberships where user_id = :userId)
   order by id for no key update`,
);
const membershipsOf = statement<Membership, { userId: number }>(
  'organizations.membershipsToClose',
  `select m.organization_id, o.name, o.status, m.role,
     exists (select 1 from memberships c where c.organization_id = o.id and c.user_id <> m.user_id) as is_shared,
     exists (select 1 from memberships c join users u on u.id = c.user_id and u.status = 'active'
       where c.organization_id = o.id and c.user_id <> m.user_id and c.role = 'owner') as has_other_owner
   from memberships m join organizations o on o.id = m.organization_id where m.user_id = :userId
   order by m.organization_id`,
);
const deleteMemberships = statement<never, { userId: number }>(
  'organizations.deleteMembershipsOf',
  'delete from memberships where user_id = :userId',
);
const deleteInvitations = statement<never, { organizationIds: number[] }>(
  'organizations.deleteInvitationsOf',
  'delete from invitations where organization_id = any(:organizationIds::bigint[])',
);
const close = statement<never, { organizationIds: number[]; now: Date }>(
  'organizations.close',
  `update organizations set status = 'closed', status_since = :now, status_reason = null,
     name = 'Closed organization ' || id where id = any(:organizationIds::bigint[])`,
);
const ownedBy = statement<{ organization_id: number }, { userId: number; isStrong: boolean | null }>(
  'organizations.ownedToExport',
  `select m.organization_id from memberships m join organizations o on o.id = m.organization_id
   where m.user_id = :userId and m.role = 'owner'
     and (not o.require_2fa or coalesce(:isStrong::boolean, ${isSecured('m.user_id')})) order by m.organization_id`,
);

/** The organizations that a person owns, and that let them in as they signed in. */
export async function ownedOrganizations(
  ctx: Context,
  userId: number,
  isStrong: boolean | null,
): Promise<number[]> {
  return (await ctx.db.many(ownedBy, { userId, isStrong })).map((row) => row.organization_id);
}

/**
 * The organizations that end with an account, since nobody else is in them; nobody changes them, nor those that go on, until the
 * transaction ends. With what stands in the way: somebody has to own those that go on.
 */
export async function endingOrganizations(
  tx: TxContext,
  userId: number,
): Promise<{ organizationIds: number[]; obstacles: ErrorDetail[] }> {
  await tx.db.many(lockAll, { userId });
  const memberships = await tx.db.many(membershipsOf, { userId });
  const orphans = memberships.filter((row) => row.is_shared && row.role === 'owner' && !row.has_other_owner);
  return {
    organizationIds: memberships.filter((row) => !row.is_shared).map((row) => row.organization_id),
    obstacles: [
      ...memberships
        .filter((row) => !row.is_shared && row.status === 'blocked')
        .map(({ organization_id, name }) => ({
          field: `organizations[${organization_id}]`,
          message: `"${name}" is blocked, and ends with your account: ask support`,
        })),
      ...orphans.map(({ organization_id, name }) => ({
        field: `organizations[${organization_id}]`,
        message: `you are the last owner of "${name}", and others are in it: hand it over, or take them out`,
      })),
    ],
  };
}

async function forget(tx: TxContext, { userId, organizationIds }: ClosingAccount): Promise<void> {
  const memberships = await tx.db.many(membershipsOf, { userId });
  const ids = [...organizationIds];
  for (const { organization_id: organizationId, name, role, is_shared } of memberships) {
    if (is_shared)
      await record(tx, memberRemoved, {
        subject: { type: 'user', id: userId },
        organizationId,
        data: { user_id: userId, organization: name, role, left: true },
      });
    else
      await record(tx, organizationClosed, {
        subject: { type: 'organization', id: organizationId },
        organizationId,
      });
  }
  await tx.db.run(deleteMemberships, { userId });
  await tx.db.run(deleteInvitations, { organizationIds: ids });
  await tx.db.run(close, { organizationIds: ids, now: tx.clock.now() });
  tx.db.afterCommit(forgetPrincipals);
}

/** Who is in which organization. */
export const organizationsPersonal: PersonalRoom = {
  tables: [
    personalTable('organizations', { organization: 'id', closing: 'cleared' }),
    personalTable('memberships', {
      people: ['user_id'],
      organization: 'organization_id',
      closing: 'deleted',
    }),
    personalTable('invitations', {
      organization: 'organization_id',
      others: ['invited_by'],
      without: ['hash'],
      closing: 'deleted',
    }),
  ],
  forget,
};
