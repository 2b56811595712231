/** A clock that was ahead, as after a host's start without its time, and steps back once it hears the right one. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { saga } from './index.ts';
import { type JobBed, jobBed, type Payload } from './testbed.ts';
import { enterWorker, lookForWorkers } from './workers.ts';

const year = 365 * 24 * 3_600_000;

let bed: JobBed;
beforeAll(async () => {
  bed = await jobBed();
});
afterEach(() => bed.stopWorkers());
afterAll(() => bed.close());

const note = saga<Payload>({ name: 'test.clock', steps: [{ name: 'only', do: async () => undefined }] });

it('jobs that it has put off are done, and those that are for later wait', async () => {
  bed.clock.travel(year);
  const asked = await bed.ask('test.clock');
  const failing = bed.work(
    saga<Payload>({
      name: 'test.later',
      steps: [
        {
          name: 'only',
          do: async ({ jobId }) => {
            if (bed.clock.now().getTime() > Date.now() + year / 2) throw new Error(`not yet, ${jobId}`);
          },
        },
      ],
    }),
  );
  const failed = await bed.ask('test.later');
  await expect.poll(async () => (await bed.jobOf(failed))?.attempts, { timeout: 10_000 }).toBeGreaterThan(2);
  await failing.stop();
  bed.clock.travel(-year);
  const later = await bed.ask('test.clock', 'later', new Date(bed.clock.now().getTime() + 600_000));

  bed.work(note, saga<Payload>({ name: 'test.later', steps: [{ name: 'only', do: async () => undefined }] }));
  await bed.ended(asked, 'done');
  await bed.ended(failed, 'done');
  expect(await bed.jobOf(later)).toMatchObject({ state: 'ready' });
  bed.clock.travel(600_001);
  await bed.ended(later, 'done');
  bed.clock.travel(-600_001);
});

it('a worker that died under it is noticed a minute later', async () => {
  bed.clock.travel(year);
  await enterWorker(bed.ctx, 1_999_999_999, []); // it holds no lock: it is gone
  bed.clock.travel(-year);
  const { living, lastSeenAt } = await lookForWorkers(bed.ctx);
  expect(living).toEqual([]);
  expect(lastSeenAt?.getTime()).toBeLessThanOrEqual(bed.clock.now().getTime());
  const seenAt = lastSeenAt?.getTime();
  bed.clock.travel(61_000);
  expect((await lookForWorkers(bed.ctx)).lastSeenAt?.getTime()).toBe(seenAt);
  bed.clock.travel(-61_000);
});
