import { Type } from 'typebox';

/** How people name a language. There need not be texts in it. */
export const LanguageCode = Type.String({
  pattern: '^[a-z]{2}$',
  'x-message': 'must be a language in two small letters, such as de',
});
