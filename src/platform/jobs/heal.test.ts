import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { transaction } from '../context.ts';
import { dismissJob, healing, job, runPeriodicJob } from './index.ts';
import { type JobBed, jobBed, type Payload } from './testbed.ts';

let bed: JobBed;
beforeAll(async () => {
  bed = await jobBed();
});
afterEach(() => bed.stopWorkers());
afterAll(() => bed.close());

const hour = 3_600_000;

it('what failed because somebody was away is tried again every hour, once, and nothing else is', async () => {
  let tries = 0;
  let isAway = true;
  const refuse = (code: string) => {
    throw Object.assign(new Error(code), { code });
  };
  const once = { attempts: 1, outages: ['away'] };
  const sagas = [
    job<Payload>(
      'test.away',
      async ({ payload }) => {
        tries += 1;
        if (isAway) refuse(payload.key);
      },
      once,
    ),
    job<Payload>('test.other', async () => refuse('away'), { attempts: 1 }),
  ];
  const heal = () => runPeriodicJob(bed.ctx, healing(sagas));
  bed.work(...sagas);
  const waits = await bed.ask('test.away', 'away');
  const wrong = await bed.ask('test.away', 'wrong');
  const seen = await bed.ask('test.away', 'away');
  const other = await bed.ask('test.other');
  for (const id of [waits, wrong, seen, other]) await bed.ended(id, 'failed');
  await transaction(bed.ctx, 'test.dismiss', (tx) => dismissJob(tx, seen));

  await heal();
  expect((await bed.jobOf(waits))?.state).toBe('failed');
  bed.clock.travel(hour + 1_000);
  const before = tries;
  await heal();
  await bed.ended(waits, 'failed');
  await expect.poll(() => tries).toBe(before + 1);
  await heal();
  expect((await bed.jobOf(waits))?.state).toBe('failed');

  isAway = false;
  bed.clock.travel(hour + 1_000);
  await heal();
  await bed.ended(waits, 'done');
  expect(tries).toBe(before + 2);
  for (const id of [wrong, seen, other]) expect((await bed.jobOf(id))?.state).toBe('failed');
});
