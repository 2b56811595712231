import { isForOrganization, isSecured, type KeyLimits, lockUser } from '../account/index.ts';
import { record } from '../events/index.ts';
import {
  forgetPrincipals,
  type ListRequest,
  listData,
  type Principal,
  pagedList,
  requireFresh,
  requireLine,
  type SignIn,
} from '../platform/http/index.ts';
import {
  type AccountContext,
  fail,
  newId,
  type OrganizationContext,
  requireCountry,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import { joinProfile, shownOfProfile } from './billing.ts';
import { lockOrganization, requireChosen } from './chosen.ts';
import { organizationCreated, organizationUpdated } from './events.ts';
import { permissionsOf, type Role } from './permissions.ts';
import { limitsOf } from './permitted.ts';

const ownedPerAccount = 50;

interface OrganizationRow {
  id: number;
  name: string;
  role: Role;
  members_count: number;
  created_at: Date;
  joined_at: Date;
  require_2fa: boolean;
  status: 'active' | 'blocked' | 'closed';
  is_locked_out: boolean;
  billing_address: string | null;
  tax_id: string | null;
}

const selectOrganization = `
  select o.id, o.name, m.role, o.created_at, m.joined_at, o.require_2fa, o.status, ${shownOfProfile},
    o.require_2fa and not ${isSecured('m.user_id')} as is_locked_out,
    (select count(*)::int from memberships c where c.organization_id = o.id) as members_count
  from memberships m join organizations o on o.id = m.organization_id ${joinProfile}`;

const organizationsOf = pagedList<OrganizationRow>({
  name: 'organizations.list',
  from: 'memberships m join organizations o on o.id = m.organization_id',
  select: selectOrganization,
  within: 'm.user_id = :userId',
  filters: {
    onlyId: 'o.id = :onlyId',
    apiKeyId: `exists (select 1 from api_keys k where k.id = :apiKeyId and ${isForOrganization('m')})`,
  },
  key: { by: 'o.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    joined_at: {
      by: `date_trunc('milliseconds', m.joined_at)`,
      type: 'timestamptz',
      of: (row) => row.joined_at.toISOString(),
    },
    name: { by: 'o.name', type: 'text', of: (row) => row.name },
  },
  order: 'joined_at',
});
const organizationOf = statement<OrganizationRow, { userId: number; id: number }>(
  'organizations.oneOfUser',
  `${selectOrganization} where m.user_id = :userId and o.id = :id`,
);
const countOwned = statement<{ count: number }, { userId: number }>(
  'organizations.countOwned',
  `select count(*)::int as count from memberships where user_id = :userId and role = 'owner'`,
);
const insertOrganization = statement<never, { id: number; name: string; country: string | null; now: Date }>(
  'organizations.insert',
  'insert into organizations (id, name, country, created_at) values (:id, :name, :country, :now)',
);
const insertMembership = statement<never, { organizationId: number; userId: number; role: Role; now: Date }>(
  'organizations.insertMembership',
  `insert into memberships (organization_id, user_id, role, joined_at)
   values (:organizationId, :userId, :role, :now)`,
);
const setOrganization = statement<never, { id: number; name: string; require2fa: boolean }>(
  'organizations.set',
  'update organizations set name = :name, require_2fa = :require2fa where id = :id',
);
const secured = statement<{ is: boolean }, { userId: number }>(
  'organizations.isSecured',
  `select ${isSecured('u.id')} as is from users u where u.id = :userId`,
);

/** The organizations the caller belongs to, and the key that asks is for, or in which staff acts as them, with the role in each and what it allows. */
export async function listOrganizations(ctx: AccountContext, query: ListRequest) {
  const { userId, apiKeyId, onlyOrganizationId } = ctx.actor;
  // No organization has this id: staff that acts in none of them sees none.
  const onlyId = onlyOrganizationId === null ? 0 : onlyOrganizationId;
  const [{ rows, at }, limits] = await Promise.all([
    organizationsOf(ctx, query, { userId, onlyId, apiKeyId: apiKeyId ?? undefined }),
    limitsOf(ctx),
  ]);
  return listData(
    'organizations',
    rows.map((row) => view(row, permissionsIn(row, limits))),
    at,
  );
}

/** The one that the header chose. `not_found`, `forbidden`. */
export async function readOrganization(ctx: OrganizationContext, id: number) {
  await requireChosen(ctx, id);
  const row = await ctx.db.one(organizationOf, { userId: ctx.actor.userId, id });
  return { organization: view(row, ctx.permissions) };
}

/** One that the caller is in, whatever the header says. */
export async function readOwnOrganization(ctx: AccountContext, id: number) {
  const row = await ctx.db.one(organizationOf, { userId: ctx.actor.userId, id });
  return { organization: view(row, permissionsIn(row, await limitsOf(ctx))) };
}

interface Change {
  name?: string | undefined;
  require_2fa?: boolean | undefined;
}

/**
 * Changes what is named of it. `not_found`, `forbidden`, `second_factor_missing` for who would lock themselves out,
 * `session_required` and `reauthentication_required` for who wants no second factor any more.
 */
export function updateOrganization(
  ctx: OrganizationContext,
  id: number,
  change: Change,
  principal: Pick<Principal, 'signIn'>,
) {
  return transaction(ctx, 'organizations.update', async (tx) => {
    await requireChosen(tx, id);
    const before = await lockOrganization(tx, id);
    const now = { name: change.name ?? before.name, require_2fa: change.require_2fa ?? before.require_2fa };
    if (now.require_2fa && !before.require_2fa) await requireFactor(tx, principal.signIn);
    // Whoever found a session open must not open the organization to those without a second factor.
    if (!now.require_2fa && before.require_2fa) requireFresh(principal, tx.clock);
    if (now.name !== before.name || now.require_2fa !== before.require_2fa) {
      await tx.db.run(setOrganization, { id, name: now.name, require2fa: now.require_2fa });
      await record(tx, organizationUpdated, {
        subject: { type: 'organization', id },
        data: { change, before },
      });
      tx.db.afterCommit(forgetPrincipals);
    }
    return readOrganization(tx, id);
  });
}

async function requireFactor(tx: OrganizationContext & TxContext, signIn: SignIn | null): Promise<void> {
  const { is } = await tx.db.one(secured, { userId: tx.actor.userId });
  if (is && signIn?.strong !== false) return;
  const message =
    'You would lock yourself out: set up a second factor for your own account, and sign in with it, first';
  throw fail('second_factor_missing', { message });
}

/** Makes an organization whose first owner is the caller. `too_many`. */
export async function createOrganization(ctx: AccountContext, body: { name: string; country?: string }) {
  const { userId } = ctx.actor;
  requireLine('name', body.name);
  requireCountry('country', body.country);
  return transaction(ctx, 'organizations.create', async (tx) => {
    await lockUser(tx, userId);
    if ((await tx.db.one(countOwned, { userId })).count >= ownedPerAccount)
      throw fail('too_many', { message: `An account owns ${ownedPerAccount} organizations at most` });
    const organization = { name: body.name, country: body.country ?? null, ownerId: userId };
    const id = await foundOrganization(tx, organization);
    tx.db.afterCommit(forgetPrincipals); // what is remembered of the founder lacks it
    return readOwnOrganization(tx, id);
  });
}

/** Writes an organization with its owner. Returns its id. */
export async function foundOrganization(
  ctx: TxContext,
  organization: { name: string; country: string | null; ownerId: number },
): Promise<number> {
  const id = newId();
  const now = ctx.clock.now();
  await ctx.db.run(insertOrganization, { id, name: organization.name, country: organization.country, now });
  await ctx.db.run(insertMembership, {
    organizationId: id,
    userId: organization.ownerId,
    role: 'owner',
    now,
  });
  await record(ctx, organizationCreated, {
    subject: { type: 'organization', id },
    organizationId: id,
    data: { name: organization.name },
  });
  return id;
}

const nothing: ReadonlySet<string> = new Set();

function permissionsIn(
  { role, is_locked_out }: OrganizationRow,
  limits: KeyLimits | undefined,
): ReadonlySet<string> {
  return is_locked_out ? nothing : permissionsOf(role, limits);
}

function view(
  { joined_at: _, is_locked_out: __, ...row }: OrganizationRow,
  permissions: ReadonlySet<string>,
) {
  return { ...row, permissions: [...permissions].sort(), created_at: row.created_at.toISOString() };
}
