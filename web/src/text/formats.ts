import type { Language } from './index.ts';

const locales: Record<Language, string> = { en: 'en-GB', de: 'de-DE' };

/**
 * Formats by what they were made of. Making one takes a quarter of a millisecond and using it almost nothing: a list of
 * fifty rows that made its own for each would be drawn in twice the time.
 */
const made = new Map<string, unknown>();

function once<Options, Format>(
  Make: new (locale: string, options?: Options) => Format,
  language: Language,
  options: NoInfer<Options>,
): Format {
  const name = `${Make.name} ${language} ${JSON.stringify(options)}`;
  const before = made.get(name) as Format | undefined;
  if (before !== undefined) return before;
  const format = new Make(locales[language], options);
  made.set(name, format);
  return format;
}

/** The first one of a kind takes longer still: made while scripts are on their way, it is not waited for when they are there. */
export function makeFormats(language: Language): void {
  money('0.00', 'EUR', language);
  day('2026-01-01', language);
}

/** `12.50` and `EUR` as people write it; the digits are those of the API, whatever the currency. */
export function money(amount: string, currency: string | null, language: Language): string {
  if (currency === null) return amount;
  const digits = amount.split('.')[1]?.length ?? 0;
  const format = once(Intl.NumberFormat, language, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  // A string: amounts beyond what a number holds exactly stay as they are.
  return format.format(amount as `${number}`);
}

/** A day of the calendar, `2026-01-31`; no zone moves it. */
export function day(date: string, language: Language): string {
  const format = once(Intl.DateTimeFormat, language, { dateStyle: 'medium', timeZone: 'UTC' });
  return format.format(new Date(`${date.slice(0, 10)}T00:00:00Z`));
}

/** A month of the books, `2026-01`. */
export function month(date: string, language: Language): string {
  const format = once(Intl.DateTimeFormat, language, {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
  return format.format(new Date(`${date.slice(0, 7)}-01T00:00:00Z`));
}

/** A moment, by the clock of whoever looks. */
export function moment(time: string, language: Language): string {
  const format = once(Intl.DateTimeFormat, language, { dateStyle: 'medium', timeStyle: 'short' });
  return format.format(new Date(time));
}

/** So many seconds ago, in the largest unit of which there is one. */
export function ago(seconds: number, language: Language): string {
  const format = once(Intl.RelativeTimeFormat, language, { style: 'short' });
  if (seconds < 60) return format.format(-seconds, 'second');
  if (seconds < 3_600) return format.format(-Math.floor(seconds / 60), 'minute');
  return format.format(-Math.floor(seconds / 3_600), 'hour');
}

const axisStyles = {
  hour: { timeStyle: 'short' },
  day: { timeStyle: 'short' },
  week: { weekday: 'short', day: 'numeric' },
  month: { day: 'numeric', month: 'short' },
  year: { month: 'short', year: '2-digit' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** Moments below a chart of so long a time, by the clock of whoever looks; of seconds since 1970. */
export function axisTime(period: keyof typeof axisStyles, language: Language): (seconds: number) => string {
  const format = once(Intl.DateTimeFormat, language, axisStyles[period]);
  return (seconds) => format.format(new Date(seconds * 1_000));
}

/** A number as it was measured, to a hundredth. */
export function decimal(value: number, language: Language): string {
  return once(Intl.NumberFormat, language, { maximumFractionDigits: 2 }).format(value);
}

/** Of a hundred, without a fraction. */
export function percent(value: number, language: Language): string {
  const format = once(Intl.NumberFormat, language, { style: 'percent', maximumFractionDigits: 0 });
  return format.format(value / 100);
}

/** So long, in the largest unit of which there is one. */
export function lasting(seconds: number, language: Language): string {
  const [value, unit] =
    seconds < 60
      ? [seconds, 'second']
      : seconds < 3_600
        ? [Math.floor(seconds / 60), 'minute']
        : [Math.floor(seconds / 3_600), 'hour'];
  const format = once(Intl.NumberFormat, language, { style: 'unit', unit, unitDisplay: 'short' });
  return format.format(value);
}

export function gigabytes(value: number, language: Language): string {
  return `${once(Intl.NumberFormat, language, { maximumFractionDigits: 1 }).format(value)} GB`;
}

/** A day of the week, of which Monday is 0. */
export function weekday(nth: number, language: Language, length: 'short' | 'long'): string {
  const format = once(Intl.DateTimeFormat, language, { weekday: length, timeZone: 'UTC' });
  // The first of January of 2024 was a Monday.
  return format.format(new Date(Date.UTC(2024, 0, 1 + nth)));
}

/** So many minutes of opening time: hours, since the days of an office have as many as it is open. */
export function openTime(minutes: number, language: Language): string {
  const part = (value: number, unit: string) =>
    once(Intl.NumberFormat, language, { style: 'unit', unit, unitDisplay: 'short' }).format(value);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return [hours > 0 && part(hours, 'hour'), rest > 0 && part(rest, 'minute')].filter(Boolean).join(' ');
}

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** The size of a file, in the largest unit of which it has one. */
export function bytes(size: number, language: Language): string {
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, size)) / 3));
  const format = once(Intl.NumberFormat, language, {
    style: 'unit',
    unit: units[step],
    maximumFractionDigits: step === 0 ? 0 : 1,
  });
  return format.format(size / 1_000 ** step);
}

/** A number of any size in a few digits: `1.2M`. */
export function compact(value: number, language: Language): string {
  const format = once(Intl.NumberFormat, language, { notation: 'compact', maximumFractionDigits: 1 });
  return format.format(value);
}

const bitUnits = ['bit', 'kilobit', 'megabit', 'gigabit'] as const;

/** Bits in a second, in the largest unit of which there is one. */
export function bits(value: number, language: Language): string {
  const step = Math.min(bitUnits.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)));
  const format = once(Intl.NumberFormat, language, {
    style: 'unit',
    unit: `${bitUnits[step]}-per-second`,
    maximumFractionDigits: step === 0 ? 0 : 1,
  });
  return format.format(value / 1_000 ** step);
}

/** So many seconds until something, as a clock that runs down: `1:05`. */
export function countdown(seconds: number): string {
  const left = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
}

/** A kind of disks as it is written: `NVMe`, `SSD`, `HDD`. */
export function diskKind(kind: string): string {
  return kind === 'nvme' ? 'NVMe' : kind.toUpperCase();
}
