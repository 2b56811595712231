import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plain, plainLines } from './plain.ts';

describe('text of strangers', () => {
  it.each([
    ['Ada  Lovelace', 'Ada Lovelace'],
    ['a\u0000b\u0007c\u001b[31m', 'abc[31m'],
    ['\u202eevil\u202c.pdf', 'evil.pdf'],
    ['zero\u200bwidth\ufeff', 'zerowidth'],
    ['e\u0301', 'é'],
    [`a${'\u0301\u0302\u0303\u0304\u0305'.repeat(50)}b`, 'á\u0302\u0303b'],
    ['one\r\ntwo\u2028three', 'one two three'],
    ['\ud800 half', '\ufffd half'],
    ['Ελληνικά, кириллица', 'Ελληνικά, кириллица'],
  ])('%j becomes %j', (text, expected) => {
    expect(plain(text)).toBe(expected);
  });

  it('keeps its lines, and no empty ones', () => {
    expect(plainLines('Street 1\n\n  \r\nHouse B\n')).toEqual(['Street 1', 'House B']);
  });

  it('has nothing left that is not seen, and is the same the second time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const once = plain(text);
        expect(once).not.toMatch(/[\p{Cc}\p{Cf}\p{Co}]/u);
        expect(once.isWellFormed()).toBe(true);
        expect(plain(once)).toBe(once);
      }),
    );
  });
});
