import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDomain, wrongWithDomain } from './hostname.ts';

const alphanumeric = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'];
const inner = fc.string({ unit: fc.constantFrom(...alphanumeric, '-'), maxLength: 61 });
const end = fc.constantFrom(...alphanumeric);
const label = fc.oneof(
  end,
  fc.tuple(end, inner, end).map((parts) => parts.join('')),
);
const domain = fc
  .array(label, { minLength: 1, maxLength: 6 })
  .map((labels) => labels.join('.'))
  .filter((text) => text.length <= 253);

describe('a domain', () => {
  it('is any run of sound labels, 253 characters at most', () => {
    fc.assert(fc.property(domain, (text) => isDomain(text, { atLeast: 1 })));
  });

  it('has letters, digits, hyphens and dots only', () => {
    const other = fc
      .string({ minLength: 1, maxLength: 1, unit: 'binary' })
      .filter((c) => !/[A-Za-z0-9.-]/.test(c));
    fc.assert(
      fc.property(domain, other, fc.nat(), (text, wrong, at) => {
        const position = at % (text.length + 1);
        return !isDomain(text.slice(0, position) + wrong + text.slice(position), { atLeast: 1 });
      }),
    );
  });

  it('does not start or end with a dot, and has no two in a row', () => {
    fc.assert(
      fc.property(domain, domain, (a, b) =>
        [`.${a}`, `${a}.`, `${a}..${b}`].every((text) => !isDomain(text, { atLeast: 1 })),
      ),
    );
  });

  it.each([
    ['a label of 63 characters', `${'a'.repeat(63)}.example`, true],
    ['a label of 64 characters', `${'a'.repeat(64)}.example`, false],
    ['253 characters', `${'a.'.repeat(126)}a`, true],
    ['254 characters', `${'a.'.repeat(126)}aa`, false],
    ['a hyphen at the start of a label', 'a.-b.example', false],
    ['a hyphen at the end of a label', 'a-.example', false],
    ['two hyphens inside', 'xn--bcher-kva.example', true],
    ['nothing', '', false],
    ['a line break at the end', 'example.com\n', false],
    ['an underscore', 'a_b.example', false],
  ])('with %s: %#', (_, text, expected) => {
    expect(isDomain(text, { atLeast: 1 })).toBe(expected);
  });

  it.each([
    ['a_b.example', 'letters, digits, hyphens and dots'],
    ['', 'letters, digits, hyphens and dots'],
    ['.example.com', 'begin or end with a dot'],
    ['example..com', 'two dots in a row'],
    ['-web.example.com', 'hyphen at its beginning'],
    ['web.example-.com', 'beside a dot'],
    [`${'a'.repeat(64)}.example`, 'at most 63 characters between two dots'],
    [`${'a.'.repeat(126)}aa`, 'at most 253 characters'],
    ['localhost', 'must have an ending'],
  ])('%s is refused with what is wrong with it', (text, words) => {
    expect(wrongWithDomain(text, { atLeast: 2 })).toContain(words);
  });

  it('of a domain order has two labels', () => {
    expect(isDomain('localhost', { atLeast: 2 })).toBe(false);
    expect(isDomain('example.com', { atLeast: 2 })).toBe(true);
  });
});
