import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { fail } from '../errors.ts';
import { saga } from './index.ts';
import { type JobBed, jobBed, type Payload } from './testbed.ts';

let bed: JobBed;
beforeAll(async () => {
  bed = await jobBed();
});
afterEach(() => bed.stopWorkers());
afterAll(() => bed.close());

/** Lets pauses pass until the job has ended. */
async function hurry(id: number, state: 'done' | 'failed') {
  return until(
    async () => {
      bed.clock.travel(5_000);
      return bed.jobOf(id);
    },
    (job) => job?.state === state,
  );
}

describe.each(['unavailable', 'storage_full'] as const)('while the database is %s', (code) => {
  it.each([false, true])(
    'a step is not turned back, however long that is (transactional: %s)',
    async (tx) => {
      const undone: string[] = [];
      let tries = 0;
      const work = async () => {
        tries += 1;
        if (tries <= 8) throw fail(code);
      };
      const undo = async () => void undone.push('only');
      const step = tx
        ? ({ name: 'only', transactional: true, do: work, undo } as const)
        : ({ name: 'only', do: work, undo } as const);
      const name = `test.${code}${tx}`;
      bed.work(saga<Payload>({ name, steps: [step, { name: 'after', do: async () => undefined }] }));
      const job = await hurry(await bed.ask(name), 'done');
      expect([tries, undone, job?.attempts]).toEqual([9, [], 0]);
    },
  );

  it('no try is used up: a failure of the step itself afterwards has all of its own', async () => {
    let tries = 0;
    const name = `test.${code}.own`;
    bed.work(
      saga<Payload>({
        name,
        steps: [
          {
            name: 'only',
            attempts: 2,
            do: async () => {
              tries += 1;
              throw tries <= 3 ? fail(code) : new Error('its own');
            },
          },
        ],
      }),
    );
    await hurry(await bed.ask(name), 'failed');
    expect(tries).toBe(5);
  });
});

it('what a step waits for is looked at again as soon as it asks, and no try is used up', async () => {
  let tries = 0;
  const name = 'test.soon';
  const work = async () => {
    tries += 1;
    const waiting = { waits: true, againWithinMs: 40 };
    if (tries <= 20) throw Object.assign(new Error('not there yet'), waiting);
  };
  bed.work(saga<Payload>({ name, steps: [{ name: 'only', do: work }] }));
  const began = Date.now();
  const id = await bed.ask(name);
  const job = await until(
    () => bed.jobOf(id),
    (found) => found?.state === 'done',
  );
  expect([tries, job?.attempts]).toEqual([21, 0]);
  // Twenty pauses of an outage are forty seconds at least.
  expect(Date.now() - began).toBeLessThan(20_000);
});
