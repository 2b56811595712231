import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDomain } from './domain.ts';
import { isStrongPassword } from './password.ts';

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

  it('of a domain order has two labels', () => {
    expect(isDomain('localhost', { atLeast: 2 })).toBe(false);
    expect(isDomain('example.com', { atLeast: 2 })).toBe(true);
  });
});

describe('a machine password', () => {
  const classes = {
    lower: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzäß'),
    upper: fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZÄ'),
    digit: fc.constantFrom(...'0123456789'),
    special: fc.constantFrom(...' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~€'),
  };
  const names = Object.keys(classes) as (keyof typeof classes)[];

  /** Texts in which exactly these classes occur. */
  const of = (chosen: (keyof typeof classes)[], length: { minLength: number; maxLength: number }) =>
    fc
      .tuple(
        fc.tuple(...chosen.map((name) => classes[name])),
        fc.array(fc.oneof(...chosen.map((name) => classes[name])), length),
      )
      .map(([each, more]) => [...more, ...each].join(''));

  it('is strong with three of the four classes and eight characters', () => {
    const strong = fc
      .subarray(names, { minLength: 3 })
      .chain((chosen) => of(chosen, { minLength: 5, maxLength: 40 }));
    fc.assert(fc.property(strong, isStrongPassword));
  });

  it('is weak with two classes, however long', () => {
    const weak = fc
      .subarray(names, { minLength: 1, maxLength: 2 })
      .chain((chosen) => of(chosen, { minLength: 8, maxLength: 60 }));
    fc.assert(fc.property(weak, (password) => !isStrongPassword(password)));
  });

  it('is weak below eight characters, whatever is in it', () => {
    const short = of(names, { minLength: 0, maxLength: 3 });
    fc.assert(fc.property(short, (password) => !isStrongPassword(password)));
    expect(isStrongPassword('Aa1!567')).toBe(false);
    expect(isStrongPassword('Aa1!5678')).toBe(true);
    // Eight characters are not eight code units.
    expect(isStrongPassword('Aa1😀😀😀')).toBe(false);
  });

  it.each(['Good-Pass\n1', 'Good-Pass\u0000', 'Good-Pass\u007f1'])(
    'is made of what can be typed: %j',
    (text) => {
      expect(isStrongPassword(text)).toBe(false);
    },
  );
});
