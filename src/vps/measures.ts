import { type MeasureSource, statement } from '../platform/index.ts';
import { machineStates } from './states.ts';

const byState = statement<{ state: string; machines: number }>(
  'vps.measure',
  'select state, count(*)::int as machines from machines group by state',
);

/** Machines by state; one that there is none in counts as 0. */
export const vpsMeasures: MeasureSource = {
  measures: [{ name: 'machines', help: 'Machines by the state they were last seen in.' }],
  read: async (ctx) => {
    const found = new Map((await ctx.db.many(byState)).map(({ state, machines }) => [state, machines]));
    return machineStates.map((state) => ({
      name: 'machines',
      labels: { state },
      value: found.get(state) ?? 0,
    }));
  },
};
