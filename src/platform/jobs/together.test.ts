import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import type { Database } from '../database/index.ts';
import { databaseJob, enqueue, saga } from './index.ts';
import { type JobBed, jobBed, named, type Payload } from './testbed.ts';

let bed: JobBed;
beforeAll(async () => {
  bed = await jobBed();
});
afterEach(() => bed.stopWorkers());
afterAll(() => bed.close());

/** How many jobs of this name there are: what a job's own writing is seen by. */
const written = async (name: string) => (await bed.rows('select 1 from jobs where name = $1', name)).length;

describe('a job that touches only the database', () => {
  it('is one transaction with its end, besides its claim', async () => {
    const names: string[] = [];
    const { transaction } = bed.ctx.db as Database;
    const counted: Partial<Database> = {
      transaction: (name, work) => {
        names.push(name);
        return transaction(name, work);
      },
      run: (statement, ..._given) =>
        Promise.reject(new Error(`${statement.name} outside of the transaction`)),
    };
    bed.workWith(
      { db: counted },
      databaseJob<Payload>('test.one', async (tx, { key }) => {
        await enqueue(tx, named('test.oneFollows'), { key });
      }),
    );
    const id = await bed.ask('test.one');
    await bed.ended(id, 'done');
    expect(names).toEqual(['test.one: done']);
    expect(await written('test.oneFollows')).toBe(1);
    expect(await bed.rows('select 1 from job_steps where job_id = $1', id)).toEqual([]);
  });

  it('that fails has written nothing, and is tried again', async () => {
    let tries = 0;
    bed.work(
      databaseJob<Payload>('test.shaky', async (tx, { key }) => {
        await enqueue(tx, named('test.shakyFollows'), { key });
        tries += 1;
        if (tries < 3) throw new Error('not yet');
      }),
    );
    await bed.ended(await bed.ask('test.shaky'), 'done');
    expect([tries, await written('test.shakyFollows')]).toEqual([3, 1]);
  });

  it('that lost its claim writes nothing', async () => {
    const hang = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    let runs = 0;
    const work = async (tx: Parameters<typeof enqueue>[0], { key }: Payload) => {
      runs += 1;
      if (runs === 1) {
        hang.resolve();
        await release.promise;
      }
      await enqueue(tx, named('test.fencedFollows'), { key });
    };
    const first = bed.work(databaseJob<Payload>('test.fenced', work));
    const id = await bed.ask('test.fenced');
    await hang.promise;
    await bed.cutWorkers();
    release.resolve(); // it holds its row, so whoever goes on with the job waits for it, and finds it done
    await bed.ended(id, 'done');
    await first.stop();
    expect(await written('test.fencedFollows')).toBe(runs);
    expect(runs).toBe(1);
  });
});

describe('transactional steps beside each other', () => {
  it('happen together or not at all, and only what was recorded is taken back', async () => {
    const undone: string[] = [];
    const step = (name: string, fails = false) => ({
      name,
      transactional: true as const,
      do: async ({ ctx, state }: { ctx: Parameters<typeof enqueue>[0]; state: object }) => {
        await enqueue(ctx, named(`test.${name}`), { key: JSON.stringify(state) });
        if (fails) throw Object.assign(new Error('no'), { permanent: true });
        return { [name]: true };
      },
      undo: async () => void undone.push(name),
    });
    bed.work(
      saga<Payload, Record<string, boolean>>({
        name: 'test.together',
        steps: [
          step('one'),
          step('two'),
          {
            name: 'outside',
            do: async () => ({ outside: true }),
            undo: async () => void undone.push('outside'),
          },
          step('three'),
          step('four', true),
        ],
      }),
    );
    const failed = await bed.ended(await bed.ask('test.together'), 'failed');
    expect(failed?.error_step).toBe('four');
    expect(undone).toEqual(['four', 'outside', 'two', 'one']);
    expect([await written('test.three'), await written('test.four')]).toEqual([0, 0]);
    const [two] = await bed.rows(`select payload->>'key' as seen from jobs where name = 'test.two'`);
    expect(two).toEqual({ seen: '{"one":true}' });
  });

  it('that end a job end it together with what the saga does at its end', async () => {
    let ends = 0;
    bed.work({
      ...databaseJob<Payload>('test.ending', async (tx, { key }) => {
        await enqueue(tx, named('test.endingFollows'), { key });
      }),
      succeeded: async () => {
        ends += 1;
        if (ends === 1) throw new Error('cannot write');
      },
    });
    const id = await bed.ask('test.ending');
    await until(
      async () => ends,
      (count) => count === 1,
    );
    expect(await written('test.endingFollows')).toBe(0);
    await bed.ended(id, 'done');
    expect([ends, await written('test.endingFollows')]).toEqual([2, 1]);
  });
});
