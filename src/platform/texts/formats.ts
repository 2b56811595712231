import { currencyDigits } from '../money.ts';
import type { Language, Reader } from './texts.ts';

const locales: Record<Language, string> = { en: 'en-GB', de: 'de-DE' };

/** An amount of the wire as its reader writes it: `12.50` of EUR is `€12.50`, or `12,50 €`. */
export function moneyFor({ language }: Pick<Reader, 'language'>, amount: string, currency: string): string {
  const digits = currencyDigits(currency);
  const style = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const format = new Intl.NumberFormat(locales[language], { style: 'currency', currency, ...style });
  return format.format(amount as `${number}`); // as text, so that no cent of a large one is lost
}

/** A day of the calendar: `2026-02-01` is `1 February 2026`, or `1. Februar 2026`. */
export function dayFor({ language }: Pick<Reader, 'language'>, day: string): string {
  const format = new Intl.DateTimeFormat(locales[language], { dateStyle: 'long', timeZone: 'UTC' });
  return format.format(new Date(`${day.slice(0, 10)}T00:00:00Z`));
}

/** A moment as its reader's clock shows it: `1 February 2026, 09:30 (Europe/Vienna)`. */
export function momentFor({ language, timezone }: Pick<Reader, 'language' | 'timezone'>, at: string): string {
  const style = { dateStyle: 'long', timeStyle: 'short', hourCycle: 'h23', timeZone: timezone } as const;
  const text = new Intl.DateTimeFormat(locales[language], style).format(new Date(at));
  return `${text.replace(/ (at|um) /, ', ')} (${timezone})`;
}
