import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../config.ts';
import { type Dictionary, makeDictionary } from './dictionary.ts';
import { allTexts, type Language, languages, variablesIn } from './texts.ts';

type Words = Record<string, Record<string, Record<string, string>>>;

const opened = new Map<string | null, Dictionary>();

/**
 * The dictionary with the words of the provider's folder, read once a process. It holds `en.json` and `de.json`, of the shape
 * `{ "account": { "keyMade": { "subject": "…" } } }`, with only what is to be other than ours; other files in it are not looked at. Throws
 * {@link ConfigError} naming the text that is wrong.
 */
export function openDictionary(folder: string | null): Dictionary {
  const known = opened.get(folder);
  if (known) return known;
  const resources = Object.fromEntries(
    languages.map((language) => [
      language,
      mixed(language, folder === null ? {} : ownWords(folder, language)),
    ]),
  );
  const made = makeDictionary(resources);
  opened.set(folder, made);
  return made;
}

function mixed(language: Language, own: Words): Words {
  const rooms = [...allTexts()].map(([room, inLanguages]) => {
    const groups = Object.entries(inLanguages[language]).map(([group, ours]) => [
      group,
      { ...ours, ...own[room]?.[group] },
    ]);
    return [room, Object.fromEntries(groups)];
  });
  return Object.fromEntries(rooms);
}

function ownWords(folder: string, language: Language): Words {
  const name = `${language}.json`;
  if (!filesOf(folder).includes(name)) return {};
  const file = join(folder, name);
  const words = parse(file);
  for (const [room, groups] of entriesOf(file, words, '')) {
    const ours = allTexts().get(room)?.en;
    if (ours === undefined) refuse(file, room, `is none of ${[...allTexts().keys()].join(', ')}`);
    for (const [group, texts] of entriesOf(file, groups, room)) {
      for (const [key, text] of entriesOf(file, texts, `${room}.${group}`))
        checkText(file, `${room}.${group}.${key}`, text, ours?.[group]?.[key]);
    }
  }
  return words as Words;
}

function checkText(file: string, key: string, text: unknown, ours: string | undefined): undefined {
  if (typeof ours !== 'string') return refuse(file, key, 'is no text of this version');
  if (typeof text !== 'string' || text.trim() === '') return refuse(file, key, 'has to be a text');
  const given = variablesIn(ours);
  const strange = [...variablesIn(text)].filter((name) => !given.has(name));
  const may = given.size === 0 ? 'it takes none' : `it takes ${[...given].join(', ')}`;
  if (strange.length > 0) refuse(file, key, `uses {{${strange.join('}}, {{')}}}; ${may}`);
}

/** The names of the files in a provider's folder. */
export function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw new ConfigError(`TEXTS_DIR ${folder} cannot be read: ${(error as Error).message}`);
  }
}

function parse(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ConfigError(`TEXTS_DIR: ${file} is no JSON: ${(error as Error).message}`);
  }
}

function entriesOf(file: string, value: unknown, key: string): [string, unknown][] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return Object.entries(value);
  return refuse(file, key || 'the file', 'has to be an object');
}

function refuse(file: string, key: string, what: string): never {
  throw new ConfigError(`TEXTS_DIR: ${file}: ${key} ${what}`);
}
