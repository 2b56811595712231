import { readFileSync } from 'node:fs';

/** A change that no test noticed. */
export interface Survivor {
  file: string;
  line: number;
  mutation: string;
  /** What stood there instead. */
  to: string;
}

interface Explained {
  file: string;
  /** A part of the line that was changed. */
  text: string;
  /** What it became; without blanks. */
  to: string;
  why: string;
}

/** Those that change nothing anybody could notice, and why. */
const list: Explained[] = [
  {
    file: 'src/billing/ledger/months.ts',
    text: 'following < end ? following : end',
    to: 'following <= end',
    why: 'of two days that are the same either one is the earlier',
  },
  {
    file: 'src/billing/ledger/months.ts',
    text: 'before < first ? first : before',
    to: 'before <= first',
    why: 'of two days that are the same either one is the later',
  },
  {
    file: 'src/billing/ledger/receivables.ts',
    text: '(found.at(-1)?.id ?? null)',
    to: 'found.at(-1).id',
    why: 'for the compiler: where something may follow there is a last one',
  },
  {
    file: 'src/billing/tax/decide.ts',
    text: 'said === null ? null : taxCountry(said)',
    to: 'false',
    why: 'for the compiler: no country is no country of anybody’s tax either',
  },
  {
    file: 'src/billing/tax/decide.ts',
    text: 'if (country === null) return',
    to: 'false',
    why: 'for the compiler: where no country is known no rate is listed, which is outside as well',
  },
  {
    file: 'src/billing/tax/decide.ts',
    text: 'seller.country === null ? null : taxCountry(seller.country)',
    to: 'false',
    why: 'for the compiler: no country is no country of anybody’s tax either',
  },
  {
    file: 'src/billing/tax/decide.ts',
    text: 'const isAcrossUnion = home !== null',
    to: 'true',
    why: 'for the compiler: what is no country is not in the union, which is asked next',
  },
];

const used = new Set<Explained>();
const bare = (text: string) => text.replaceAll(/\s+/g, '');

/** Why a survivor is none of a test's business; null when nobody has said so. */
export function explained({ file, line, to }: Survivor): string | null {
  const text = readFileSync(file, 'utf8').split('\n')[line - 1] ?? '';
  const found = list.find(
    (each) => each.file === file && text.includes(each.text) && bare(each.to) === bare(to),
  );
  if (found === undefined) return null;
  used.add(found);
  return found.why;
}

/** What is explained and did not survive: the explanation goes. */
explained.unused = (files: readonly string[]): Explained[] =>
  list.filter((each) => files.includes(each.file) && !used.has(each));
