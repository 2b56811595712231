import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { type TxContext, transaction } from '../context.ts';
import type { Database } from '../database/index.ts';
import { fail } from '../errors.ts';
import { databaseJob, enqueue, saga } from './index.ts';
import { type JobBed, jobBed, named, type Payload } from './testbed.ts';

let bed: JobBed;
beforeAll(async () => {
  bed = await jobBed();
});
afterEach(() => bed.stopWorkers());
afterAll(() => bed.close());

/** Asks for a job of each organization, all at one moment. */
const askAll = (name: string, organizations: readonly number[]) =>
  transaction(bed.ctx, 'test.ask', async (tx) => {
    const ids: number[] = [];
    for (const organizationId of organizations)
      ids.push(await enqueue(tx, named(name), { key: String(organizationId) }, { organizationId }));
    return ids;
  });
const allEnded = (ids: readonly number[], state: 'done' | 'failed') =>
  Promise.all(ids.map((id) => bed.ended(id, state)));
/** What a job writes itself is seen by. */
const writtenBy = async (name: string) =>
  (
    (await bed.rows(`select payload->>'key' as key from jobs where name = $1 order by id`, name)) as {
      key: string;
    }[]
  ).map(({ key }) => key);

/** A database that notes the names of transactions, and has each of them end as `ending` says. */
function noting(
  names: string[],
  ending: <T>(name: string, result: Promise<T>) => Promise<T> = (_, it) => it,
) {
  const { transaction: begin } = bed.ctx.db as Database;
  const noted: Partial<Database> = {
    transaction: (name, work) => {
      names.push(name);
      return ending(name, begin(name, work));
    },
  };
  return noted;
}

const writing =
  (name: string) =>
  async (tx: TxContext, { key }: Payload) => {
    await enqueue(tx, named(name), { key });
  };

it('jobs of many organizations are written in few transactions, each of them once', async () => {
  const names: string[] = [];
  const outside: string[] = [];
  const many = saga<Payload, { seen: string }>({
    name: 'test.many',
    queue: 'charges',
    inStep: true,
    steps: [
      {
        name: 'outside',
        do: async ({ payload }) => {
          outside.push(payload.key);
          return { seen: payload.key };
        },
        recorded: (tx, { key }) => writing('test.manyRecorded')(tx, { key }),
      },
      {
        name: 'book',
        transactional: true,
        do: ({ ctx, state }) => writing('test.manyBooked')(ctx, { key: state.seen ?? '' }),
      },
    ],
  });
  const organizations = Array.from({ length: 40 }, (_, index) => index + 1);
  const ids = await askAll('test.many', organizations);
  bed.workWith({ db: noting(names) }, many);
  await allEnded(ids, 'done');
  const inOrder = (keys: string[]) => keys.map(Number).sort((a, b) => a - b);
  expect(inOrder(outside)).toEqual(organizations);
  expect(inOrder(await writtenBy('test.manyRecorded'))).toEqual(organizations);
  expect(inOrder(await writtenBy('test.manyBooked'))).toEqual(organizations);
  // 80 of them, would each go by itself.
  expect(names.length).toBeLessThanOrEqual(20);
});

it('one that fails holds up no other, and is tried again by itself', async () => {
  let tries = 0;
  bed.work(
    databaseJob<Payload>(
      'test.odd',
      async (tx, { key }) => {
        await writing('test.oddWritten')(tx, { key });
        if (key !== '3') return;
        tries += 1;
        if (tries < 4) throw new Error('not yet');
      },
      { inStep: true, queue: 'charges' },
    ),
  );
  const ids = await askAll('test.odd', [1, 2, 3, 4, 5]);
  await allEnded(ids, 'done');
  expect((await writtenBy('test.oddWritten')).sort()).toEqual(['1', '2', '3', '4', '5']);
});

it('those of one organization do not see one another half done', async () => {
  // What one reads the other has written: side by side both would find nothing.
  const counting = databaseJob<Payload>(
    'test.same',
    async (tx, { key }) => {
      const before = await writtenBy('test.sameWritten');
      await writing('test.sameWritten')(tx, { key: `${key}-${before.length}` });
    },
    { inStep: true },
  );
  const names: string[] = [];
  const ids = await askAll('test.same', [1, 1, 1]);
  bed.workWith(
    { db: noting(names), slots: { quick: 6, charges: 1, machine: 1, bulk: 1, incoming: 1 } },
    counting,
  );
  await allEnded(ids, 'done');
  expect(names.filter((name) => name === 'test.same: done')).toHaveLength(3);
});

it('what is committed although nobody heard of it is not done again', async () => {
  let isLost = false;
  const names: string[] = [];
  const lost = noting(names, async (name, result) => {
    const done = await result;
    if (name !== 'test.lostAnswer/first: record done' || isLost) return done;
    isLost = true;
    throw fail('unavailable');
  });
  let firsts = 0;
  bed.workWith(
    { db: lost },
    saga<Payload>({
      name: 'test.lostAnswer',
      inStep: true,
      steps: [
        {
          name: 'first',
          transactional: true,
          do: async ({ ctx, payload }) => {
            firsts += 1;
            await writing('test.lostFirst')(ctx, payload);
          },
        },
        { name: 'outside', do: async () => undefined },
      ],
    }),
  );
  const ids = await askAll('test.lostAnswer', [1, 2, 3]);
  // The pause after an outage is seconds of a clock that stands still.
  await until(
    async () => {
      bed.clock.travel(5_000);
      return Promise.all(ids.map((id) => bed.jobOf(id)));
    },
    (jobs) => jobs.every((job) => job?.state === 'done'),
  );
  expect([isLost, firsts]).toEqual([true, 3]);
  expect((await writtenBy('test.lostFirst')).sort()).toEqual(['1', '2', '3']);
});
