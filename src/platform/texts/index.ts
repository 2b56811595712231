/**
 * The dictionary: what the product says to people, by language. Each room keeps its texts beside itself, in `texts/`, and
 * says them with the function that `texts` makes; a provider's own words are put over them.
 */
export type { Dictionary } from './dictionary.ts';
export { dayFor, momentFor, moneyFor } from './formats.ts';
export { filesOf, openDictionary } from './ownWords.ts';
export {
  acceptedLanguage,
  allTexts,
  type Language,
  languageOf,
  languages,
  type Reader,
  type RoomTexts,
  type Say,
  type Translation,
  texts,
  variablesIn,
} from './texts.ts';
