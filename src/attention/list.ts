import { type ConcernSource, type Context, findConcerns } from '../platform/index.ts';

const ofAKind = 100;

/** Everything that needs a person at the moment: of each kind the newest hundred. */
export async function listConcerns(ctx: Context, sources: readonly ConcernSource[]) {
  const found = await Promise.all(
    sources.map(async (source) => {
      const { kind, subject } = source;
      const rows = await findConcerns(ctx, source, ofAKind);
      return rows.map(({ id, ...rest }) => ({ kind, subject: { type: subject, id }, ...rest }));
    }),
  );
  return { concerns: found.flat().toSorted((one, other) => other.since.getTime() - one.since.getTime()) };
}
