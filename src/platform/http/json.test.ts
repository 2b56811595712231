import fc from 'fast-check';
import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { AppError } from '../errors.ts';
import { readJson } from './json.ts';
import { decodeCursor, encodeCursor, listData } from './lists.ts';
import { kindsOf, readQuery } from './parameters.ts';
import type { Problem } from './problem.ts';
import { Strict } from './schema.ts';

function attempt<T>(work: () => T): { value: T } | { code: string } {
  try {
    return { value: work() };
  } catch (error) {
    if (error instanceof AppError) return { code: error.code };
    if (error instanceof SyntaxError) return { code: 'invalid_json' };
    throw error;
  }
}

const read = (text: string) => attempt(() => readJson(Buffer.from(text)));

describe('the JSON reader', () => {
  it('reads every value that it does not refuse as JSON.parse does', () => {
    const values = fc.jsonValue({ maxDepth: 6 });
    fc.assert(
      fc.property(values, (value) => {
        const text = JSON.stringify(value);
        const result = read(text);
        if ('code' in result) expect(result.code).toBe('invalid_request');
        else expect(result.value).toEqual(JSON.parse(text));
      }),
    );
  });

  it('refuses every text that JSON.parse refuses, and reads none differently', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '"a"',
      '"b":',
      '1',
      '-',
      '.5',
      'e9',
      'null',
      'true',
      ' ',
      '\\u0061',
      '\n',
      '\u{1f600}',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        const result = read(text);
        const native = attempt(() => JSON.parse(text) as unknown);
        if ('code' in native) expect('code' in result).toBe(true);
        else if ('value' in result) expect(result.value).toEqual(native.value);
        else expect(['invalid_request', 'duplicate_key', 'nesting_too_deep']).toContain(result.code);
      }),
      { numRuns: 3_000 },
    );
  });

  it('refuses a key that stands twice in one object, however it is written, and nowhere else', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', '\\u0061', 'c:"', 'é'), { maxLength: 5 }), (names) => {
        const text = `{${names.map((name) => `"${name.replaceAll('"', '\\"')}":{"a":1}`).join(',')}}`;
        const distinct = new Set(names.map((name) => name.replace('\\u0061', 'a')));
        const result = read(text);
        if (distinct.size === names.length) expect(result).toEqual({ value: JSON.parse(text) });
        else expect(result).toEqual({ code: 'duplicate_key' });
      }),
    );
  });

  it('reads 32 levels and refuses 33', () => {
    expect(read('['.repeat(32) + ']'.repeat(32))).toHaveProperty('value');
    expect(read('['.repeat(33) + ']'.repeat(33))).toEqual({ code: 'nesting_too_deep' });
  });

  it('refuses bytes that are not UTF-8', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => {
        const result = attempt(() => readJson(bytes));
        if (Buffer.from(bytes).toString().includes('\uFFFD')) expect('code' in result).toBe(true);
      }),
    );
  });
});

describe('lists', () => {
  it('count pages so that the last one is neither empty nor missing', () => {
    fc.assert(
      fc.property(fc.nat(100_000), fc.integer({ min: 1, max: 100 }), (total, limit) => {
        const { pages } = listData('things', [], { total, page: 1, limit, nextCursor: null });
        expect(pages * limit).toBeGreaterThanOrEqual(total);
        expect((pages - 1) * limit).toBeLessThan(Math.max(total, 1));
      }),
    );
  });

  it('read back the cursors they made, and no others', () => {
    fc.assert(
      fc.property(fc.integer(), fc.string({ unit: 'grapheme' }), (id, text) => {
        const cursor = encodeCursor([id, text]);
        if (!text.includes('\u0000')) expect(decodeCursor(cursor, ['integer', 'text'])).toEqual([id, text]);
        expect(attempt(() => decodeCursor(cursor, ['text', 'integer']))).toEqual({ code: 'invalid_cursor' });
        expect(attempt(() => decodeCursor(`${cursor}=`, ['integer', 'text']))).toEqual({
          code: 'invalid_cursor',
        });
      }),
    );
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31'), noInvalidDate: true }),
        (at) => {
          const time = at.toISOString();
          for (const moment of [time, time.replace('Z', '789Z')]) {
            expect(decodeCursor(encodeCursor([moment]), ['time'])).toEqual([moment]);
          }
        },
      ),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        const result = attempt(() => decodeCursor(text, ['integer']));
        if ('value' in result) expect(encodeCursor(result.value)).toBe(text);
        else expect(result.code).toBe('invalid_cursor');
      }),
    );
  });
});

it('a cursor names a moment that there is', () => {
  for (const time of [
    '2026-02-30T00:00:00.000Z',
    '2025-02-29T00:00:00.000000Z',
    '2026-04-31T00:00:00.000Z',
    '2026-01-01T24:00:00.000Z',
    '2026-13-01T00:00:00.000Z',
    '0000-01-01T00:00:00.000Z',
    '2026-01-01T00:00:00Z',
  ]) {
    expect(attempt(() => decodeCursor(encodeCursor([time]), ['time']))).toEqual({ code: 'invalid_cursor' });
  }
});

it('a query comes back as it was written, and whatever else is sent makes a problem and no exception', () => {
  const kinds = kindsOf(Strict({ a: Type.Integer(), b: Type.String() }));
  fc.assert(
    fc.property(fc.nat(), fc.string({ unit: 'grapheme' }), (a, b) => {
      fc.pre(!b.includes('\u0000') && b.isWellFormed());
      const problems: Problem[] = [];
      expect(readQuery(`/x?a=${a}&b=${encodeURIComponent(b)}`, kinds, problems)).toEqual({ a, b });
      expect(problems).toEqual([]);
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => void readQuery(`/x?${text}`, kinds, [])));
});
