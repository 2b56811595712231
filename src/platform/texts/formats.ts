import { currencyDigits } from '../money.ts';
import type { Language, Reader } from './texts.ts';

const locales: Record<Language, string> = { en: 'en-GB', de: 'de-DE' };

/** To make a format costs a hundred times what using one does, and each mail and each document has many. */
const mostKept = 1_000;

/** What `make` makes of its arguments, made once for each. */
function kept<Of extends readonly string[], Format>(make: (...of: Of) => Format): (...of: Of) => Format {
  const made = new Map<string, Format>();
  return (...of) => {
    const key = of.join(' ');
    const known = made.get(key);
    if (known !== undefined) return known;
    if (made.size >= mostKept) made.clear();
    const format = make(...of);
    made.set(key, format);
    return format;
  };
}

const moneyFormat = kept((language: Language, currency: string) => {
  const digits = currencyDigits(currency);
  const style = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat(locales[language], { style: 'currency', currency, ...style });
});
const dayFormat = kept(
  (language: Language) => new Intl.DateTimeFormat(locales[language], { dateStyle: 'long', timeZone: 'UTC' }),
);
const momentFormat = kept((language: Language, timeZone: string) => {
  const style = { dateStyle: 'long', timeStyle: 'short', hourCycle: 'h23', timeZone } as const;
  return new Intl.DateTimeFormat(locales[language], style);
});

/** An amount of the wire as its reader writes it: `12.50` of EUR is `€12.50`, or `12,50 €`. */
export function moneyFor({ language }: Pick<Reader, 'language'>, amount: string, currency: string): string {
  return moneyFormat(language, currency).format(amount as `${number}`); // as text, so that no cent of a large one is lost
}

/** A day of the calendar: `2026-02-01` is `1 February 2026`, or `1. Februar 2026`. */
export function dayFor({ language }: Pick<Reader, 'language'>, day: string): string {
  return dayFormat(language).format(new Date(`${day.slice(0, 10)}T00:00:00Z`));
}

/** A moment as its reader's clock shows it: `1 February 2026, 09:30 (Europe/Vienna)`. */
export function momentFor({ language, timezone }: Pick<Reader, 'language' | 'timezone'>, at: string): string {
  const text = momentFormat(language, timezone).format(new Date(at));
  return `${text.replace(/ (at|um) /, ', ')} (${timezone})`;
}
