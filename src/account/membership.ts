import { fail, statement, type TxContext } from '../platform/index.ts';

const organizationsOf = statement<{ organization_id: number }, { userId: number }>(
  'account.organizationsOf',
  'select organization_id from memberships where user_id = :userId',
);

/** What somebody names is an organization that they are in. `invalid_request`. */
export async function requireMember(
  ctx: TxContext,
  userId: number,
  ids: readonly number[] | null,
  field = 'organization_ids',
): Promise<void> {
  if (ids === null) return;
  const own = new Set((await ctx.db.many(organizationsOf, { userId })).map((row) => row.organization_id));
  if (ids.every((id) => own.has(id))) return;
  const message = 'names an organization that you are no member of';
  throw fail('invalid_request', { details: [{ field, message }] });
}
