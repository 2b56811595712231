import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { sql } from '../../test/sql.ts';
import { transaction } from '../platform/index.ts';
import { event, readJournal, record } from './index.ts';

const noted = event<{ note: string }>('test.noted', 'a test wrote something down');

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

/** Records a note and keeps its transaction open for a while, or rolls it back at the end. */
async function write(note: string, options: { holdMs?: number; undo?: boolean } = {}): Promise<void> {
  const work = transaction(product.ctx, 'test.note', async (tx) => {
    await record(tx, noted, { subject: { type: 'test', id: 1 }, organizationId: null, data: { note } });
    await pause(options.holdMs ?? 0);
    if (options.undo) throw new Error('undone');
  });
  await work.catch((error: Error) => {
    if (error.message !== 'undone') throw error;
  });
}

async function lastId(): Promise<number> {
  const [row] = await sql<{ id: number }>(product, 'select coalesce(max(id), 0)::int as id from journal');
  return row?.id ?? 0;
}

function notesOf(entries: { data: Record<string, unknown> }[]): unknown[] {
  return entries.map(({ data }) => data.note);
}

it('an entry that commits after a later one is waited for', async () => {
  const start = await lastId();
  const slow = write('slow', { holdMs: 400 });
  await pause(100);
  await write('quick');
  expect(notesOf(await readJournal(product.ctx, start, 10))).toEqual(['slow', 'quick']);
  await slow;
});

it('one that was rolled back is passed over', async () => {
  const start = await lastId();
  await write('undone', { undo: true });
  await write('kept');
  expect(notesOf(await readJournal(product.ctx, start, 10))).toEqual(['kept']);
  expect(await readJournal(product.ctx, await lastId(), 10)).toEqual([]);
});

it('a reader beside many writers gets every entry once, in order', async () => {
  let cursor = await lastId();
  const expected: string[] = [];
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    for (let number = 0; number < 25; number += 1) {
      const undo = (writer + number) % 5 === 0;
      const note = `${writer}.${number}`;
      if (!undo) expected.push(note);
      await write(note, { holdMs: ((writer * 7 + number * 3) % 5) * 8, undo });
    }
  });
  let isWriting = true;
  const written = Promise.all(writers).then(() => {
    isWriting = false;
  });
  const read: { id: number; data: Record<string, unknown> }[] = [];
  for (;;) {
    const wasWriting = isWriting;
    const page = (await readJournal(product.ctx, cursor, 7)).filter(({ event: name }) => name === noted.name);
    cursor = page.at(-1)?.id ?? cursor;
    read.push(...page);
    if (page.length === 0 && !wasWriting) break;
  }
  await written;
  expect(notesOf(read).toSorted()).toEqual(expected.toSorted());
  expect(read.map(({ id }) => id)).toEqual(read.map(({ id }) => id).toSorted((a, b) => a - b));
});
