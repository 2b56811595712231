import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { enqueue, saga } from './index.ts';
import { type JobBed, jobBed, named, type Payload } from './testbed.ts';

let bed: JobBed;
beforeAll(async () => {
  bed = await jobBed();
});
afterEach(() => bed.stopWorkers());
afterAll(() => bed.close());

function permanent(message: string): Error {
  return Object.assign(new Error(message), { permanent: true, code: 'hopeless' });
}

describe('a saga', () => {
  it('runs its steps in order, each with what the ones before found out', async () => {
    const seen: unknown[] = [];
    bed.work(
      saga<Payload, { one: number; two: number }>({
        name: 'test.order',
        steps: [
          { name: 'first', do: async () => ({ one: 1 }) },
          { name: 'second', do: async ({ state }) => ({ two: (state.one ?? 0) + 1 }) },
          {
            name: 'third',
            do: async ({ state, payload }) => void seen.push([payload.key, { ...state }]),
          },
        ],
        succeeded: async (_, payload, state) => void seen.push([payload.key, 'succeeded', { ...state }]),
      }),
    );
    await bed.ended(await bed.ask('test.order'), 'done');
    expect(seen).toEqual([
      ['a', { one: 1, two: 2 }],
      ['a', 'succeeded', { one: 1, two: 2 }],
    ]);
  });

  it('tries a step again after a pause, and never one that is done', async () => {
    const runs: string[] = [];
    bed.work(
      saga<Payload>({
        name: 'test.retry',
        steps: [
          { name: 'done', do: async () => void runs.push('done') },
          {
            name: 'shaky',
            do: async () => {
              runs.push('shaky');
              if (runs.filter((each) => each === 'shaky').length < 3) throw new Error('not yet');
            },
          },
        ],
      }),
    );
    const id = await bed.ask('test.retry');
    const paused = await until(
      () => bed.jobOf(id),
      (job) => job?.state === 'ready' && job.attempts === 1,
    );
    expect(paused).toMatchObject({ error_step: 'shaky', direction: 'forward' });
    await bed.ended(id, 'done');
    expect(runs).toEqual(['done', 'shaky', 'shaky', 'shaky']);
  });

  it('that fails for good is taken back in reverse, the failed step too, steps never begun not', async () => {
    const undone: string[] = [];
    const step = (name: string, work: () => Promise<void> = async () => undefined) => ({
      name,
      do: work,
      undo: async () => void undone.push(name),
    });
    const failures: unknown[] = [];
    bed.work(
      saga<Payload>({
        name: 'test.undo',
        steps: [
          step('first'),
          { name: 'no undo', do: async () => undefined },
          step('second'),
          step('third', async () => {
            throw permanent('hopeless');
          }),
          step('never'),
        ],
        failed: async (_, payload, failure) => void failures.push([payload.key, failure]),
      }),
    );
    const job = await bed.ended(await bed.ask('test.undo'), 'failed');
    expect(undone).toEqual(['third', 'second', 'first']);
    expect(failures).toEqual([['a', { step: 'third', code: 'hopeless', message: 'hopeless' }]]);
    expect(job).toMatchObject({ error_step: 'third', error_code: 'hopeless' });
  });

  it('gives up after as many tries as the step has', async () => {
    let tries = 0;
    const fails = async () => {
      tries += 1;
      throw new Error('no');
    };
    bed.work(saga<Payload>({ name: 'test.tries', steps: [{ name: 'only', attempts: 2, do: fails }] }));
    await bed.ended(await bed.ask('test.tries'), 'failed');
    expect(tries).toBe(2);
  });

  it('undoes on although an undo fails for a while', async () => {
    const undone: string[] = [];
    let refusals = 2;
    bed.work(
      saga<Payload>({
        name: 'test.undoAgain',
        steps: [
          { name: 'first', do: async () => undefined, undo: async () => void undone.push('first') },
          {
            name: 'second',
            do: () => Promise.reject<void>(permanent('no')),
            undo: async () => {
              refusals -= 1;
              if (refusals >= 0) throw new Error('busy');
              undone.push('second');
            },
          },
        ],
      }),
    );
    await bed.ended(await bed.ask('test.undoAgain'), 'failed');
    expect(undone).toEqual(['second', 'first']);
  });

  it('still knows why it failed, and what to undo, after an error of ours on its way back', async () => {
    const undone: string[] = [];
    const failures: unknown[] = [];
    let isBroken = true;
    bed.work(
      saga<Payload>({
        name: 'test.keepsReason',
        steps: [
          {
            name: 'half',
            do: () => Promise.reject<void>(permanent('no such image')),
            undo: async () => void undone.push('half'),
          },
        ],
        failed: async (_, __, failure) => {
          if (isBroken) throw new Error('cannot write');
          failures.push(failure);
        },
      }),
    );
    const id = await bed.ask('test.keepsReason');
    const back = await until(
      () => bed.jobOf(id),
      (job) => job?.state === 'ready' && job.attempts > 0,
    );
    const reason = { error_step: 'half', error_code: 'hopeless', error_message: 'no such image' };
    expect(back).toMatchObject({ direction: 'backward', ...reason });
    isBroken = false;
    bed.clock.travel(11_000);
    expect(await bed.ended(id, 'failed')).toMatchObject(reason);
    expect(failures).toEqual([{ step: 'half', code: 'hopeless', message: 'no such image' }]);
    expect(undone).toEqual(['half']);
  });

  it('whose end cannot be written has not ended: both or neither', async () => {
    let refuse = true;
    let ends = 0;
    bed.work(
      saga<Payload>({
        name: 'test.end',
        steps: [{ name: 'only', do: async () => undefined }],
        succeeded: async (tx) => {
          await enqueue(tx, named('test.follows'), { key: 'a' });
          ends += 1;
          if (refuse) throw new Error('cannot write');
        },
      }),
    );
    const id = await bed.ask('test.end');
    await until(
      async () => ends,
      (count) => count === 1,
    );
    const follows = () => bed.rows(`select 1 from jobs where name = 'test.follows'`);
    expect(await follows()).toEqual([]);
    refuse = false;
    bed.clock.travel(11_000); // a job that stopped without an end waits ten seconds
    await bed.ended(id, 'done');
    expect(await follows()).toHaveLength(1);
  });
});
