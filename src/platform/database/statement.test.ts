import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/database.ts';
import { createLog } from '../log.ts';
import { connect, type Database, statement, valuesOf } from './index.ts';

const add = statement<{ sum: number; name: string }, { left: number; right: number; name: string }>(
  'statementTest.add',
  `select :left::int + :right::int + :left::int as sum, ':not' || :name as name -- :nor this`,
);
const one = statement<{ one: number }>('statementTest.one', 'select 1 as one');

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await testDatabase();
  db = connect(database.url, { log: createLog('silent'), poolSize: 1 });
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

describe('the names in a statement', () => {
  it('become numbers in the order in which they stand, the same name the same number', () => {
    expect(add.names).toEqual(['left', 'right', 'name']);
    expect(add.text).toBe(`select $1::int + $2::int + $1::int as sum, ':not' || $3 as name -- :nor this`);
    expect(valuesOf(add, { name: 'c', right: 2, left: 1 })).toEqual([1, 2, 'c']);
  });

  it('are not read into casts, texts, quoted names, remarks or arguments by name', () => {
    const texts = [
      `select '1'::text, 'a'::varchar(3)::text, array[1, 2]::int[]`,
      `select 'it''s :not', E':nor this' as ":nor that" /* :never */ -- :nothing`,
      'select make_interval(secs := 3), make_interval(hours => 1)',
      'select (array[1, 2, 3])[1:2]',
    ];
    for (const [index, text] of texts.entries()) {
      const plain = statement(`statementTest.plain${index}`, text);
      expect(plain).toMatchObject({ text, names: [] });
    }
    expect(statement('statementTest.between', 'select (:a)::int, a[1::int:b]').text).toBe(
      'select ($1)::int, a[1::int:b]',
    );
  });

  it('may not be missing: a number is refused where the statement is declared', () => {
    expect(() => statement('statementTest.numbered', 'select $1::int')).toThrow(
      'statementTest.numbered has a parameter $1: give it a name',
    );
  });
});

describe('the values of a statement', () => {
  it('are taken by their names, in whatever order they are written', async () => {
    expect(await db.one(add, { name: ' seen', right: 10, left: 1 })).toEqual({ sum: 12, name: ':not seen' });
    expect(await db.one(one)).toEqual({ one: 1 });
  });

  it('are all there: one that is missing or undefined is named, and null is a value', async () => {
    const missing = { left: 1, name: '' } as { left: number; right: number; name: string };
    await expect(db.one(add, missing)).rejects.toThrow('statementTest.add was given no right');
    await expect(db.one(add, { ...missing, right: undefined as never })).rejects.toThrow('given no right');
    expect(await db.one(add, { ...missing, right: null as never })).toEqual({ sum: null, name: ':not' });
  });

  it('do not compile when they are swapped, missing, unknown or too many', () => {
    const wrong = [
      // @ts-expect-error: a number stands where the text belongs, and the text where the number does
      () => db.one(add, { left: 'one', right: 2, name: 3 }),
      // @ts-expect-error: by position
      () => db.one(add, 1, 2, 'three'),
      // @ts-expect-error: one is missing
      () => db.one(add, { left: 1, name: 'three' }),
      // @ts-expect-error: one is unknown
      () => db.one(add, { left: 1, right: 2, name: 'three', fourth: 4 }),
      // @ts-expect-error: nothing is given
      () => db.one(add),
      // @ts-expect-error: it takes nothing
      () => db.one(one, { left: 1 }),
      // @ts-expect-error: it gives rows, so it is not run
      () => db.run(one),
    ];
    expect(wrong).toHaveLength(7);
  });
});
