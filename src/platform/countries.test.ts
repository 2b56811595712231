import { expect, it } from 'vitest';
import { isCountry } from './countries.ts';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const pairs = [...letters].flatMap((first) => [...letters].map((second) => first + second));

it('knows every country that the runtime has a name for, and nothing else', () => {
  // Reserved codes that the runtime names too: islands, unions, and those that stand in for no country.
  const reserved = 'AC CP CQ DG EA EU EZ IC QO TA UN XA XB XK ZZ'.split(' ');
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  // A code that went has the name of its successor (`UK` of `GB`), which has a code of its own.
  const isAlias = (code: string) => new Intl.Locale(`und-${code}`).region !== code;
  const canonical = (code: string) => Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`;
  const named = pairs.filter(
    (code) => names.of(code) !== undefined && canonical(code) && !isAlias(code) && !reserved.includes(code),
  );
  expect(pairs.filter(isCountry)).toEqual(named);
  expect(named).toHaveLength(249);
});

it.each(['', 'de', 'DEU', 'UK', 'EL', 'XX', 'EU', '\u00c4T'])('takes %s for none', (code) => {
  expect(isCountry(code)).toBe(false);
});
