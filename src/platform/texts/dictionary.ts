import { createInstance, type i18n } from 'i18next';

/** All texts of the product in all languages, with what a provider says in other words. */
export type Dictionary = i18n;

type Resources = Record<string, Record<string, Record<string, Record<string, string>>>>;

/** Makes a dictionary of texts by language, room, group and name. */
export function makeDictionary(resources: Resources): Dictionary {
  const dictionary = createInstance();
  void dictionary.init({
    resources,
    fallbackLng: false,
    initAsync: false,
    // Whoever renders a text escapes it: what is right in HTML is wrong in a subject.
    interpolation: { escapeValue: false, skipOnVariables: true },
    returnNull: false,
    parseMissingKeyHandler: (key) => {
      throw new Error(`there is no text ${key}`);
    },
    missingInterpolationHandler: (_text, match) => {
      throw new Error(`nothing is given for ${match[0]}`);
    },
  });
  return dictionary;
}

/** What people write may not begin a line of its own, nor turn the text around it. */
const unwanted = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

/** One text. Variables are put in as they are, but on one line; nothing in them is looked up again. */
export function translate(
  dictionary: Dictionary,
  language: string,
  room: string,
  key: string,
  variables: Record<string, string | number>,
): string {
  const given = Object.entries(variables).map(([name, value]) => [
    name,
    String(value).replace(unwanted, ' ').trim(),
  ]);
  return dictionary.t(key, {
    lng: language,
    ns: room,
    replace: Object.fromEntries(given),
    nest: false, // `$t(…)` in a name is only that
  });
}
