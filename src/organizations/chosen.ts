import {
  type Context,
  fail,
  type OrganizationContext,
  requireRow,
  statement,
  type TxContext,
} from '../platform/index.ts';

const findOrganization = statement<{ id: number }, { id: number }>(
  'organizations.find',
  'select id from organizations where id = :id',
);
type OrganizationStatus = 'active' | 'blocked' | 'closed';

const statusOf = statement<{ status: OrganizationStatus }, { id: number }>(
  'organizations.statusOf',
  'select status from organizations where id = :id',
);
const lock = statement<{ name: string; require_2fa: boolean; status: OrganizationStatus }, { id: number }>(
  'organizations.lock',
  'select name, require_2fa, status from organizations where id = :id for no key update',
);

/**
 * What the caller may do was decided for the organization of the header; a path names no other. `not_found`,
 * `forbidden`.
 */
export async function requireChosen(ctx: OrganizationContext, id: number): Promise<void> {
  if (id === ctx.organizationId) return;
  await requireRow(ctx, findOrganization, { id });
  const message = 'names another organization than the path';
  throw fail('forbidden', { details: [{ field: 'x-organization-id', message }] });
}

/** Whether there is such an organization; for staff, who are no members. */
export async function organizationExists(ctx: Context, id: number): Promise<boolean> {
  return (await ctx.db.maybe(findOrganization, { id })) !== null;
}

/** Whether an organization goes on, was blocked by staff, or was closed with its last account. `not_found`. */
export async function statusOfOrganization(ctx: Context, id: number): Promise<OrganizationStatus> {
  return (await requireRow(ctx, statusOf, { id })).status;
}

/**
 * For what is ordered anew, once the organization is locked: it may have been closed or blocked since the request was
 * let in. `forbidden`, `organization_blocked`.
 */
export async function requireOpen(tx: TxContext, id: number): Promise<void> {
  refuseUnlessOpen(await statusOfOrganization(tx, id));
}

/**
 * Nobody changes the organization, or who is in it, until the transaction ends. It is open, as for {@link requireOpen}.
 * `not_found`, `forbidden`, `organization_blocked`.
 */
export async function lockOrganization(tx: TxContext, id: number) {
  const { status, ...organization } = await requireRow(tx, lock, { id });
  refuseUnlessOpen(status);
  return organization;
}

function refuseUnlessOpen(status: OrganizationStatus): void {
  if (status !== 'active') throw fail(status === 'blocked' ? 'organization_blocked' : 'forbidden');
}
