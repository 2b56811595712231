import type { Context, Low, MeasureSource } from '../platform/index.ts';

/** What tells how the product itself does. */
export interface HouseSources {
  /** Those of jobs, mails and backups. */
  measures: readonly MeasureSource[];
  readLow(ctx: Context): Promise<Low[]>;
  /** What runs low is for who may call this one. */
  lowFor: string;
}

/** It is counted over all jobs, mails and addresses, and every open page of staff asks anew at nearly every event. */
const freshForMs = 15_000;

type House = Awaited<ReturnType<typeof readHouse>>;

/** How the product itself does, as it was a few seconds ago; what runs low to who may call what lists it alone. */
export function rememberHouse(sources: HouseSources) {
  let known: { house: Promise<House>; readAtMs: number } | null = null;
  return async (ctx: Context, operations: ReadonlySet<string>) => {
    const nowMs = ctx.clock.now().getTime();
    if (known === null || Math.abs(nowMs - known.readAtMs) >= freshForMs) {
      const reading = { house: readHouse(ctx, sources), readAtMs: nowMs };
      known = reading;
      reading.house.catch(() => {
        if (known === reading) known = null;
      });
    }
    const house = await known.house;
    return operations.has(sources.lowFor) ? house : { ...house, low: null };
  };
}

/** How the product itself does, in the few numbers that staff looks at first; all of them are at `/metrics`. */
async function readHouse(ctx: Context, { measures, readLow }: HouseSources) {
  const [low, ...read] = await Promise.all([readLow(ctx), ...measures.map((source) => source.read(ctx))]);
  const samples = read.flat();
  const valuesOf = (name: string, state?: string) =>
    samples
      .filter((each) => each.name === name && (state === undefined || each.labels?.state === state))
      .map(({ value }) => value);
  const [workers = 0] = valuesOf('workers');
  const [waiting = 0] = valuesOf('mails', 'waiting');
  const [failed = 0] = valuesOf('mails', 'failed');
  const [late = 0] = valuesOf('backups_late');
  return {
    queue_s: Math.max(0, ...valuesOf('jobs_oldest_waiting_seconds')),
    workers,
    mails: { waiting, failed },
    backups: { late },
    low,
  };
}
