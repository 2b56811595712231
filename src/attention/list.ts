import type { ConcernSource, Context } from '../platform/index.ts';

const ofAKind = 100;

/** Everything that needs a person at the moment: of each kind the newest hundred. */
export async function listConcerns(ctx: Context, sources: readonly ConcernSource[]) {
  const found = await Promise.all(
    sources.map(async ({ kind, subject, find }) => {
      const rows = await ctx.db.many(find, { limit: ofAKind });
      return rows.map(({ id, ...rest }) => ({ kind, subject: { type: subject, id }, ...rest }));
    }),
  );
  return { concerns: found.flat().toSorted((one, other) => other.since.getTime() - one.since.getTime()) };
}
