import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellOf, csv } from './csv.ts';

async function* give<T>(...rows: T[]) {
  yield* rows;
}

/** With the mark at its beginning, which reading as text would take away. */
const bytesOf = async (body: unknown) => (await buffer(body as Readable)).toString('latin1');
const mark = Buffer.from('\ufeff').toString('latin1');

describe('a cell', () => {
  it.each([
    '-1.50',
    '-7',
    '0',
    '1234.00',
    'web1.example.com',
    '2026-000123',
    '',
    'a=1',
    'Müller & Söhne',
    'a-b',
  ])('stays as it is: %j', (value) => {
    expect(cellOf(value)).toBe(value);
  });

  it.each([
    ...['=1+1', '+1', '-1+1', '-', '--1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', ' =1', '\u00a0=1', '\u200b=1'],
    ...[
      '＝1',
      '＋1',
      '－1',
      '＠a',
      '|calc',
      '%0',
      '-1.5.0',
      '-1e5',
      "=cmd|' /C calc'!A0",
      '\0=1',
      '\ufeff=1',
      '\t',
      '\r',
    ],
  ])('that would begin a formula begins with an apostrophe: %j', (value) => {
    expect(cellOf(value)).toMatch(/^'/);
  });

  it('never begins with what a spreadsheet takes for a formula, but for plain numbers', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'=+-@\t\r\n 1.a,;"\u200b\0＝') }), (value) => {
        const cell = cellOf(value);
        if (/^-?\d+(\.\d+)?$/.test(cell)) return;
        expect(cell.trimStart()).not.toMatch(/^[=+\-@]/);
      }),
    );
  });
});

describe('a table', () => {
  it('says what is in each column, quotes texts, and ends lines as RFC 4180 has it', async () => {
    const columns = {
      name: (row: { name: string; amount: string | null }) => row.name,
      amount: (row: { amount: string | null }) => row.amount,
    };
    const rows = give({ name: 'a "b", c\nd;=1', amount: '-1.50' }, { name: '=1', amount: null });
    const { body, name, type } = csv('a.csv', columns, rows);
    expect([name, type]).toEqual(['a.csv', 'text/csv; charset=utf-8']);
    expect(await bytesOf(body)).toBe(`${mark}"name","amount"\r\n"a ""b"", c\nd;=1","-1.50"\r\n"'=1",""\r\n`);
  });

  it('of nothing has its headings', async () => {
    const { body } = csv('a.csv', { name: () => '' }, give());
    expect(await bytesOf(body)).toBe(`${mark}"name"\r\n`);
  });

  it('that breaks off is an error for who reads it', async () => {
    const breaking = (async function* () {
      yield 1;
      throw new Error('the database went away');
    })();
    const { body } = csv('a.csv', { n: (row: number) => row }, breaking);
    await expect(buffer(body as Readable)).rejects.toThrow('the database went away');
  });
});
