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
const statusOf = statement<{ status: string }, { id: number }>(
  'organizations.statusOf',
  'select status from organizations where id = :id',
);
const lock = statement<{ name: string; require_2fa: boolean }, { id: number }>(
  'organizations.lock',
  'select name, require_2fa from organizations where id = :id for no key update',
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

/**
 * For what is ordered anew, once the organization is locked: it may have been closed or blocked since the request was
 * let in. `forbidden`, `organization_blocked`.
 */
export async function requireOpen(tx: TxContext, id: number): Promise<void> {
  const { status } = await requireRow(tx, statusOf, { id });
  if (status !== 'active') throw fail(status === 'blocked' ? 'organization_blocked' : 'forbidden');
}

/** Nobody changes the organization, or who is in it, until the transaction ends. `not_found`. */
export function lockOrganization(tx: TxContext, id: number) {
  return requireRow(tx, lock, { id });
}
