import { type Context, statement } from '../platform/index.ts';

const ownedOf = statement<{ id: number }, { organizationId: number; ids: number[] }>(
  'services.owned',
  'select id from services where organization_id = :organizationId and id = any(:ids::bigint[])',
);

/** Which of some services an organization owns, in whatever state they are. */
export async function ownedServices(
  ctx: Context,
  organizationId: number,
  ids: readonly number[],
): Promise<Set<number>> {
  const rows = await ctx.db.many(ownedOf, { organizationId, ids: [...ids] });
  return new Set(rows.map(({ id }) => id));
}
