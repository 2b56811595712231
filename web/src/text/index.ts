import i18next from 'i18next';
import { initReactI18next, useTranslation } from 'react-i18next';
import de from './de.json';
import en from './en.json';
import refusalsDe from './refusals/de.json';
import refusalsEn from './refusals/en.json';

export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof en & { refusal: typeof refusalsEn } };
  }
}

/** Before somebody has signed in: the language that they chose here, else the browser's. */
const remembered = 'innkeeper.language';

void i18next.use(initReactI18next).init({
  resources: {
    en: { translation: { ...en, refusal: refusalsEn } },
    de: { translation: { ...de, refusal: refusalsDe } },
  },
  lng: languageOf(localStorage.getItem(remembered) ?? navigator.language),
  fallbackLng: 'en',
  initAsync: false,
  interpolation: { escapeValue: false },
});
document.documentElement.lang = i18next.language;

export function languageOf(wanted: string): Language {
  return wanted.toLowerCase().startsWith('de') ? 'de' : 'en';
}

export function setLanguage(language: Language): void {
  localStorage.setItem(remembered, language);
  document.documentElement.lang = language;
  void i18next.changeLanguage(language);
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
