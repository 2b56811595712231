import sax from 'sax';
import { fail, parseMoney } from '../../platform/index.ts';

/** A statement of one account as the bank wrote it: CAMT.053, ISO 20022. */
export interface BankStatement {
  /** The bank's name for it. */
  name: string;
  /** IBAN, or what the bank calls the account. */
  account: string;
  entries: BankEntry[];
}

export interface BankEntry {
  direction: 'in' | 'out';
  amountMinor: number;
  currency: string;
  /** `YYYY-MM-DD` */
  bookedOn: string;
  /** The bank's own reference; null where it gives none. */
  reference: string | null;
  /** That reference is only how the file counts its entries (`NtryRef`): the next file may have the same. */
  isCount: boolean;
  /** Who paid, or was paid. */
  name: string | null;
  iban: string | null;
  /** What the payer wrote: every reference and line of it, parted by line feeds. */
  text: string;
  /** It takes back an earlier entry. */
  isReversal: boolean;
}

/** What is read of one file; more is a mistake, or no statement. */
export const statementLimits = { bytes: 16 * 1_048_576, entries: 20_000, depth: 40, name: 64, text: 1_000 };

/** So much is parsed before others have a turn. */
const chunkLength = 65_536;

/**
 * Reads a CAMT.053 file while it lets others work in between, in memory that its size bounds. Nothing is fetched and
 * nothing expands: a document type, and so every entity of its own, is refused. Entries that are not booked yet
 * are left out. `invalid_statement` says what is wrong and where.
 */
export async function readCamt(bytes: Buffer): Promise<BankStatement[]> {
  const text = textOf(bytes);
  const reader = createReader();
  for (let at = 0; at < text.length; at += chunkLength) {
    reader.write(text.slice(at, at + chunkLength));
    await new Promise(setImmediate);
  }
  return reader.end();
}

function textOf(bytes: Buffer): string {
  if (bytes.length > statementLimits.bytes) throw refused('it is larger than 16 MiB');
  const declared = /^[^>]{0,200}?encoding\s*=\s*["']([^"']{0,40})["']/.exec(
    bytes.toString('latin1', 0, 300),
  )?.[1];
  if (declared !== undefined && !/^(utf-?8|us-ascii)$/i.test(declared)) {
    throw refused(`its encoding is ${declared}; have the bank write UTF-8`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refused('it is no UTF-8');
  }
}

function refused(why: string, line?: number) {
  const where = line === undefined ? '' : ` (line ${line})`;
  return fail('invalid_statement', {
    message: `This is not a CAMT.053 statement that can be read: ${why}${where}`,
  });
}

/** An element that is open, with the text in it so far. */
interface Open {
  name: string;
  text: string;
  currency: string | null;
}

/** What is known of an entry, or of one of the payments in it, by the path of its elements. */
type Fields = Map<string, string[]>;

interface OpenEntry {
  fields: Fields;
  payments: Fields[];
}

function createReader() {
  const parser = sax.parser(true, { xmlns: true, position: true });
  const path: Open[] = [];
  const statements: BankStatement[] = [];
  let statement: Fields = new Map();
  let entries: BankEntry[] = [];
  let entry: OpenEntry | null = null;
  let count = 0;
  const wrong = (why: string) => refused(why, parser.line + 1);

  parser.onerror = (error) => {
    throw wrong((error.message.split('\n', 1)[0] ?? '').replace(/[^\x20-\x7e]/g, '?'));
  };
  parser.ondoctype = () => {
    throw wrong('it has a document type, which a statement has no use for');
  };
  parser.onopentag = (tag) => {
    if (!('local' in tag)) return;
    if (path.length === 0) requireCamt(tag.local, tag.uri);
    // The path of names is looked at with each element: long ones would keep everybody waiting.
    if (tag.name.length > statementLimits.name) throw wrong('one of its elements has a name of no statement');
    if (path.length >= statementLimits.depth) throw wrong('its elements lie too deep in each other');
    const currency = Object.values(tag.attributes).find(({ local }) => local === 'Ccy')?.value ?? null;
    path.push({ name: tag.local, text: '', currency });
    const place = placeOf(path);
    if (place === '') [statement, entries] = [new Map(), []];
    if (place === 'Ntry') {
      count += 1;
      if (count > statementLimits.entries) {
        throw wrong(`it has more than ${statementLimits.entries} entries; have the bank part it by days`);
      }
      entry = { fields: new Map(), payments: [] };
    }
    if (place === 'Ntry/NtryDtls/TxDtls') entry?.payments.push(new Map());
  };
  parser.ontext = (text) => {
    const open = path.at(-1);
    if (open !== undefined && open.text.length < statementLimits.text) {
      open.text += text.slice(0, statementLimits.text - open.text.length);
    }
  };
  parser.oncdata = parser.ontext;
  parser.onclosetag = () => {
    const place = placeOf(path);
    const open = path.pop();
    if (open === undefined || place === null) return;
    if (place === '') {
      const account = oneOf(statement, 'Acct/Id/IBAN', 'Acct/Id/Othr/Id');
      if (account === null) throw wrong('a statement does not say of which account it is');
      statements.push({ name: oneOf(statement, 'Id') ?? '', account, entries });
    } else if (place === 'Ntry' && entry !== null) {
      entries.push(...entriesOf(entry, wrong));
      entry = null;
    } else keep(entry, statement, place, open);
  };
  return {
    write: (text: string) => void parser.write(text),
    end: () => {
      parser.close();
      if (statements.length === 0) throw refused('there is no statement in it');
      return statements;
    },
  };

  function requireCamt(name: string, space: string): void {
    if (name === 'Document' && /:camt\.053\.\d{3}\.\d{2}$/.test(space)) return;
    const said = /:((?:camt|pain|pacs)\.[\d.]+)$/.exec(space)?.[1];
    throw wrong(said === undefined ? 'it is something else' : `it is a ${said}; ask the bank for camt.053`);
  }
}

/** The path below the statement that is open; null outside of one. */
function placeOf(path: readonly Open[]): string | null {
  // Document / BkToCstmrStmt / Stmt
  if (path.length < 3 || path[2]?.name !== 'Stmt') return null;
  return path
    .slice(3)
    .map(({ name }) => name)
    .join('/');
}

const ofPayment = 'Ntry/NtryDtls/TxDtls/';

function keep(entry: OpenEntry | null, statement: Fields, place: string, { text, currency }: Open): void {
  const value = plainly(text);
  if (value === '') return;
  const [fields, name] = entry === null ? [statement, place] : fieldsFor(entry, place);
  if (fields === undefined) return;
  add(fields, name, value);
  if (currency !== null) add(fields, `${name}@Ccy`, plainly(currency));
}

function fieldsFor(entry: OpenEntry, place: string): [Fields | undefined, string] {
  return place.startsWith(ofPayment)
    ? [entry.payments.at(-1), place.slice(ofPayment.length)]
    : [entry.fields, place.slice('Ntry/'.length)];
}

function add(fields: Fields, name: string, value: string): void {
  const before = fields.get(name);
  if (before === undefined) fields.set(name, [value]);
  // Nobody writes more lines than these; a file that does is not kept whole.
  else if (before.length < 50) before.push(value);
}

/** What people see of a text: nothing that a terminal or the database would trip over. */
function plainly(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
}

function oneOf(fields: Fields, ...names: string[]): string | null {
  for (const name of names) {
    const value = fields.get(name)?.[0];
    if (value !== undefined) return value;
  }
  return null;
}

type Wrong = (why: string) => Error;

/** An entry for each payment in it, where the bank booked several at once and says how much each was. */
function entriesOf({ fields, payments }: OpenEntry, wrong: Wrong): BankEntry[] {
  if (oneOf(fields, 'Sts', 'Sts/Cd', 'Sts/Prtry') !== 'BOOK') return [];
  // What was booked is the amount of the whole: that of a single payment may be in another currency.
  const [only] = payments.length === 1 ? payments : [];
  const details = new Map([...(only ?? [])].filter(([name]) => !/^(AmtDtls|Amt|CdtDbtInd)/.test(name)));
  const whole = entryOf(details, fields, wrong);
  if (payments.length < 2 || payments.some((payment) => amountOf(payment) === null)) return [whole];
  const each = payments.map((payment) => entryOf(payment, fields, wrong));
  const sumMinor = each.reduce(
    (sum, { direction, amountMinor }) => sum + (direction === whole.direction ? amountMinor : -amountMinor),
    0,
  );
  return sumMinor === whole.amountMinor && each.every(({ currency }) => currency === whole.currency)
    ? each
    : [whole];
}

function amountOf(payment: Fields): [string, string] | null {
  return amountIn(payment, 'Amt') ?? amountIn(payment, 'AmtDtls/TxAmt/Amt');
}

function entryOf(payment: Fields, whole: Fields, wrong: Wrong): BankEntry {
  const sign = oneOf(payment, 'CdtDbtInd') ?? oneOf(whole, 'CdtDbtInd');
  if (sign !== 'CRDT' && sign !== 'DBIT') throw wrong('an entry does not say whether money came or went');
  const direction = sign === 'CRDT' ? 'in' : 'out';
  const from = amountOf(payment) ?? amountIn(whole, 'Amt');
  if (from === null) throw wrong('an entry has no amount with a currency');
  const [amount, currency] = from;
  const amountMinor = minorOf(amount, currency);
  if (amountMinor === null) throw wrong(`${amount.slice(0, 40)} is no amount of ${currency.slice(0, 40)}`);
  const bookedOn = (oneOf(whole, 'BookgDt/Dt', 'BookgDt/DtTm') ?? '').slice(0, 10);
  if (!isDay(bookedOn)) throw wrong('an entry has no day on which it was booked');
  const party = direction === 'in' ? 'Dbtr' : 'Cdtr';
  const given = (value: string | null) => (value === 'NOTPROVIDED' || value === 'NONREF' ? null : value);
  const lines = [
    ...(payment.get('RmtInf/Strd/CdtrRefInf/Ref') ?? []),
    ...(payment.get('RmtInf/Ustrd') ?? []),
    ...[given(oneOf(payment, 'Refs/EndToEndId')), payment.size === 0 ? oneOf(whole, 'AddtlNtryInf') : null],
  ].filter((line) => line !== null);
  const own = oneOf(payment, 'Refs/AcctSvcrRef', 'Refs/TxId') ?? oneOf(whole, 'AcctSvcrRef');
  return {
    direction,
    amountMinor,
    currency,
    bookedOn,
    reference: given(own ?? oneOf(whole, 'NtryRef')),
    isCount: own === null,
    name: oneOf(payment, `RltdPties/${party}/Nm`, `RltdPties/${party}/Pty/Nm`)?.slice(0, 140) ?? null,
    iban:
      oneOf(payment, `RltdPties/${party}Acct/Id/IBAN`, `RltdPties/${party}Acct/Id/Othr/Id`)?.slice(0, 40) ??
      null,
    text: lines.join('\n').slice(0, 2 * statementLimits.text),
    isReversal: oneOf(whole, 'RvslInd') === 'true',
  };
}

function amountIn(fields: Fields, name: string): [string, string] | null {
  const [amount, currency] = [oneOf(fields, name), oneOf(fields, `${name}@Ccy`)];
  return amount === null || currency === null ? null : [amount, currency];
}

/** Banks write up to five digits after the point, of which those that the currency lacks are zeros. */
function minorOf(amount: string, currency: string): number | null {
  if (!/^[A-Z]{3}$/.test(currency)) return null;
  const [, whole = '', fraction = ''] = /^(\d+)(?:\.(\d*))?$/.exec(amount) ?? [];
  const shown = fraction.replace(/0+$/, '');
  return parseMoney(shown === '' ? whole : `${whole}.${shown}`, currency);
}

function isDay(text: string): boolean {
  const time = /^2\d{3}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
