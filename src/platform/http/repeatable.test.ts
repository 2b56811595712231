import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/database.ts';
import { readConfig } from '../../config.ts';
import { systemActor } from '../context.ts';
import { connect, type Database } from '../database/index.ts';
import { createLog } from '../log.ts';
import { createSeal } from '../seal.ts';
import { closeApi } from './api.ts';
import { purgeIdempotencyKeys } from './idempotency.ts';
import { type Demo, demoTables, startDemo } from './testbed.ts';

let testDb: TestDatabase;
let db: Database;
let sql: pg.Client;
let demo: Demo;
const log = createLog('silent');
const seal = createSeal(randomBytes(32));

beforeAll(async () => {
  testDb = await testDatabase();
  sql = new pg.Client({ connectionString: testDb.url });
  await sql.connect();
  await sql.query(demoTables);
  db = connect(testDb.url, { log });
  demo = await startDemo({ db, seal });
});
beforeEach(async () => {
  await sql.query('truncate demo_effects');
});
afterAll(async () => {
  await closeApi(demo.app);
  await db.close();
  await sql.end();
  await testDb.drop();
});

const notes = '/api/dashboard/notes';
const create = (key: string, text: string, options: object = {}) =>
  demo.call('POST', notes, { body: { text }, headers: { 'idempotency-key': key }, ...options });
const effects = async () => (await sql.query('select * from demo_effects')).rowCount;

describe('a POST with an Idempotency-Key', () => {
  it('has one effect and one answer, however often it is sent', async () => {
    const first = await create('once', 'a');
    const second = await create('once', 'a');
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.text).toBe(first.text);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(await effects()).toBe(1);
  });

  it('has one effect when fifty arrive at once; the others are told to repeat', async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => create('fifty', 'slow')));
    expect(await effects()).toBe(1);
    const busy = replies.filter((reply) => reply.status === 409);
    expect(busy.every((reply) => reply.body.code === 'idempotency_in_flight')).toBe(true);
    expect(busy.every((reply) => reply.headers.get('retry-after') === '1')).toBe(true);
    const answers = new Set(replies.filter((reply) => reply.status === 200).map((reply) => reply.text));
    expect(answers.size).toBe(1);
    expect(answers.has((await create('fifty', 'slow')).text)).toBe(true);
  });

  it('has one effect when its body is bytes, and is refused when they are others', async () => {
    const send = (bytes: number[]) =>
      demo.call('POST', '/api/bytes/small', {
        body: new Uint8Array(bytes),
        headers: { 'content-type': 'image/png', 'idempotency-key': 'bytes' },
      });
    const first = await send([0, 255, 13]);
    expect([first.status, (await send([0, 255, 13])).text]).toEqual([200, first.text]);
    expect((await send([0, 255, 10])).body.code).toBe('idempotency_key_reused');
    expect(await effects()).toBe(1);
  });

  it('is refused when the key comes with another body', async () => {
    await create('other', 'a');
    const { status, body } = await create('other', 'b');
    expect([status, body.code, body.error]).toEqual([422, 'idempotency_key_reused', 'Unprocessable Entity']);
    expect(await effects()).toBe(1);
  });

  it('leaves nothing behind when it fails, and may be repeated', async () => {
    for (let i = 0; i < 2; i += 1) expect((await create('fails', 'conflict')).status).toBe(409);
    expect(await effects()).toBe(0);
  });

  it('belongs to its caller and organization', async () => {
    const [ada, bob] = [await create('mine', 'a'), await create('mine', 'a', { as: 'bob', organization: 2 })];
    expect(bob.headers.get('idempotency-replayed')).toBeNull();
    expect(ada.text).not.toBe(bob.text);
  });

  it('may be used again after a day, and is then deleted by the job', async () => {
    const first = await create('day', 'a');
    demo.clock.travel(24 * 3_600_000 + 1);
    const second = await create('day', 'b');
    expect(second.status).toBe(200);
    expect(second.text).not.toBe(first.text);
    const ctx = {
      db,
      log,
      seal,
      reactions: new Map(),
      clock: demo.clock,
      config: readConfig({}),
      actor: systemActor,
      organizationId: null,
      requestId: null,
    };
    const { rowCount: before } = await sql.query('select 1 from idempotency_keys');
    await purgeIdempotencyKeys(ctx);
    expect((await sql.query('select 1 from idempotency_keys')).rowCount).toBeLessThan(before ?? 0);
    expect((await create('day', 'b')).text).toBe(second.text);
  });

  it('must have a key that is one', async () => {
    for (const key of ['x'.repeat(256), 'ä']) {
      const { status, body } = await create(key, 'a');
      expect([status, body.code]).toEqual([400, 'idempotency_key_invalid']);
    }
  });

  it('keeps an answer that nobody can read in the database', async () => {
    await create('sealed', 'plain words');
    const { rows } = await sql.query<{ answer: Buffer }>('select answer from idempotency_keys');
    expect(rows.some((row) => row.answer.includes('plain words'))).toBe(false);
  });
});

describe('ETags', () => {
  it('spare a body that the caller has', async () => {
    const first = await demo.call('GET', `${notes}/2`);
    const tag = first.headers.get('etag') ?? '';
    const again = await demo.call('GET', `${notes}/2`, { headers: { 'if-none-match': `"x", W/${tag}` } });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
    expect((await demo.call('GET', `${notes}/2`, { headers: { 'if-none-match': '"x"' } })).status).toBe(200);
  });

  it('let one of two writers win who read the same state', async () => {
    const tag = (await demo.call('GET', `${notes}/1`)).headers.get('etag') ?? '';
    const write = (text: string) =>
      demo.call('PATCH', `${notes}/1`, { body: { text }, headers: { 'if-match': tag } });
    const replies = await Promise.all(Array.from({ length: 10 }, (_, i) => write(`new ${i}`)));
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array(9).fill(412)]);
    expect(replies.find((reply) => reply.status === 412)?.body.error).toBe('Precondition Failed');
    expect((await demo.call('PATCH', `${notes}/1`, { body: { text: 'free' } })).status).toBe(200);
  });
});

it('a lost database is 503 with Retry-After, also for readiness', async () => {
  const lost = connect('postgres://nobody@127.0.0.1:1/none', { log });
  const broken = await startDemo({ db: lost });
  for (const path of [`${notes}/1`, '/readyz']) {
    const { status, body, headers } = await broken.call('GET', path);
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'unavailable', '2']);
  }
  await closeApi(broken.app);
  await lost.close();
});
