import type { Book, Writing } from '../book.ts';
import { prefixText } from '../prefix.ts';
import { baseChains, baseText, type Kind, maps, type TableFamily, table } from './base.ts';
import type { Kernel, ListedElement, Listing } from './kernel.ts';
import { type Named, readName, writingOf } from './names.ts';

/** Something of a writing beside its chain. */
export interface Part {
  kind: 'chain' | 'map' | 'set';
  name: string;
}

export interface Held extends Writing {
  of: Named['of'];
  /** False when somebody else has changed it: then it is written anew, whatever its generation. */
  isWhole: boolean;
  /** Of a trial, when it was last looked at. */
  expiresS: number | null;
}

/** What the kernel holds; read from it once, and again whenever it turns out to be otherwise. */
export interface State {
  /** In which of our tables everything stands. */
  tables: readonly TableFamily[];
  book: { [Of in keyof Book]: Map<string, Held> };
  /** Writings that nothing leads to any more. */
  over: Map<string, Named>;
  parts: Map<string, Part[]>;
}

export const kinds = ['policies', 'trials', 'mitigations'] as const satisfies Kind[];

function emptyState(tables: readonly TableFamily[]): State {
  return {
    tables,
    book: { policies: new Map(), trials: new Map(), mitigations: new Map() },
    over: new Map(),
    parts: new Map(),
  };
}

/** Reads all of our tables, and makes or mends what has to be there before any policy. */
export async function loadState(kernel: Kernel, bridged: boolean): Promise<State> {
  const tables = await tablesFor(kernel, bridged);
  if (bridged && !tables.includes('bridge') && (await kernel.list('table', 'bridge')) !== null) {
    await kernel.load(`delete table bridge ${table}\n`);
  }
  const found = await Promise.all(tables.map((of) => kernel.list('table', of)));
  const listings = found.map((listing) => listing ?? nothing());
  if (!agree(listings)) {
    // Somebody took a table or a part of one away. What is left cannot be changed in step any more, so all is written anew.
    const left = tables.filter((_, nth) => found[nth] !== null);
    await kernel.load(
      left.map((of) => `delete table ${of} ${table}\n`).join('') + tables.map(baseText).join(''),
    );
    return emptyState(tables);
  }
  const broken = tables.filter((_, nth) => !isWholeBase(listings[nth] ?? nothing()));
  if (broken.length > 0) await kernel.load(broken.map(baseText).join(''));
  return stateOf(tables, listings);
}

/** Where `br_netfilter` shows bridged packets to `inet` too, a second table would judge and count them twice. */
export async function tablesFor(kernel: Kernel, bridged: boolean): Promise<readonly TableFamily[]> {
  return bridged && !(await kernel.seesBridged()) ? ['inet', 'bridge'] : ['inet'];
}

/** Whether the same destinations lead to the same chains everywhere. */
function agree(listings: readonly Listing[]): boolean {
  const told = listings.map((listing) =>
    kinds
      .map((kind) =>
        elements(kind, listing)
          .map(({ target }) => target)
          .toSorted()
          .join(' '),
      )
      .join(),
  );
  return new Set(told).size <= 1;
}

function nothing(): Listing {
  return { chains: new Map(), maps: new Map(), sets: new Map() };
}

export function isWholeBase({ chains }: Pick<Listing, 'chains'>): boolean {
  return Object.entries(baseChains).every(([name, rules]) => chains.get(name)?.length === rules);
}

function stateOf(tables: readonly TableFamily[], listings: readonly Listing[]): State {
  const state = emptyState(tables);
  const used = new Set<string>();
  for (const kind of kinds) {
    for (const [destination, held] of heldAs(kind, listings)) {
      state.book[kind].set(destination, held);
      used.add(held.name);
    }
  }
  for (const { chains, maps, sets } of listings) {
    for (const [kind, names] of [
      ['chain', chains],
      ['map', maps],
      ['set', sets],
    ] as const) {
      for (const name of names.keys()) note(state, { kind, name }, used);
    }
  }
  return state;
}

function note(state: State, part: Part, used: ReadonlySet<string>): void {
  const writing = readName(writingOf(part.name));
  if (writing === null) return;
  if (part.name === writing.name) {
    if (!used.has(part.name)) state.over.set(part.name, writing);
    return;
  }
  const parts = state.parts.get(writing.name) ?? [];
  if (!parts.some(({ name }) => name === part.name)) state.parts.set(writing.name, [...parts, part]);
}

/** By destination. Whole is what every table leads to, with all of its rules. */
export function heldAs(kind: Kind, listings: readonly Listing[]): Map<string, Held> {
  const found = new Map<string, Held>();
  for (const { target, expiresS } of listings.flatMap((listing) => elements(kind, listing))) {
    const named = readName(target ?? '');
    if (named === null) continue;
    const isWhole = listings.every(
      (listing) =>
        elements(kind, listing).some((each) => each.target === target) &&
        (!listing.chains.has(named.name) || listing.chains.get(named.name)?.length === named.rules),
    );
    found.set(prefixText(named.network), { ...named, isWhole, expiresS });
  }
  return found;
}

/** The names of the kernel's maps of a kind. */
export function mapsOf(kind: Kind): string[] {
  return [...new Set(maps[kind])].flatMap((name) => [`${name}4`, `${name}6`]);
}

function elements(kind: Kind, { maps }: Listing): ListedElement[] {
  return mapsOf(kind).flatMap((name) => maps.get(name) ?? []);
}
