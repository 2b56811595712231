import { Readable } from 'node:stream';
import type { Bytes } from '../../platform/http/index.ts';
import { currencyDigits } from '../../platform/index.ts';
import { type AccountKind, accounts } from '../ledger/accounts.ts';
import { firstDayOf, lastDayOf, type Month, monthsLater } from './month.ts';
import { plainText } from './plainText.ts';
import type { PostingRow } from './postings.ts';
import { type Bookkeeping, numbersOf } from './settings.ts';
import { windows1252 } from './windows1252.ts';

/**
 * DATEV's format for bookings ("EXTF Buchungsstapel", header 700, format 13), as described at developer.datev.de: fields
 * apart by semicolons, texts in quotation marks, lines ended by CR LF, in Windows-1252.
 */
const pairs = (name: string, first: string, second: string, count: number) =>
  Array.from({ length: count }, (_, at) => [
    `${name} - ${first} ${at + 1}`,
    `${name}${second} ${at + 1}`,
  ]).flat();

const headings: readonly string[] = [
  ...['Umsatz (ohne Soll/Haben-Kz)', 'Soll/Haben-Kennzeichen', 'WKZ Umsatz', 'Kurs', 'Basis-Umsatz'],
  ...['WKZ Basis-Umsatz', 'Konto', 'Gegenkonto (ohne BU-Schlüssel)', 'BU-Schlüssel', 'Belegdatum'],
  ...['Belegfeld 1', 'Belegfeld 2', 'Skonto', 'Buchungstext', 'Postensperre', 'Diverse Adressnummer'],
  ...['Geschäftspartnerbank', 'Sachverhalt', 'Zinssperre', 'Beleglink'],
  ...pairs('Beleginfo', 'Art', ' - Inhalt', 8),
  ...['KOST1 - Kostenstelle', 'KOST2 - Kostenstelle', 'Kost-Menge', 'EU-Land u. UStID (Bestimmung)'],
  ...['EU-Steuersatz (Bestimmung)', 'Abw. Versteuerungsart', 'Sachverhalt L+L', 'Funktionsergänzung L+L'],
  ...['BU 49 Hauptfunktionstyp', 'BU 49 Hauptfunktionsnummer', 'BU 49 Funktionsergänzung'],
  ...pairs('Zusatzinformation', 'Art', '- Inhalt', 20),
  ...['Stück', 'Gewicht', 'Zahlweise', 'Forderungsart', 'Veranlagungsjahr', 'Zugeordnete Fälligkeit'],
  ...['Skontotyp', 'Auftragsnummer', 'Buchungstyp', 'USt-Schlüssel (Anzahlungen)', 'EU-Land (Anzahlungen)'],
  ...['Sachverhalt L+L (Anzahlungen)', 'EU-Steuersatz (Anzahlungen)', 'Erlöskonto (Anzahlungen)'],
  ...['Herkunft-Kz', 'Buchungs GUID', 'KOST-Datum', 'SEPA-Mandatsreferenz', 'Skontosperre'],
  ...['Gesellschaftername', 'Beteiligtennummer', 'Identifikationsnummer', 'Zeichnernummer'],
  ...['Postensperre bis', 'Bezeichnung SoBil-Sachverhalt', 'Kennzeichen SoBil-Buchung', 'Festschreibung'],
  ...['Leistungsdatum', 'Datum Zuord. Steuerperiode', 'Fälligkeit', 'Generalumkehr (GU)', 'Steuersatz'],
  ...['Land', 'Abrechnungsreferenz', 'BVV-Position', 'EU-Land u. UStID (Ursprung)'],
  ...['EU-Steuersatz (Ursprung)', 'Abw. Skontokonto'],
];
/** Fields that are texts, counted from one: they stand in quotation marks also when there is nothing in them. */
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
const texts = new Set([
  ...[2, 3, 6, 9, 11, 12, 14, 16, ...range(20, 38), 40, 42, ...range(48, 87), 91, 95, 96, 98, 102, 103],
  ...[105, 107, 109, 110, 112, 118, 120, 121, 123],
]);
const empty: readonly string[] = headings.map((_, at) => (texts.has(at + 1) ? '""' : ''));

/** What DATEV takes in one file. */
export const rowsOfFile = 99_999;
/** Ten digits before the comma. */
const mostMinor = 999_999_999_999;
/** "Aufhebung der Automatik": no tax is worked out of this amount. */
const noAutomatic = '0040';

export interface Batch {
  month: Month;
  currency: string;
  /** 1, 2, 3 … of the files of a month. */
  part: number;
  settings: Bookkeeping & { consultant: number; client: number };
}

/** One of the files of a closed month, made while its postings are read. */
export function datev(batch: Batch, postings: AsyncIterable<PostingRow>): Bytes {
  const part = batch.part === 1 ? '' : `_${batch.part}`;
  return {
    body: Readable.from(chunksOf(batch, postings), { objectMode: false }),
    type: 'text/csv; charset=windows-1252',
    name: `EXTF_Buchungsstapel_${batch.month}_${batch.currency}${part}.csv`,
  };
}

async function* chunksOf(batch: Batch, postings: AsyncIterable<PostingRow>): AsyncGenerator<Buffer> {
  yield windows1252(`${headerOf(batch)}\r\n${headings.join(';')}\r\n`);
  const from = (batch.part - 1) * rowsOfFile;
  const line = lineOf(batch);
  let nth = 0;
  for await (const posting of postings) {
    const lines: string[] = [];
    for (const booking of bookingsOf(posting.entries)) {
      if (nth >= from && nth < from + rowsOfFile) lines.push(line(posting, booking));
      nth += 1;
    }
    if (lines.length > 0) yield windows1252(lines.join(''));
    if (nth >= from + rowsOfFile) return;
  }
}

function headerOf({ month, currency, settings }: Batch): string {
  const { chart, account_length, consultant, client, fiscal_year_start: start } = settings;
  const compact = (day: string) => day.replaceAll('-', '');
  const year = Number(month.slice(0, 4)) - (Number(month.slice(5)) < start ? 1 : 0);
  // The same bytes every time: made, as it says, when the month was over.
  const made = `${compact(firstDayOf(monthsLater(month, 1)))}000000000`;
  return [
    ...['"EXTF"', 700, 21, '"Buchungsstapel"', 13, made, '', '""', '""', '""', consultant, client],
    ...[`${year}${String(start).padStart(2, '0')}01`, account_length, compact(firstDayOf(month))],
    ...[compact(lastDayOf(month)), `"Innkeeper ${month}"`, '""', 1, 0, 0, `"${currency}"`, '', '""', '', ''],
    ...[`"${chart.slice(3)}"`, '', '', '""', '""'],
  ].join(';');
}

/** An amount from one account to another; ours, not the bookkeeper's. */
export interface Booking {
  debit: AccountKind;
  credit: AccountKind;
  minor: number;
}

const order = Object.keys(accounts) as AccountKind[];

/**
 * The entries of a posting as bookings of two accounts each, as DATEV has them: what they move on each account is what the
 * entries do. The same entries give the same bookings.
 */
export function bookingsOf(entries: PostingRow['entries']): Booking[] {
  const sorted = entries.toSorted((one, other) => order.indexOf(one.account) - order.indexOf(other.account));
  const debits = sorted.filter(({ minor }) => minor > 0).map((each) => ({ ...each }));
  const credits = sorted
    .filter(({ minor }) => minor < 0)
    .map(({ account, minor }) => ({ account, minor: -minor }));
  const found: Booking[] = [];
  for (const debit of debits) {
    for (const credit of credits) {
      while (debit.minor > 0 && credit.minor > 0) {
        const minor = Math.min(debit.minor, credit.minor, mostMinor);
        found.push({ debit: debit.account, credit: credit.account, minor });
        debit.minor -= minor;
        credit.minor -= minor;
      }
    }
  }
  return found;
}

function lineOf({ month, currency, settings }: Batch) {
  const numbers = numbersOf(settings);
  const automatic = new Set(settings.automatic_accounts);
  const [first, last] = [firstDayOf(month), lastDayOf(month)];
  return ({ id, day, number, description }: PostingRow, { debit, credit, minor }: Booking): string => {
    const fields = [...empty];
    const set = (field: number, text: string) => {
      fields[field - 1] = texts.has(field) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    // What came late counts on the first day of the month that took it in.
    const counts = day < first ? first : day > last ? last : day;
    set(1, amountOf(minor, currency));
    set(2, 'S');
    set(3, currency);
    set(7, numbers[debit]);
    set(8, numbers[credit]);
    if (automatic.has(numbers[debit]) || automatic.has(numbers[credit])) set(9, noAutomatic);
    set(10, `${counts.slice(8)}${counts.slice(5, 7)}`);
    set(11, referenceOf(number ?? `L${id}`));
    set(14, plainText(description, 60));
    return `${fields.join(';')}\r\n`;
  };
}

/** Letters, digits and a few signs, none of which begins a formula. */
function referenceOf(number: string): string {
  return number
    .replace(/[^\w$&%*+\-/]/g, '-')
    .replace(/^\W+/, '')
    .slice(0, 36);
}

function amountOf(minor: number, currency: string): string {
  const digits = currencyDigits(currency);
  const text = String(minor * 10 ** (2 - digits)).padStart(3, '0');
  return `${text.slice(0, -2)},${text.slice(-2)}`;
}
