import i18next from 'i18next';
import { useSyncExternalStore } from 'react';
import type en from './en.json';
import type refusals from './refusals/en.json';
import type staff from './staff/staff.en.json';
import {
  type Language,
  languageOf,
  languages,
  loadWords,
  remembered,
  setOffered,
  spokenFirst,
} from './words.ts';

export { type Language, languageOf, languages };

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof en & typeof staff & { refusal: typeof refusals } };
  }
}

/** What only the provider's people read; loaded when one of their pages is opened. */
const staffWords: Record<Language, () => Promise<{ default: object }>> = {
  en: () => import('./staff/staff.en.json'),
  de: () => import('./staff/staff.de.json'),
};
let isForStaff = false;

/** Loads the words of whoever looks, before anything is painted. */
export async function openTexts(): Promise<void> {
  await open(spokenFirst());
  await speak(languageOf(i18next.language));
}

async function open(language: Language): Promise<void> {
  i18next.on('languageChanged', sayAnew);
  await i18next.init({
    resources: {},
    lng: language,
    fallbackLng: false,
    interpolation: { escapeValue: false },
  });
}

/** Where one page is drawn after another for different readers: all that is drawn from now on is in this language. */
export async function speakFor(language: Language): Promise<void> {
  if (!i18next.isInitialized) await open(language);
  if (!i18next.hasResourceBundle(language, 'translation')) {
    const { texts, refusal } = await loadWords(language);
    i18next.addResourceBundle(language, 'translation', { ...texts, refusal });
  }
  await i18next.changeLanguage(language);
}

/** Whether there are words for something that the API names. */
export function isText(key: string): boolean {
  return i18next.exists(key);
}

/** From the brand: whoever reads another language goes on in the first one. */
export function offer(next: readonly Language[]): void {
  setOffered(next);
  const language = languageOf(i18next.language);
  if (language !== i18next.language) void speak(language);
}

export function setLanguage(language: Language): void {
  localStorage.setItem(remembered, language);
  if (language !== languageOf(i18next.language)) void speak(language);
}

async function speak(language: Language): Promise<void> {
  const { texts, refusal } = await wordsOf(language);
  i18next.addResourceBundle(language, 'translation', { ...texts, refusal });
  if (isForStaff) await addStaffWords(language);
  // Somebody may have chosen another one meanwhile.
  const wanted = localStorage.getItem(remembered) ?? language;
  if (languageOf(wanted) !== language) return;
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
}

/** Without words nothing can be shown, not even that they could not be had: where nobody answers they are asked for again. */
async function wordsOf(language: Language): ReturnType<typeof loadWords> {
  for (const waitMs of [500, 1_000, 2_000, 4_000, 8_000]) {
    try {
      return await loadWords(language);
    } catch {
      await new Promise((go) => setTimeout(go, waitMs));
    }
  }
  return loadWords(language);
}

async function addStaffWords(language: Language): Promise<void> {
  const { default: texts } = await staffWords[language]();
  i18next.addResourceBundle(language, 'translation', texts, true, true);
}

/** Loads the words of the provider's pages, before one of them is painted. */
export async function openStaffTexts(): Promise<void> {
  if (isForStaff) return;
  await addStaffWords(languageOf(i18next.language));
  // Only now: what could not be loaded is asked for again.
  isForStaff = true;
  // Another language may have been chosen meanwhile.
  await addStaffWords(languageOf(i18next.language));
}

interface Spoken {
  t: typeof i18next.t;
  language: Language;
}

let spoken: Spoken | null = null;
const listeners = new Set<() => void>();

/** What is spoken by now is another one. */
function sayAnew(): void {
  spoken = null;
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function nowSpoken(): Spoken {
  // Another function each time: whoever remembers what it made of one makes it anew.
  spoken ??= { t: remembering(i18next.getFixedT(i18next.language)), language: languageOf(i18next.language) };
  return spoken;
}

/** What has no gaps to be filled is looked up once: a list says the same words in each of its rows. */
function remembering(typed: typeof i18next.t): typeof i18next.t {
  // Its types name four thousand keys; what is remembered is the same for each.
  const say = typed as unknown as (key: string, gaps?: object) => string;
  const said = new Map<string, string>();
  const t = (key: string, gaps?: object) => {
    const before = gaps === undefined ? said.get(key) : undefined;
    if (before !== undefined) return before;
    const now = say(key, gaps);
    // The words of staff's pages come later than the first page.
    if (gaps === undefined && now !== key) said.set(key, now);
    return now;
  };
  return t as unknown as typeof i18next.t;
}

/** The words of the language that is spoken. A row of a list asks for them several times: it is no more than a look. */
export function useText(): Spoken {
  return useSyncExternalStore(listen, nowSpoken, nowSpoken);
}

/** The name of the text for a permission: texts have no dots in their names. */
export function permissionKey<Name extends string>(name: Name) {
  type Underlined = Name extends `${infer Of}.${infer What}` ? `${Of}_${What}` : Name;
  return name.replace('.', '_') as Underlined;
}
