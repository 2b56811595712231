import type { Context, OrganizationContext } from './context.ts';
import { wrongWithCountry } from './countries.ts';
import type { Given, Statement } from './database/statement.ts';
import { fail, refuse } from './errors.ts';

/** The row that there must be; `not_found` when there is none. */
export async function requireRow<Row, Params extends object>(
  ctx: Context,
  statement: Statement<Row, Params>,
  ...given: Given<NoInfer<Params>>
): Promise<Row> {
  const row = await ctx.db.maybe(statement, ...given);
  if (row === null) throw fail('not_found');
  return row;
}

/**
 * The row that a caller names, found and authorized in one: `not_found` when there is none, `forbidden` when it is
 * another organization's.
 */
export async function requireOwn<Row extends { organization_id: number }, Params extends object>(
  ctx: OrganizationContext,
  statement: Statement<Row, Params>,
  ...given: Given<NoInfer<Params>>
): Promise<Row> {
  const row = await requireRow(ctx, statement, ...given);
  if (row.organization_id !== ctx.organizationId) throw fail('forbidden');
  return row;
}

/** `invalid_request` for what is said to be a country and is none; null and what is absent say nothing. */
export function requireCountry(field: string, code: string | null | undefined): void {
  const message = typeof code === 'string' ? wrongWithCountry(code) : null;
  if (message !== null) throw refuse(field, message);
}
