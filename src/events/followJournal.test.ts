import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChild } from '../../test/child.ts';
import { apiClient } from '../../test/client.ts';
import { testDatabase } from '../../test/database.ts';
import { removeDataDir } from '../../test/dataDir.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { settled, sql } from '../../test/sql.ts';
import { type Context, connect, type Database, transaction } from '../platform/index.ts';
import { event, followJournal, record } from './index.ts';

const seen = event<{ note: string }>('test.seen', 'a test wrote something down');
const path = '/dashboard/organizations';
/** Nothing in these tests is found by looking: it would come too late. */
const never = { pollMs: 600_000 };

let product: TestProduct;
let ctx: Context & { db: Database };
beforeAll(async () => {
  product = await startTestProduct();
  ctx = product.ctx as Context & { db: Database };
});
afterAll(() => product.stop());

function write(...notes: string[]): Promise<void> {
  return transaction(product.ctx, 'test.note', async (tx) => {
    for (const note of notes)
      await record(tx, seen, { subject: { type: 'test', id: 1 }, organizationId: null, data: { note } });
  });
}

async function lastId(): Promise<number> {
  const [row] = await sql<{ id: number }>(product, 'select coalesce(max(id), 0)::int as id from journal');
  return row?.id ?? 0;
}

async function listeners(): Promise<number> {
  const [row] = await sql<{ n: number }>(
    product,
    `select count(*)::int as n from pg_locks where locktype = 'advisory' and classid = 741105
       and database = (select oid from pg_database where datname = current_database())`,
  );
  return row?.n ?? 0;
}

describe('who follows the journal', () => {
  it('gets what is there and then each entry as it is committed, until it has enough', async () => {
    await expect.poll(listeners).toBe(1); // the product's own, for webhooks
    const start = await lastId();
    await write('before');
    const stop = new AbortController();
    const got: unknown[] = [];
    const following = (async () => {
      for await (const page of followJournal(ctx, start, stop.signal, never))
        got.push(...page.map(({ data }) => data.note));
    })();
    await expect.poll(() => got).toEqual(['before']);
    await write('one', 'two');
    await expect.poll(() => got, { timeout: 2_000 }).toEqual(['before', 'one', 'two']);
    await write('three');
    await expect.poll(() => got, { timeout: 2_000 }).toEqual(['before', 'one', 'two', 'three']);
    expect(await listeners()).toBe(2);
    stop.abort();
    await following;
    await expect.poll(listeners).toBe(1);
  });

  it('gets nothing more once it has enough, also of what was being read then', async () => {
    const start = await lastId();
    await write('too late');
    const stop = new AbortController();
    const many: Database['many'] = async (...asked) => {
      const rows = await ctx.db.many(...asked);
      stop.abort();
      return rows;
    };
    const db = new Proxy(ctx.db, {
      get: (target, name) => (name === 'many' ? many : Reflect.get(target, name, target)),
    });
    const pages = followJournal({ ...ctx, db }, start, stop.signal, never);
    expect(await pages.next()).toEqual({ done: true, value: undefined });
  });

  it('finds by looking what no message tells of', async () => {
    const start = await lastId();
    const stop = new AbortController();
    const pages = followJournal(ctx, start, stop.signal, { pollMs: 50 });
    const first = pages.next();
    await pause(200);
    await sql(
      product,
      `insert into journal (action, subject_type, subject_id, actor_type, data, created_at)
       values ('test.seen', 'test', 7, 'system', '{}', now())`,
    );
    const { value } = await first;
    expect(value).toMatchObject([
      { event: 'test.seen', subject: { type: 'test', id: 7 }, organizationId: null },
    ]);
    stop.abort();
    expect(await pages.next()).toEqual({ done: true, value: undefined });
  });
});

it('what another process records is told within a moment', { timeout: 120_000 }, async () => {
  const database = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'innkeeper-follow-'));
  const env = { DATABASE_URL: database.url, HYPERVISOR: 'simulator' };
  const child = await startChild(dataDir, env);
  const other = { ...ctx, db: connect(database.url, { log: ctx.log }) };
  const stop = new AbortController();
  let entries = 0;
  const following = (async () => {
    for await (const page of followJournal(other, 0, stop.signal, never)) entries += page.length;
  })();
  await expect.poll(() => entries, { timeout: 20_000 }).toBeGreaterThan(0); // the demonstration company's
  const { api_key: token } = child.demo.customer;
  const found = async () => {
    await settled({ databaseUrl: database.url });
    const before = entries;
    const answer = await apiClient(`${child.url}/api`, { token }).post(path, { name: 'One more' });
    expect(answer.status).toBe(200);
    for (let waited = 0; waited < 10 && entries === before; waited += 1) await pause(50);
    return entries > before;
  };
  // The other process notices within five seconds that somebody listens.
  await expect.poll(found, { timeout: 30_000, interval: 500 }).toBe(true);
  expect([await found(), await found()]).toEqual([true, true]);
  stop.abort();
  await following;
  await child.end('SIGTERM');
  await other.db.close();
  await database.drop();
  await removeDataDir(dataDir);
});
