import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/database.ts';
import { stillNetwork } from '../../../test/stillNetwork.ts';
import { createLog } from '../log.ts';
import { connect, type Database, statement } from './index.ts';

const insert = statement<never, { name: string }>(
  'connectTest.insert',
  'insert into product_groups (name) values (:name)',
);
const count = statement<{ count: number }, { name: string }>(
  'connectTest.count',
  `select count(*)::int as count from product_groups where name like :name`,
);
const hold = statement<{ held: string }, { seconds: number }>(
  'connectTest.hold',
  'select pg_sleep(:seconds::float8)::text as held',
);
const rename = statement<never, { name: string; to: string }>(
  'connectTest.rename',
  'update product_groups set name = :to where name = :name',
);
const longestSilence = statement<{ most: string }>(
  'connectTest.longestSilence',
  `select current_setting('idle_in_transaction_session_timeout') as most`,
);
const divide = statement<{ x: number }, { by: number }>('connectTest.divide', 'select 1 / :by::int as x');

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await testDatabase();
  db = connect(database.url, { log: createLog('silent'), poolSize: 2 });
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

it('writes that travel together are all there after the commit', async () => {
  await db.transaction('test', (tx) =>
    Promise.all(['a 1', 'a 2', 'a 3'].map((name) => tx.run(insert, { name }))),
  );
  expect(await db.one(count, { name: 'a %' })).toEqual({ count: 3 });
});

it('one that fails among them takes all away, and its own error is what is thrown', async () => {
  const failed = db.transaction('test', (tx) =>
    Promise.all([
      tx.run(insert, { name: 'b 1' }),
      tx.one(divide, { by: 0 }),
      tx.run(insert, { name: 'b 2' }),
    ]),
  );
  await expect(failed).rejects.toThrow('division by zero');
  expect(await db.one(count, { name: 'b %' })).toEqual({ count: 0 });
});

it('a connection on which a transaction failed serves the next one', async () => {
  for (let time = 0; time < 6; time += 1) {
    await db.transaction('test', (tx) => tx.one(divide, { by: 0 })).catch(() => undefined);
  }
  await Promise.all(
    Array.from({ length: 6 }, (_, n) => db.transaction('test', (tx) => tx.run(insert, { name: `c ${n}` }))),
  );
  expect(await db.one(count, { name: 'c %' })).toEqual({ count: 6 });
});

it('who waits while others hold all connections for seconds gets one, and after five hears that none is to be had', {
  timeout: 30_000,
}, async () => {
  const busy = connect(database.url, { log: createLog('silent'), poolSize: 1 });
  // Connecting takes its time too, which is not what is looked at.
  await busy.one(count, { name: 'nothing' });
  const holding = busy.one(hold, { seconds: 3 });
  expect(await busy.one(count, { name: 'nothing' })).toEqual({ count: 0 });
  await holding;
  const longer = busy.one(hold, { seconds: 8 });
  await expect(busy.one(count, { name: 'nothing' })).rejects.toMatchObject({
    code: 'unavailable',
    status: 503,
  });
  await longer;
  await busy.close();
});

it('a connection may be lost in the moment in which it is handed out', async () => {
  const { connect: handOut } = pg.Pool.prototype;
  const connecting = vi.spyOn(pg.Pool.prototype, 'connect');
  connecting.mockImplementation(function (this: pg.Pool) {
    return new Promise((resolve) => {
      handOut.call(this, (_error, client) => {
        client?.emit('error', new Error('terminating connection due to unexpected postmaster exit'));
        resolve(client);
      });
    });
  });
  await db.transaction('test', (tx) => tx.run(insert, { name: 'd' }));
  connecting.mockRestore();
  expect(await db.one(count, { name: 'd' })).toEqual({ count: 1 });
});

it('days begin in UTC, whatever time zone the database has', async () => {
  const zone = statement<{ zone: string }>('test.zone', `select current_setting('TimeZone') as zone`);
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  const [{ name }] = (await admin.query('select current_database() as name')).rows;
  await admin.query(`alter database "${name}" set timezone = 'Asia/Tokyo'`);
  await admin.end();
  const fresh = connect(database.url, { log: createLog('silent'), poolSize: 1 });
  expect(await fresh.one(zone)).toEqual({ zone: 'UTC' });
  await fresh.close();
});

it('a network that swallows packets makes statements unavailable, and the next ones get through when it is well', {
  timeout: 30_000,
}, async () => {
  const network = await stillNetwork(database.url);
  const far = connect(network.url, { log: createLog('silent'), poolSize: 2, statementTimeoutMs: 200 });
  await Promise.all([far.one(count, { name: 'd' }), far.one(count, { name: 'd' })]);
  network.swallow();
  const began = Date.now();
  const work = [
    far.one(count, { name: 'd' }),
    far.transaction('test', (tx) =>
      Promise.all([tx.run(insert, { name: 'e' }), tx.run(insert, { name: 'e' })]),
    ),
    far.one(count, { name: 'd' }), // waits for a connection
  ];
  for (const each of await Promise.allSettled(work))
    expect(each).toMatchObject({ status: 'rejected', reason: { code: 'unavailable', status: 503 } });
  expect(Date.now() - began).toBeLessThan(12_000);
  network.carry();
  expect(await far.one(count, { name: 'e' })).toEqual({ count: 0 });
  await far.close();
  network.close();
});

it('a statement that takes too long is ended by the server, and its connection serves the next one', async () => {
  const impatient = connect(database.url, { log: createLog('silent'), poolSize: 1, statementTimeoutMs: 200 });
  const dawdle = statement<{ x: string }>('connectTest.dawdle', `select pg_sleep(30)::text as x`);
  await expect(impatient.one(dawdle)).rejects.toThrow('statement timeout');
  expect(await impatient.one(count, { name: 'd' })).toEqual({ count: 1 });
  await impatient.close();
});

it('who waits too long for a lock is told that something else is under way, and waits no more', async () => {
  const impatient = connect(database.url, { log: createLog('silent'), poolSize: 1, lockTimeoutMs: 100 });
  const lockAll = statement('connectTest.lockAll', 'lock table product_groups in exclusive mode');
  await db.transaction('test', async (tx) => {
    await tx.run(lockAll);
    const waiting = impatient.run(insert, { name: 'late' });
    await expect(waiting).rejects.toMatchObject({ code: 'busy', status: 409, retryAfterS: 1 });
  });
  expect(await impatient.run(insert, { name: 'late' })).toBe(1);
  await impatient.close();
});

it('what a process that hangs has locked in a transaction is free again, and what it goes on with is lost as a whole', async () => {
  const hangs = connect(database.url, { log: createLog('silent'), poolSize: 1, idleTransactionMs: 500 });
  await db.run(insert, { name: 'd 1' });
  const { promise: locked, resolve: hasLocked } = Promise.withResolvers<void>();
  const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>();
  const lost = hangs
    .transaction('test', async (tx) => {
      await tx.run(rename, { name: 'd 1', to: 'd 2' });
      hasLocked();
      await goesOn;
      await tx.run(insert, { name: 'd 3' });
    })
    .catch((error: unknown) => error);
  await locked;
  await db.run(rename, { name: 'd 1', to: 'd 4' });
  goOn();
  expect(await lost).toMatchObject({ code: 'unavailable', status: 503 });
  expect(await db.one(count, { name: 'd %' })).toEqual({ count: 1 });
  expect(await db.one(count, { name: 'd 4' })).toEqual({ count: 1 });
  expect(await hangs.one(count, { name: 'd 4' })).toEqual({ count: 1 });
  await hangs.close();
});

it('is so long without a word in a transaction at most, whatever its server is set to', async () => {
  expect(await db.one(longestSilence)).toEqual({ most: '1min' });
});
