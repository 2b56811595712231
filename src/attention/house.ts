import type { Context, MeasureSource, Sample } from '../platform/index.ts';

/** What has little left to give away, as the room that has it says. */
export interface Low {
  kind: 'node' | 'pool';
  id: number;
  name: string;
  what: 'memory' | 'disk' | 'addresses';
  taken_percent: number;
  free: number;
}

/** What tells how the product itself does. */
export interface HouseSources {
  /** Those of jobs and mails. */
  measures: readonly MeasureSource[];
  readLow(ctx: Context): Promise<Low[]>;
}

/** How the product itself does, in the few numbers that staff looks at first; all of them are at `/metrics`. */
export async function readHouse(ctx: Context, { measures, readLow }: HouseSources) {
  const samples: Sample[] = [];
  for (const source of measures) samples.push(...(await source.read(ctx)));
  const valuesOf = (name: string, state?: string) =>
    samples
      .filter((each) => each.name === name && (state === undefined || each.labels?.state === state))
      .map(({ value }) => value);
  const [workers = 0] = valuesOf('workers');
  const [waiting = 0] = valuesOf('mails', 'waiting');
  const [failed = 0] = valuesOf('mails', 'failed');
  return {
    queue_s: Math.max(0, ...valuesOf('jobs_oldest_waiting_seconds')),
    workers,
    mails: { waiting, failed },
    low: await readLow(ctx),
  };
}
