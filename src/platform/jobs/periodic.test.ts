import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PeriodicJob, runPeriodicJob, startPeriodicJobs } from './index.ts';
import { purgeDoneJobs } from './purge.ts';
import { type JobBed, jobBed } from './testbed.ts';

let bed: JobBed;
beforeAll(async () => {
  bed = await jobBed();
});
afterAll(() => bed.close());

describe('a periodic job', () => {
  it('that does a batch at a time goes on until there is nothing left, and keeps each batch', async () => {
    await bed.rows(
      `insert into jobs (name, payload, state, run_at, created_at, finished_at)
       select 'test.old', '{}', 'done', $1, $1, $1 from generate_series(1, 10001)`,
      new Date(bed.clock.now().getTime() - 8 * 24 * 3_600_000),
    );
    const left: number[] = [];
    const purge: PeriodicJob = {
      name: 'test.purge',
      intervalMs: 1,
      work: async (tx) => {
        left.push((await bed.rows('select 1 from jobs')).length); // what others see, besides this transaction
        return purgeDoneJobs(tx);
      },
    };
    await runPeriodicJob(bed.ctx, purge);
    expect(left).toEqual([10_001, 5_001, 1]);
    expect(await bed.rows('select 1 from jobs')).toEqual([]);
  });

  it('that always finds more ends with the product', async () => {
    let turns = 0;
    const endless: PeriodicJob = {
      name: 'test.endless',
      intervalMs: 1,
      work: async () => {
        turns += 1;
        return 'more';
      },
    };
    const stop = startPeriodicJobs(bed.ctx, [endless]);
    await expect.poll(() => turns).toBeGreaterThan(2);
    await stop();
    const atStop = turns;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(turns).toBe(atStop);
  });
});
