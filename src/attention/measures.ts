import { type ConcernSource, findConcerns, type MeasureSource } from '../platform/index.ts';

const countedAtMost = 100;

/** How much needs a person. */
export function attentionMeasures(sources: readonly ConcernSource[]): MeasureSource {
  return {
    measures: [{ name: 'concerns', help: 'What needs a person, by kind; counted up to a hundred of each.' }],
    read: async (ctx) => {
      const counts: number[] = [];
      for (const source of sources) counts.push((await findConcerns(ctx, source, countedAtMost)).length);
      return sources.map(({ kind }, at) => ({
        name: 'concerns',
        labels: { kind },
        value: counts[at] ?? 0,
      }));
    },
  };
}
