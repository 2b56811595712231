import { type Dictionary, translate } from './dictionary.ts';

/** Languages that all texts are in. Another one is added here, and then the compiler asks every room for it. */
export const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];

/** Whoever reads a text: in which language, by which clock. */
export interface Reader {
  language: Language;
  /** As of the IANA: `Europe/Vienna`. */
  timezone: string;
  dictionary: Dictionary;
}

/** Texts of a room in one language: `{ keyMade: { subject: 'An API key was made', what: '… {{name}} …' } }`. */
export type RoomTexts = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The same texts in another language: each has to be there, and none beside them. */
export type Translation<En extends RoomTexts> = {
  readonly [Group in keyof En]: { readonly [Name in keyof En[Group]]: string };
};

type KeyOf<En extends RoomTexts> = {
  [Group in keyof En & string]: `${Group}.${keyof En[Group] & string}`;
}[keyof En & string];

type TextAt<En extends RoomTexts, Key> = Key extends `${infer Group}.${infer Name}`
  ? Group extends keyof En
    ? Name extends keyof En[Group]
      ? En[Group][Name]
      : never
    : never
  : never;

type VariablesOf<Text> = Text extends `${string}{{${infer Name}}}${infer Rest}`
  ? Name | VariablesOf<Rest>
  : never;

type Given<Text> = [VariablesOf<Text>] extends [never]
  ? []
  : [variables: Record<VariablesOf<Text>, string | number>];

/** Says a text of a room in its reader's language: `say(reader, 'keyMade.what', { name })`. */
export type Say<En extends RoomTexts> = <Key extends KeyOf<En>>(
  reader: Reader,
  key: Key,
  ...variables: Given<TextAt<En, Key>>
) => string;

const known = new Map<string, Record<Language, RoomTexts>>();

/**
 * Declares the texts of a room, once, in its `texts/index.ts`. What is typed by it: which texts there are, and which
 * variables each of them takes.
 */
export function texts<const En extends RoomTexts>(
  room: string,
  inLanguages: { en: En } & Record<Exclude<Language, 'en'>, Translation<En>>,
): Say<En> {
  if (known.has(room)) throw new Error(`two rooms have texts called ${room}`);
  known.set(room, inLanguages);
  return (reader, key, ...[variables]) =>
    translate(reader.dictionary, reader.language, room, key, variables ?? {});
}

/** The texts of every room, by its name. */
export function allTexts(): ReadonlyMap<string, Record<Language, RoomTexts>> {
  return known;
}

/** Names of the variables in a text: `{{name}}`. */
export function variablesIn(text: string): Set<string> {
  return new Set([...text.matchAll(/\{\{([^{}]*)\}\}/g)].map(([, name = '']) => name));
}

/**
 * The language of ours that a browser prefers by its header `Accept-Language` (RFC 9110, 12.5.4), such as
 * `de-AT, en;q=0.5`; null when it wants none of them.
 */
export function acceptedLanguage(header: string | undefined): Language | null {
  const wanted = (header ?? '')
    .slice(0, 1_000)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().toLowerCase().split(';');
      const weights = parameters.flatMap((each) => /^ *q=([01](?:\.\d{0,3})?) *$/.exec(each)?.[1] ?? []);
      return { short: tag.split('-', 1)[0], weight: Number(weights[0] ?? 1) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight);
  const known = wanted.flatMap(({ short }) => languages.filter((language) => language === short));
  return known[0] ?? null;
}

/** The language of whoever said which one they want: theirs where there are texts in it, otherwise English. */
export function languageOf(wanted: string | null | undefined): Language {
  const short = (wanted ?? '').slice(0, 2).toLowerCase();
  return languages.find((language) => language === short) ?? 'en';
}
