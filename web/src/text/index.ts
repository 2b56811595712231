import i18next from 'i18next';
import { initReactI18next, useTranslation } from 'react-i18next';
import type en from './en.json';
import type refusals from './refusals/en.json';
import type staff from './staff/staff.en.json';

export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof en & typeof staff & { refusal: typeof refusals } };
  }
}

/** A file for each language: nobody loads the words of another one. */
const words: Record<Language, () => Promise<readonly [{ default: object }, { default: object }]>> = {
  en: () => Promise.all([import('./en.json'), import('./refusals/en.json')]),
  de: () => Promise.all([import('./de.json'), import('./refusals/de.json')]),
};

/** What only the provider's people read; loaded when one of their pages is opened. */
const staffWords: Record<Language, () => Promise<{ default: object }>> = {
  en: () => import('./staff/staff.en.json'),
  de: () => import('./staff/staff.de.json'),
};
let isForStaff = false;

/** Before somebody has signed in: the language that they chose here, else the browser's. */
const remembered = 'innkeeper.language';

/** Loads the words of whoever looks, before anything is painted. */
export async function openTexts(): Promise<void> {
  await i18next.use(initReactI18next).init({
    resources: {},
    lng: languageOf(localStorage.getItem(remembered) ?? navigator.language),
    fallbackLng: false,
    interpolation: { escapeValue: false },
  });
  await speak(languageOf(i18next.language));
}

/** Whether there are words for something that the API names. */
export function isText(key: string): boolean {
  return i18next.exists(key);
}

/** What the provider offers, the one first that whoever speaks none of them gets. */
let offered: readonly Language[] = Object.keys(languages) as Language[];

/** From the brand: whoever reads another language goes on in the first one. */
export function offer(next: readonly Language[]): void {
  offered = next;
  const language = languageOf(i18next.language);
  if (language !== i18next.language) void speak(language);
}

export function languageOf(wanted: string): Language {
  const said = offered.find((each) => wanted.toLowerCase().startsWith(each));
  return said ?? offered[0] ?? 'en';
}

export function setLanguage(language: Language): void {
  localStorage.setItem(remembered, language);
  if (language !== languageOf(i18next.language)) void speak(language);
}

async function speak(language: Language): Promise<void> {
  const [{ default: texts }, { default: refusal }] = await words[language]();
  i18next.addResourceBundle(language, 'translation', { ...texts, refusal });
  if (isForStaff) await addStaffWords(language);
  // Somebody may have chosen another one meanwhile.
  const wanted = localStorage.getItem(remembered) ?? language;
  if (languageOf(wanted) !== language) return;
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
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

export function useText() {
  const { t, i18n } = useTranslation();
  return { t, language: languageOf(i18n.language) };
}

/** The name of the text for a permission: texts have no dots in their names. */
export function permissionKey<Name extends string>(name: Name) {
  type Underlined = Name extends `${infer Of}.${infer What}` ? `${Of}_${What}` : Name;
  return name.replace('.', '_') as Underlined;
}
