import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { sql } from '../../test/sql.ts';
import { connect, type Database, statement } from './database/index.ts';
import { AppError, fail } from './errors.ts';
import { causesOf, createLog, logOptions } from './log.ts';

const secret = 'kim.de.vries@example.com';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await testDatabase();
  db = connect(database.url, { log: createLog('silent') });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

/** The line that a log writes of this. */
function lineOf(fields: object): string {
  let line = '';
  pino(logOptions('info'), {
    write: (text: string) => {
      line += text;
    },
  }).info(fields, 'said');
  return line;
}

const insertTwice = statement<never, { email: string }>(
  'logTest.insertTwice',
  `insert into written_twice (email) values (:email)`,
);
const readNumber = statement<{ number: number }, { text: string }>(
  'logTest.readNumber',
  'select (:text::text)::bigint as number',
);
const breakCheck = statement<never, { email: string }>(
  'logTest.breakCheck',
  `insert into mails (id, journal_id, template, recipient, subject, body, state, created_at)
   values (1, 1, 't', :email, 's', 'b', 'no such state', '2026-01-01')`,
);

describe('an error of the database in the log', () => {
  it.each([
    ['a constraint', breakCheck, { email: secret }, 'mails_state_check'],
    ['a value it cannot read', readNumber, { text: secret }, '22P02'],
  ])('names %s, and no value', async (_, broken, params, named) => {
    const error = await db
      .many(broken as typeof readNumber, params as never)
      .catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(Error);
    for (const line of [
      lineOf({ err: error }),
      lineOf({ error }),
      lineOf({ err: fail('internal_error', { cause: error }) }),
    ]) {
      expect(line).toContain(named);
      expect(line).not.toContain(secret);
    }
    expect(causesOf(error)).not.toContain(secret);
  });

  it('does not quote the row that was there already', async () => {
    await sql({ databaseUrl: database.url }, 'create table written_twice (email text unique)');
    await db.run(insertTwice, { email: secret });
    const error = await db.run(insertTwice, { email: secret }).catch((thrown: Error) => thrown);
    expect(lineOf({ err: error })).toContain('written_twice_email_key');
    expect(lineOf({ err: error })).not.toContain(secret);
  });
});

describe('an error in the log', () => {
  it('is bounded, whatever hangs on it', () => {
    const error = Object.assign(new Error('x'.repeat(1_000_000)), {
      request: { headers: { authorization: 'Bearer ink_1' }, body: secret },
      code: 'ECONNREFUSED',
      syscall: 'connect',
    });
    const line = lineOf({ err: error });
    expect(line.length).toBeLessThan(20_000);
    expect(line).toContain('"syscall":"connect"');
    expect(line).not.toMatch(/ink_1|kim/);
  });

  it('keeps its type, its code, where it was thrown, and its causes', () => {
    const cause = new TypeError('the disk is full');
    const line = JSON.parse(lineOf({ err: fail('unavailable', { cause }) }));
    expect(line.err).toMatchObject({
      type: 'AppError',
      code: 'unavailable',
      cause: {
        type: 'TypeError',
        message: 'the disk is full',
        stack: expect.stringContaining('errorInLog.test.ts'),
      },
    });
    expect(fail('unavailable')).toBeInstanceOf(AppError);
  });

  it('ends where its causes go in a circle', () => {
    const error: Error & { cause?: unknown } = new Error('one');
    error.cause = error;
    expect(lineOf({ err: error }).length).toBeLessThan(50_000);
  });
});

it('a log that nobody reads any more does not end the process', async () => {
  const script = `
    import { createLog } from ${JSON.stringify(pathToFileURL(`${import.meta.dirname}/log.ts`).href)};
    const log = createLog('info');
    let lines = 0;
    setInterval(() => {
      log.error({ lines }, 'x'.repeat(20000));
      if (++lines === 20) { process.stdout.write('lives'); process.exit(0); }
    }, 20);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stderr.destroy();
  let printed = '';
  child.stdout.on('data', (bytes: Buffer) => {
    printed += bytes.toString();
  });
  const [code] = await once(child, 'close');
  expect([code, printed]).toEqual([0, 'lives']);
});
