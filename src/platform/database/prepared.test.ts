import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/database.ts';
import { createLog } from '../log.ts';
import { connect, type Database, statement } from './index.ts';

const rows = statement<object, { count: number | string }>(
  'preparedTest.rows',
  `select n, n::bigint * 9007199254740991 as large, null as nothing, date '2026-02-28' as day, 'x' || n as text,
     array[n, n + 1] as list, jsonb_build_object('n', n) as data
   from generate_series(1, :count::int) n`,
);
const nothing = statement<never, { name: string }>(
  'preparedTest.nothing',
  'update product_groups set name = name where name = :name',
);
const cast = statement<{ x: string }, { value: object | string }>(
  'preparedTest.cast',
  `select :value::text as x`,
);
const changing = statement<{ x: unknown }, { all: boolean }>(
  'preparedTest.changing',
  'select x from changing where :all',
);

let database: TestDatabase;
let sql: pg.Client;
const open = (): Database => connect(database.url, { log: createLog('silent'), poolSize: 1 });

beforeAll(async () => {
  database = await testDatabase();
  sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
});

afterAll(async () => {
  await sql.end();
  await database.drop();
});

it('a statement says the same each time, and asks for its columns only the first', async () => {
  const describe = vi.spyOn(pg.Connection.prototype as unknown as { describe(): void }, 'describe');
  const db = open();
  const first = await db.many(rows, { count: 2 });
  expect(first[0]).toEqual({
    ...{ n: 1, large: 9007199254740991, nothing: null, day: '2026-02-28', text: 'x1' },
    ...{ list: [1, 2], data: { n: 1 } },
  });
  expect(first).toHaveLength(2);
  expect(await db.many(rows, { count: 2 })).toEqual(first);
  expect(await db.many(rows, { count: 0 })).toEqual([]);
  expect(await db.run(nothing, { name: '' })).toBe(0);
  const together = await db.transaction('test', (tx) =>
    Promise.all([
      tx.many(rows, { count: 2 }),
      tx.run(nothing, { name: '' }),
      tx.many(rows, { count: 1 }),
      tx.run(nothing, { name: '' }),
    ]),
  );
  expect(together).toEqual([first, 0, first.slice(0, 1), 0]);
  expect(describe).toHaveBeenCalledTimes(2);
  const other = open();
  expect(await other.many(rows, { count: 2 })).toEqual(first);
  expect(describe).toHaveBeenCalledTimes(3);
  describe.mockRestore();
  await db.close();
  await other.close();
});

it('values that cannot be sent fail alone, the first time and later', async () => {
  const db = open();
  const circle: { self?: object } = {};
  circle.self = circle;
  for (let time = 0; time < 2; time += 1) {
    await expect(db.one(cast, { value: circle })).rejects.toThrow('circular');
    expect(await db.one(cast, { value: 'text' })).toEqual({ x: 'text' });
    await expect(db.one(rows, { count: 'no number' })).rejects.toThrow('invalid input syntax');
    expect(await db.many(rows, { count: 1 })).toHaveLength(1);
  }
  await db.close();
});

it('values that cannot be sent harm no other connection, and none of those that follow', async () => {
  const never = statement<{ x: string }, { value: object | string }>(
    'preparedTest.never',
    'select :value::text as x',
  );
  const circle: { self?: object } = {};
  circle.self = circle;
  const [one, other] = [open(), open()];
  const failed = one.transaction('test', (tx) => tx.one(never, { value: circle }));
  await expect(failed).rejects.toThrow('circular');
  for (const db of [other, one, other, one])
    expect(await db.one(never, { value: 'text' })).toEqual({ x: 'text' });
  const later = one.transaction('test', (tx) => tx.one(never, { value: circle }));
  await expect(later).rejects.toThrow('circular');
  for (const db of [one, other]) expect(await db.one(never, { value: 'text' })).toEqual({ x: 'text' });
  await one.close();
  await other.close();
});

it('a new connection learns what a migration changed', async () => {
  await sql.query('create table changing (x int not null); insert into changing values (7)');
  const before = open();
  expect(await before.one(changing, { all: true })).toEqual({ x: 7 });
  expect(await before.one(changing, { all: true })).toEqual({ x: 7 });
  await sql.query('alter table changing alter x type text');
  const after = open();
  expect(await after.one(changing, { all: true })).toEqual({ x: '7' });
  expect(await after.one(changing, { all: true })).toEqual({ x: '7' });
  await before.close();
  await after.close();
});

it('an error names who asked', async () => {
  const db = open();
  async function whoAsks() {
    await db.one(rows, { count: 'no number' });
  }
  const error = await whoAsks().catch((thrown: Error) => thrown);
  expect((error as Error).stack).toContain('whoAsks');
  await db.close();
});
