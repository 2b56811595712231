import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isStrongPassword } from './password.ts';

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
