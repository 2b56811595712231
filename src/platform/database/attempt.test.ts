import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/database.ts';
import { sql } from '../../../test/sql.ts';
import { createLog } from '../log.ts';
import { connect, type Database, statement, type Transaction } from './index.ts';

const insert = statement<never, { name: string }>(
  'attemptTest.insert',
  'insert into product_groups (name) values (:name)',
);
const names = statement<{ name: string }>(
  'attemptTest.names',
  'select name from product_groups order by name',
);
const clear = statement('attemptTest.clear', 'delete from product_groups');
// What PostgreSQL says to whoever it chose of those that wait for each other.
const deadlock = statement<{ met: unknown }>('attemptTest.deadlock', 'select attempt_test_deadlock() as met');
const divide = statement<{ x: number }, { by: number }>('attemptTest.divide', 'select 1 / :by::int as x');

let database: TestDatabase;
let db: Database;
const failure = new Error('changed its mind');

beforeAll(async () => {
  database = await testDatabase();
  await sql(
    { databaseUrl: database.url },
    `create function attempt_test_deadlock() returns void language plpgsql as $$ begin raise sqlstate '40P01'; end $$`,
  );
  db = connect(database.url, { log: createLog('silent'), poolSize: 1 });
});
beforeEach(async () => {
  await db.run(clear);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const written = async () => (await db.many(names)).map((row) => row.name);
const add = (tx: Transaction, ...all: string[]) => Promise.all(all.map((name) => tx.run(insert, { name })));

describe('an attempt', () => {
  it('that succeeds is part of the transaction, its result and what it wanted done afterwards too', async () => {
    const done: string[] = [];
    const result = await db.transaction('test', async (tx) => {
      await add(tx, 'a');
      tx.afterCommit(() => done.push('outside'));
      return tx.attempt(async (inner) => {
        await add(inner, 'b');
        inner.afterCommit(() => done.push('inside'));
        return 7;
      });
    });
    expect(result).toBe(7);
    expect(await written()).toEqual(['a', 'b']);
    expect(done).toEqual(['outside', 'inside']);
  });

  it('that throws takes back what it wrote and wanted done, and nothing else', async () => {
    const done: string[] = [];
    await db.transaction('test', async (tx) => {
      await add(tx, 'before');
      const attempt = tx.attempt(async (inner) => {
        await add(inner, 'within');
        inner.afterCommit(() => done.push('never'));
        throw failure;
      });
      await expect(attempt).rejects.toBe(failure);
      await add(tx, 'after');
    });
    expect(await written()).toEqual(['after', 'before']);
    expect(done).toEqual([]);
  });

  it('fails with the error of the statement that failed first, whichever is heard of first', async () => {
    await db.transaction('test', async (tx) => {
      const attempt = tx.attempt((inner) =>
        Promise.all([add(inner, 'a'), inner.one(divide, { by: 0 }), add(inner, 'b', 'c')]),
      );
      await expect(attempt).rejects.toThrow('division by zero');
      await add(tx, 'd');
    });
    expect(await written()).toEqual(['d']);
  });

  it('that swallows the failure of a statement fails all the same', async () => {
    await db.transaction('test', async (tx) => {
      const attempt = tx.attempt(async (inner) => {
        await inner.one(divide, { by: 0 }).catch(() => undefined);
      });
      await expect(attempt).rejects.toThrow('division by zero');
      await add(tx, 'a');
    });
    expect(await written()).toEqual(['a']);
  });

  it('within an attempt fails alone, and is taken back with the one around it', async () => {
    await db.transaction('test', async (tx) => {
      await tx.attempt(async (outer) => {
        await add(outer, 'outer');
        await outer.attempt((inner) => inner.one(divide, { by: 0 })).catch(() => undefined);
        await outer.attempt((inner) => add(inner, 'inner'));
      });
      const failed = tx.attempt(async (outer) => {
        await outer.attempt((inner) => add(inner, 'lost'));
        throw failure;
      });
      await expect(failed).rejects.toBe(failure);
    });
    expect(await written()).toEqual(['inner', 'outer']);
  });

  it('may follow another, as often as one likes', async () => {
    await db.transaction('test', async (tx) => {
      for (let turn = 0; turn < 20; turn += 1) {
        const attempt = tx.attempt(async (inner) => {
          await add(inner, `turn ${turn}`);
          if (turn % 2 === 0) await inner.one(divide, { by: 0 });
        });
        await attempt.catch(() => undefined);
      }
    });
    expect(await written()).toHaveLength(10);
  });

  it('lets nothing of its transaction travel beside it, nor of itself after it', async () => {
    await db.transaction('test', async (tx) => {
      let late: Transaction = tx;
      await tx.attempt(async (inner) => {
        late = inner;
        await expect(add(tx, 'beside')).rejects.toThrow('attemptTest.insert was sent beside an attempt');
        await expect(tx.attempt(async () => undefined)).rejects.toThrow('begun beside an attempt');
        await add(inner, 'within');
      });
      await expect(add(late, 'late')).rejects.toThrow('after its attempt had ended');
    });
    expect(await written()).toEqual(['within']);
  });

  it.each(['and its statement after that', 'and nothing after that', 'within another attempt'])(
    'that met a deadlock has the whole transaction run again, also when that is swallowed: %s',
    async (how) => {
      let turns = 0;
      const meet = async (tx: Transaction) => {
        await add(tx, `turn ${turns}`);
        if (turns === 1) await tx.one(deadlock);
      };
      await db.transaction('test', async (tx) => {
        turns += 1;
        await add(tx, 'before');
        const isWithin = how.startsWith('within');
        const attempt = isWithin
          ? tx.attempt((outer) => outer.attempt(meet).catch(() => undefined))
          : tx.attempt(meet);
        await attempt.catch(() => undefined);
        if (how !== 'and nothing after that') await add(tx, 'after');
      });
      expect(turns).toBe(2);
      expect(await written()).toEqual(
        how === 'and nothing after that' ? ['before', 'turn 2'] : ['after', 'before', 'turn 2'],
      );
    },
  );

  it('in a transaction that had failed before does not save it', async () => {
    const failed = db.transaction('test', async (tx) => {
      await tx.one(divide, { by: 0 }).catch(() => undefined);
      await tx.attempt((inner) => add(inner, 'a')).catch(() => undefined);
      await add(tx, 'b');
    });
    await expect(failed).rejects.toThrow('division by zero');
    expect(await written()).toEqual([]);
  });
});

it('a statement sent after its transaction had ended is refused', async () => {
  let late: Transaction | null = null;
  await db.transaction('test', async (tx) => {
    late = tx;
  });
  await expect(late === null ? null : add(late, 'late')).rejects.toThrow('after its transaction had ended');
  expect(await written()).toEqual([]);
});
