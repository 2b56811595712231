/** Every way to be refused has a sentence in every language. */
import { expect, it } from 'vitest';
import '../src/api.ts';
import { errorCodes, faceOf } from '../src/platform/errors.ts';
import usual from './src/text/refusals/api.json' with { type: 'json' };
import de from './src/text/refusals/de.json' with { type: 'json' };
import en from './src/text/refusals/en.json' with { type: 'json' };

/** Without those that tests declare: other files ran in this process before. */
const codes = errorCodes()
  .filter((code) => !code.startsWith('demo_'))
  .sort();
const texts = { en, de } as Record<string, Record<string, string>>;

it.each(Object.keys(texts))(
  'has a sentence for each code in %s, and none for what is no code',
  (language) => {
    const said = texts[language] ?? {};
    expect(Object.keys(said).sort()).toEqual(codes);
    for (const [code, text] of Object.entries(said))
      expect([code, text]).toEqual([code, expect.stringMatching(/^\p{Lu}.*[.]$/u)]);
  },
);

it('knows what the API says of every case of a code, so that what is beyond it is shown too', () => {
  expect(usual).toEqual(Object.fromEntries(codes.map((code) => [code, faceOf(code).message])));
});
