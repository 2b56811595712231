// A list of ISO, and no rule of ours: the one thing of the product that pages take without asking the API.
import { countryCodes } from '../../../src/platform/countries.ts';
import type { Language } from './index.ts';

/** Every country by its name in the language, in the order of that language. */
export function countries(language: Language): { value: string; label: string }[] {
  const names = new Intl.DisplayNames(language, { type: 'region' });
  return countryCodes
    .map((value) => ({ value, label: names.of(value) ?? value }))
    .sort((one, other) => one.label.localeCompare(other.label, language));
}
