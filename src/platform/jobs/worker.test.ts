import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { transaction } from '../context.ts';
import { enqueue, saga } from './index.ts';
import { type JobBed, jobBed, type Payload } from './testbed.ts';

let bed: JobBed;
beforeAll(async () => {
  bed = await jobBed();
});
afterEach(() => bed.stopWorkers());
afterAll(() => bed.close());

describe('a job', () => {
  const noted: string[] = [];
  const note = saga<Payload>({
    name: 'test.note',
    steps: [{ name: 'only', action: async ({ payload }) => void noted.push(payload.key) }],
  });

  it('of a transaction that is rolled back never was', async () => {
    bed.work(note);
    const rolledBack = transaction(bed.ctx, 'test.rollback', async (tx) => {
      await enqueue(tx, 'test.note', { key: 'never' });
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    await bed.ended(await bed.ask('test.note', 'after'), 'done');
    expect(noted).not.toContain('never');
  });

  it('waits for its time', async () => {
    bed.work(note);
    const id = await bed.ask('test.note', 'later', new Date(bed.clock.now().getTime() + 60_000));
    await bed.ended(await bed.ask('test.note', 'now'), 'done');
    expect((await bed.jobOf(id))?.state).toBe('ready');
    bed.clock.travel(60_001);
    await bed.ended(id, 'done');
  });

  it('that nobody here knows is left for who does', async () => {
    bed.work(note);
    const id = await bed.ask('test.unknown');
    await until(
      () => bed.jobOf(id),
      (job) => job?.state === 'ready' && (job.attempts ?? 0) > 0,
    );
    bed.work(
      saga<Payload>({ name: 'test.unknown', steps: [{ name: 'only', action: async () => undefined }] }),
    );
    bed.clock.travel(11_000);
    await until(
      () => bed.jobOf(id),
      (job) => {
        bed.clock.travel(1_000); // the worker without the knowledge may take it now and then
        return job?.state === 'done';
      },
    );
  });
});

describe('workers', () => {
  it('never run one job twice', async () => {
    const runs = new Map<string, number>();
    const counted = saga<Payload>({
      name: 'test.count',
      steps: [
        {
          name: 'only',
          action: async ({ payload }) => {
            runs.set(payload.key, (runs.get(payload.key) ?? 0) + 1);
            await new Promise((resolve) => setTimeout(resolve, 5));
          },
        },
      ],
    });
    for (let count = 0; count < 4; count += 1) bed.work(counted);
    const ids = await Promise.all(Array.from({ length: 80 }, (_, n) => bed.ask('test.count', String(n))));
    for (const id of ids) await bed.ended(id, 'done');
    expect([...runs.values()]).toEqual(Array(80).fill(1));
  });

  it('go on where one that died stood: done steps stay done, the one under way runs again', async () => {
    const runs: string[] = [];
    const hang = Promise.withResolvers<void>();
    bed.work(
      saga<Payload, { found: number }>({
        name: 'test.crash',
        steps: [
          {
            name: 'done',
            action: async () => {
              runs.push('done');
              return { found: 7 };
            },
          },
          {
            name: 'hangs',
            action: async ({ signal, state }) => {
              runs.push(`hangs with ${state.found}`);
              if (runs.length > 2) return;
              hang.resolve();
              await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
            },
          },
        ],
      }),
    );
    const id = await bed.ask('test.crash');
    await hang.promise;
    expect(await bed.cutWorkers()).toBe(1);
    const since = Date.now();
    await bed.ended(id, 'done');
    expect(Date.now() - since).toBeLessThan(3_000);
    expect(runs).toEqual(['done', 'hangs with 7', 'hangs with 7']);
  });

  it('that lost their claim write nothing more', async () => {
    const hang = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const ends: string[] = [];
    const shared = (who: string, action: () => Promise<{ by: string }>) =>
      saga<Payload, { by: string }>({
        name: 'test.fence',
        steps: [{ name: 'only', action }],
        succeeded: async (_, __, state) => void ends.push(`${who} ended with ${state.by}`),
      });
    const first = bed.work(
      shared('first', async () => {
        hang.resolve();
        await release.promise; // deaf to the signal, as a call to the outside world may be
        return { by: 'first' };
      }),
    );
    const id = await bed.ask('test.fence');
    await hang.promise;
    await bed.cutWorkers();
    bed.work(shared('second', async () => ({ by: 'second' })));
    await bed.ended(id, 'done');
    release.resolve();
    await first.stop();
    const steps = 'select state, result from job_steps where job_id = $1';
    expect(await bed.rows(steps, id)).toEqual([{ state: 'done', result: { by: 'second' } }]);
    expect(ends).toEqual(['second ended with second']);
  });
});
