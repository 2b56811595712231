import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/database.ts';
import { until } from '../../../test/product.ts';
import { createLog } from '../log.ts';
import {
  connect,
  type Database,
  forMany,
  forSame,
  inStep,
  type Statement,
  statement,
  type Transaction,
} from './index.ts';

const insert = forMany(
  statement<{ id: number }, { name: string; position: number }>(
    'inStepTest.insert',
    'insert into product_groups (name, position) values (:name, :position) returning id',
  ),
  { name: 'text', position: 'int' },
  (given) =>
    `with written as (insert into product_groups (name, position) select name, position from ${given}
       order by nth_ returning id)
     select id, row_number() over (order by id) as nth_ from written`,
);
const rename = forMany(
  statement<never, { id: number; name: string }>(
    'inStepTest.rename',
    'update product_groups set name = :name where id = :id',
  ),
  { id: 'bigint', name: 'text' },
  (given) => `update product_groups g set name = given.name from ${given} where g.id = given.id`,
);
const byName = forMany(
  statement<{ name: string; position: number }, { name: string }>(
    'inStepTest.byName',
    'select name, position from product_groups where name >= :name order by position desc limit 2',
  ),
  { name: 'text' },
);
const locked = forMany(
  statement<{ name: string }, { id: number }>(
    'inStepTest.locked',
    `with own as materialized (select * from product_groups where id = :id for update)
     select own.name from own`,
  ),
  { id: 'bigint' },
);
const value = forMany(
  statement<
    { value: unknown; day: string | null; at: Date | null },
    { value: unknown; day: string | null; at: Date | null }
  >('inStepTest.value', 'select :value::jsonb as value, :day::date as day, :at::timestamptz as at'),
  { value: 'jsonb', day: 'date', at: 'timestamptz' },
);
const drawn = forSame(statement<{ x: number }>('inStepTest.drawn', 'select random() as x'));
const single = statement<{ x: number }, { by: number }>('inStepTest.divide', 'select 1 / :by::int as x');
const names = statement<{ name: string; position: number }>(
  'inStepTest.names',
  'select name, position from product_groups order by id',
);
const waiting = statement<{ pid: number }>(
  'inStepTest.waiting',
  `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
);
const unlocked = statement<{ id: number }>(
  'inStepTest.unlocked',
  'select id from product_groups for update skip locked',
);
const clear = statement('inStepTest.clear', 'delete from product_groups');

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await testDatabase();
  db = connect(database.url, { log: createLog('silent'), poolSize: 1 });
});
beforeEach(async () => {
  await db.run(clear);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

/** What goes to the database, by name. */
function counting(tx: Transaction, sent: string[]): Transaction {
  const noted = <S extends Statement<unknown, object>>(each: S): S => {
    sent.push(each.name);
    return each;
  };
  return {
    ...tx,
    many: (each, ...given) => tx.many(noted(each), ...given),
    one: (each, ...given) => tx.one(noted(each), ...given),
    maybe: (each, ...given) => tx.maybe(noted(each), ...given),
    run: (each, ...given) => tx.run(noted(each), ...given),
  };
}

const letters = ['a', 'b', 'c', 'd', 'e'];
const written = async (from: Pick<Database, 'many'> = db) => (await from.many(names)).map((row) => row.name);

describe('those who go in step', () => {
  it('write at once what they write at the same point, and each gets its own answer', async () => {
    const sent: string[] = [];
    const ids = await db.transaction('test', (tx) =>
      inStep(counting(tx, sent), letters, async (one, name) => {
        const { id } = await one.one(insert, { name, position: name.charCodeAt(0) });
        expect(await one.run(rename, { id, name: `${name}${id}` })).toBe(1);
        return id;
      }),
    );
    expect(sent).toEqual(['inStepTest.insert.many', 'inStepTest.rename.many']);
    expect(await written()).toEqual(letters.map((name, nth) => `${name}${ids[nth]}`));
  });

  it('read at once, each its own rows in their order, and none where there are none', async () => {
    const sent: string[] = [];
    const found = await db.transaction('test', async (tx) => {
      await Promise.all(letters.map((name, position) => tx.one(insert, { name, position })));
      return inStep(counting(tx, sent), ['c', 'e', 'x'], async (one, name) => ({
        all: (await one.many(byName, { name })).map((row) => row.name),
        first: (await one.maybe(byName, { name }))?.name ?? null,
      }));
    });
    expect(found).toEqual([
      { all: ['e', 'd'], first: 'e' },
      { all: ['e'], first: 'e' },
      { all: [], first: null },
    ]);
    expect(sent).toEqual(['inStepTest.byName.many', 'inStepTest.byName.many']);
  });

  it('have the values that one alone has: lists and texts in JSON, days, moments and null', async () => {
    const values = [
      { value: [1, [2, { a: '"x", {y}' }]], day: '2028-02-29', at: new Date('2026-03-29T01:00:00.123Z') },
      { value: { list: [] }, day: null, at: null },
      { value: '["as text"]', day: '0001-01-01', at: null },
      { value: null, day: null, at: new Date(0) },
    ];
    await db.transaction('test', async (tx) => {
      const alone = await Promise.all(
        values.map(({ value: json, ...rest }) =>
          tx.one(value, {
            ...rest,
            value: json === null || typeof json === 'string' ? json : JSON.stringify(json),
          }),
        ),
      );
      expect(await inStep(tx, values, (one, each) => one.one(value, each))).toEqual(alone);
    });
  });

  it('ask once for what is the same for all', async () => {
    const sent: string[] = [];
    const all = await db.transaction('test', (tx) =>
      inStep(counting(tx, sent), letters, (one) => one.one(drawn)),
    );
    expect(new Set(all.map(({ x }) => x)).size).toBe(1);
    expect(sent).toEqual(['inStepTest.drawn']);
  });

  it('lock rows, and keep the order in which each of them asked', async () => {
    const order: string[] = [];
    await db.transaction('test', async (tx) => {
      const ids = await Promise.all(
        letters.map(async (name, position) => (await tx.one(insert, { name, position })).id),
      );
      await inStep(counting(tx, order), ids, async (one, id) => {
        const even = id % 2 === 0;
        // Not waited for: the second goes out behind the first all the same.
        const asked = even
          ? [one.run(rename, { id, name: `x${id}` }), one.one(locked, { id })]
          : [one.one(locked, { id }), one.run(rename, { id, name: `y${id}` })];
        const [first, second] = await Promise.all(asked);
        const seen = (even ? second : first) as { name: string };
        expect(seen.name.startsWith('x')).toBe(even);
      });
    });
    expect((await written()).map((name) => name[0]).toSorted()).toEqual(expect.arrayContaining(['x', 'y']));
  });

  it('fail together, with the reason of the one who failed, and nothing of them stays', async () => {
    const reason = new Error('cannot go on');
    const failing = (work: (one: Transaction, name: string) => Promise<unknown>) =>
      db.transaction('test', async (tx) => {
        await tx.one(insert, { name: `before ${(await written(tx)).length}`, position: 0 });
        await expect(tx.attempt((inner) => inStep(inner, letters, work))).rejects.toThrow(
          /cannot go on|division/,
        );
      });
    await failing(async (one, name) => {
      await one.one(insert, { name, position: 1 });
      if (name === 'd') throw reason;
      await one.one(insert, { name: `${name}2`, position: 2 });
    });
    await failing(async (one, name) => {
      await one.one(insert, { name, position: 1 });
      await one.one(single, { by: name === 'd' ? 0 : 1 });
    });
    expect(await written()).toEqual(['before 0', 'before 1']);
  });

  it('lock rows in the order of their ids, whoever of them comes first', async () => {
    const others = connect(database.url, { log: createLog('silent'), poolSize: 2 });
    const ids = await db.transaction('test', (tx) =>
      inStep(tx, letters, async (one, name) => (await one.one(insert, { name, position: 1 })).id),
    );
    const [first = 0] = ids;
    const held = Promise.withResolvers<void>();
    const isHeld = Promise.withResolvers<void>();
    const holding = others.transaction('hold', async (tx) => {
      await tx.one(locked, { id: first });
      isHeld.resolve();
      await held.promise;
    });
    await isHeld.promise;
    const going = db.transaction('test', (tx) =>
      inStep(tx, ids.toReversed(), (one, id) => one.one(locked, { id })),
    );
    await until(
      () => others.many(waiting),
      (found) => found.length > 0,
    );
    // It waits for the first of them, and has none of the others.
    const free = await others.many(unlocked);
    held.resolve();
    await Promise.all([holding, going]);
    await others.close();
    expect(free).toHaveLength(letters.length - 1);
  });

  it('make no attempt of their own, and notice when it cannot be told which of them wrote', async () => {
    await db.transaction('test', async (tx) => {
      await expect(
        tx.attempt((inner) => inStep(inner, letters, (one) => one.attempt(async () => undefined))),
      ).rejects.toThrow(/no.* attempt of its own/);
      const { id } = await tx.one(insert, { name: 'a', position: 0 });
      await expect(
        tx.attempt((inner) =>
          inStep(inner, [id, id + 1], (one, each) => one.run(rename, { id: each, name: 'z' })),
        ),
      ).rejects.toThrow(/wrote 1 rows for 2/);
    });
  });
});

it('a statement for many takes what the one takes', () => {
  const one = statement<never, { id: number }>('inStepTest.takes', 'select :id::bigint');
  expect(() => forMany(one, {} as { id: 'bigint' })).toThrow('does not take so few for many');
  expect(() => forMany(one, { id: 'bigint', other: 'text' } as { id: 'bigint' })).toThrow(
    'does not take other',
  );
});
