import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { transaction } from '../context.ts';
import { job, saga } from './index.ts';
import { retryFailedJob } from './retry.ts';
import { type JobBed, jobBed, type Payload } from './testbed.ts';

let bed: JobBed;
beforeAll(async () => {
  bed = await jobBed();
});
afterEach(() => bed.stopWorkers());
afterAll(() => bed.close());

function permanent(message: string): Error {
  return Object.assign(new Error(message), { permanent: true, code: 'hopeless' });
}

/** Waits for a state, passing over the pauses between tries. */
async function endsUp(id: number, state: string) {
  return until(
    async () => {
      bed.clock.travel(31_000);
      return bed.jobOf(id);
    },
    (job) => job?.state === state,
  );
}

const retry = (id: number) => transaction(bed.ctx, 'test.retry', (tx) => retryFailedJob(tx, id));

describe('a failure that the database would not take', () => {
  const messages: [string, unknown][] = [
    ['a NUL byte', new Error('before\0after')],
    ['half of a surrogate pair', new Error('before\ud800after')],
    ['a megabyte of words', new Error('x'.repeat(1_000_000))],
    ['a code with a NUL byte', Object.assign(new Error('no'), { code: 'x\0' })],
    ['no words at all', Object.create(null)],
  ];
  it.each(messages)('is written down without %s', async (_, thrown) => {
    bed.work(
      saga<Payload>({
        name: 'test.words',
        steps: [{ name: 'only', attempts: 1, do: () => Promise.reject<void>(thrown) }],
      }),
    );
    const failed = await bed.ended(await bed.ask('test.words'), 'failed');
    expect(failed?.error_step).toBe('only');
    expect(failed?.error_message?.length).toBeLessThanOrEqual(2_000);
  });

  const circle: { self?: object } = {};
  circle.self = circle;
  const results: [string, object][] = [
    ['a NUL byte', { found: 'a\0b' }],
    ['half of a surrogate pair', { found: ['\udfff'] }],
    ['a number beyond JSON', { found: 12n }],
    ['no number', { found: Number.NaN }],
    ['a moment, which would come back as text', { found: new Date() }],
    ['itself', circle],
    ['megabytes', { found: 'x'.repeat(2_000_000) }],
  ];
  it.each(results)(
    'is that of its step when the result holds %s, and the step is taken back',
    async (_, result) => {
      const undone: string[] = [];
      bed.work(
        saga<Payload>({
          name: 'test.result',
          steps: [{ name: 'only', do: async () => result, undo: async () => void undone.push('only') }],
        }),
      );
      const failed = await bed.ended(await bed.ask('test.result'), 'failed');
      expect(failed).toMatchObject({ error_step: 'only', error_code: 'unwritable_result' });
      expect(undone).toEqual(['only']);
    },
  );
});

describe('a job that cannot be brought to an end', () => {
  const broken = { undo: false, succeeded: false, failed: false, stuck: false };
  const letGo: unknown[] = [];
  let tries = 0;
  const attempt = (part: keyof typeof broken) => {
    if (!broken[part]) return;
    tries += 1;
    throw new Error(`${part} is broken`);
  };
  const fragile = (fails: boolean) =>
    saga<Payload>({
      name: fails ? 'test.back' : 'test.forth',
      steps: [
        {
          name: 'only',
          do: async () => {
            if (fails) throw permanent('no such image');
          },
          undo: async () => attempt('undo'),
        },
      ],
      succeeded: async () => attempt('succeeded'),
      failed: async () => attempt('failed'),
      stuck: async (_, { key }, failure) => {
        letGo.push([key, failure]);
        attempt('stuck');
      },
    });
  afterEach(() => {
    Object.assign(broken, { undo: false, succeeded: false, failed: false, stuck: false });
    letGo.length = 0;
    tries = 0;
  });

  it.each(['undo', 'failed'] as const)(
    'because its %s keeps failing is left to staff, lets go, and goes on where it stood when retried',
    async (part) => {
      broken[part] = true;
      bed.work(fragile(true));
      const id = await bed.ask('test.back');
      const stuck = await endsUp(id, 'stuck');
      const reason = { error_step: 'only', error_code: 'hopeless', error_message: 'no such image' };
      expect(stuck).toMatchObject({ ...reason, direction: 'backward' });
      expect(stuck?.stuck_reason).toContain(`${part} is broken`);
      expect(letGo).toEqual([['a', { step: 'only', code: 'hopeless', message: 'no such image' }]]);
      expect(tries).toBe(12);
      broken[part] = false;
      expect(await retry(id)).toMatchObject({ state: 'stuck' });
      expect(await bed.ended(id, 'failed')).toMatchObject(reason);
    },
  );

  it('because its end throws is left to staff and lets go; what it did stays done', async () => {
    broken.succeeded = true;
    bed.work(fragile(false));
    const id = await bed.ask('test.forth');
    expect(await endsUp(id, 'stuck')).toMatchObject({ direction: 'forward', error_code: 'failed' });
    expect(letGo).toHaveLength(1);
    broken.succeeded = false;
    expect(await retry(id)).toMatchObject({ state: 'stuck' });
    await bed.ended(id, 'done');
    expect(await bed.rows('select state from job_steps where job_id = $1', id)).toEqual([{ state: 'done' }]);
  });

  it('ends stuck even when it cannot let go', async () => {
    Object.assign(broken, { succeeded: true, stuck: true });
    bed.work(fragile(false));
    await endsUp(await bed.ask('test.forth'), 'stuck');
  });

  it('because of an error that trying again cannot help is stuck at once', async () => {
    let ends = 0;
    bed.work({
      ...job<Payload>('test.hopeless', async () => undefined),
      succeeded: async () => {
        ends += 1;
        throw permanent('never');
      },
    });
    await bed.ended(await bed.ask('test.hopeless'), 'stuck');
    expect(ends).toBe(1);
  });
});
