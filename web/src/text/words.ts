export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

interface Words {
  texts: object;
  refusal: object;
}

/** A file for each language: nobody loads the words of another one. */
const words: Record<Language, () => Promise<Words>> = {
  en: () => import('./en.ts'),
  de: () => import('./de.ts'),
};

export const loadWords = (language: Language): Promise<Words> => words[language]();

/** Before somebody has signed in: the language that they chose here, else the browser's. */
export const remembered = 'innkeeper.language';

/** What the provider offers, the one first that whoever speaks none of them gets. */
let offered: readonly Language[] = Object.keys(languages) as Language[];

export function setOffered(next: readonly Language[]): void {
  offered = next;
}

export function languageOf(wanted: string): Language {
  const said = offered.find((each) => wanted.toLowerCase().startsWith(each));
  return said ?? offered[0] ?? 'en';
}

/** What is spoken until the account has been read. */
export const spokenFirst = (): Language => languageOf(localStorage.getItem(remembered) ?? navigator.language);
