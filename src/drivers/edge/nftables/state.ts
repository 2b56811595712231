import { isDeepStrictEqual } from 'node:util';
import type { Book, Writing } from '../book.ts';
import { prefixText } from '../prefix.ts';
import {
  baseChains,
  baseText,
  type Families,
  familiesMark,
  type Kind,
  maps,
  type TableFamily,
  table,
  tracePrefix,
} from './base.ts';
import { emptyListing, type Kernel, type ListedElement, type ListedRule, type Listing } from './kernel.ts';
import { type Named, readName, writingOf } from './names.ts';
import { type Around, aroundChains, aroundOf, proxiedBy, synproxyOf } from './synproxy.ts';

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
  /** The tables in which its destination leads anywhere. */
  at: readonly TableFamily[];
  /** Of a measure: whether its synproxy is led to. */
  isProxied: boolean;
}

/** Which tables there have to be, and the families whose packets each judges. */
export type Layout = ReadonlyMap<TableFamily, Families>;

/** What the kernel holds; read from it once, and again whenever it turns out to be otherwise. */
export interface State {
  layout: Layout;
  book: { [Of in keyof Book]: Map<string, Held> };
  /** Writings that nothing leads to any more. */
  over: Map<string, Named>;
  parts: Map<string, Part[]>;
  /** What of writings is in each table: one that somebody took away lacks what was written before. */
  there: ReadonlyMap<TableFamily, Set<string>>;
  /** What synproxies need. */
  around: Around;
}

export const kinds = ['policies', 'trials', 'mitigations'] as const satisfies Kind[];

const families: Families = [4, 6];

/** Where `br_netfilter` shows bridged packets to `inet` too, a second table would judge and count them twice. */
export async function layoutFor(kernel: Kernel, bridged: boolean): Promise<Layout> {
  const layout = new Map<TableFamily, Families>([['inet', families]]);
  if (!bridged) return layout;
  const shown = await kernel.seesBridged();
  const own = families.filter((family) => !shown.includes(family));
  return own.length === 0 ? layout : layout.set('bridge', own);
}

export function isSameLayout(one: Layout, other: Layout): boolean {
  const told = (layout: Layout) => [...layout].map(([of, judged]) => `${of} ${familiesMark(judged)}`).join();
  return told(one) === told(other);
}

/**
 * Reads all of our tables, takes away what a trace left that nobody ended, and makes or mends what has to be there before any policy. A table that somebody took away counts
 * as an empty one: what the other holds goes on filtering, and is not whole until it is written anew.
 */
export async function loadState(kernel: Kernel, bridged: boolean): Promise<State> {
  const layout = await layoutFor(kernel, bridged);
  if (!layout.has('bridge') && (await kernel.list([baseChain('bridge', 'edge')])).has('bridge')) {
    await kernel.load(`delete table bridge ${table}\n`);
  }
  const listings = new Map<TableFamily, Listing>();
  for (const of of layout.keys()) listings.set(of, (await kernel.listTable(of)) ?? emptyListing());
  await mendBase(kernel, layout, listings);
  return stateOf(layout, listings);
}

async function mendBase(
  kernel: Kernel,
  layout: Layout,
  listings: ReadonlyMap<TableFamily, Listing>,
): Promise<void> {
  const traces = [...listings].flatMap(([of, { chains }]) =>
    [...chains.keys()].filter((name) => name.startsWith(tracePrefix)).map((name) => `${of} ${table} ${name}`),
  );
  if (traces.length > 0)
    await kernel.load(traces.map((chain) => `flush chain ${chain}\ndelete chain ${chain}\n`).join(''));
  const broken = [...layout].filter(([of, judged]) => !isWholeBase(listings.get(of)?.chains, judged));
  if (broken.length > 0) await kernel.load(broken.map(([of, judged]) => baseText(of, judged)).join(''));
}

const baseChain = (of: TableFamily, name: string) => ({ of, kind: 'chain' as const, name });

/** Whether all that is before any policy is as we wrote it, and what stands around synproxies as it was. */
export async function isBaseWhole(kernel: Kernel, { layout, around }: State): Promise<boolean> {
  // Of chains alone: nft would read all sets with each of them.
  for (const [of, judged] of layout)
    if (!isWholeBase(await kernel.counters(of, Object.keys(baseChains(judged))), judged)) return false;
  const listings = await kernel.list(aroundChains.map((name) => baseChain('inet', name)));
  return isDeepStrictEqual(aroundOf(listings.get('inet') ?? emptyListing()), around);
}

function isWholeBase(
  chains: ReadonlyMap<string, readonly Pick<ListedRule, 'comment'>[]> | undefined,
  judged: Families,
): boolean {
  return (
    chains?.get('edge')?.[0]?.comment === familiesMark(judged) &&
    Object.entries(baseChains(judged)).every(([name, rules]) => chains.get(name)?.length === rules)
  );
}

function stateOf(layout: Layout, listings: ReadonlyMap<TableFamily, Listing>): State {
  const there = new Map([...layout.keys()].map((of) => [of, new Set<string>()]));
  const book: State['book'] = { policies: new Map(), trials: new Map(), mitigations: new Map() };
  const around = aroundOf(listings.get('inet') ?? emptyListing());
  const state: State = { layout, book, over: new Map(), parts: new Map(), there, around };
  const used = new Set<string>();
  for (const kind of kinds) {
    for (const [destination, held] of heldAs(kind, layout, listings)) {
      state.book[kind].set(destination, held);
      used.add(held.name);
    }
  }
  for (const [of, { chains, maps, sets }] of listings) {
    for (const [kind, names] of [
      ['chain', chains],
      ['map', maps],
      ['set', sets],
    ] as const) {
      for (const name of names.keys()) note(state, of, { kind, name }, used);
    }
  }
  const led = proxiedBy(listings.get('inet') ?? emptyListing());
  for (const held of book.mitigations.values()) {
    const synproxy = synproxyOf(state, held.name);
    held.isProxied = synproxy !== null && led.has(synproxy);
    if (synproxy !== null) held.isWhole &&= held.isProxied && around.state === 'whole';
  }
  return state;
}

function note(state: State, of: TableFamily, part: Part, used: ReadonlySet<string>): void {
  const writing = readName(writingOf(part.name));
  if (writing === null) return;
  state.there.get(of)?.add(part.name);
  if (part.name === writing.name) {
    if (!used.has(part.name)) state.over.set(part.name, writing);
    return;
  }
  const parts = state.parts.get(writing.name) ?? [];
  if (!parts.some(({ name }) => name === part.name)) state.parts.set(writing.name, [...parts, part]);
}

/** By destination. Whole is what every table leads to, with all of its rules. */
export function heldAs(
  kind: Kind,
  layout: Layout,
  listings: ReadonlyMap<TableFamily, Listing>,
): Map<string, Held> {
  const found = new Map<string, Held>();
  for (const of of layout.keys()) {
    const listing = listings.get(of) ?? emptyListing();
    for (const { target, expiresS } of elements(kind, listing)) {
      const named = readName(target ?? '');
      if (named === null) continue;
      const destination = prefixText(named.network);
      const before = found.get(destination);
      const hasRules = (listing.chains.get(named.name)?.length ?? named.rules) === named.rules;
      found.set(destination, {
        ...(before ?? { ...named, expiresS }),
        isWhole: hasRules && (before === undefined || (before.isWhole && before.name === named.name)),
        at: [...(before?.at ?? []), of],
        isProxied: false,
      });
    }
  }
  for (const held of found.values()) held.isWhole &&= held.at.length === layout.size;
  return found;
}

/** The kernel's maps of a kind, in each table. */
export function mapsOf(kind: Kind, layout: Layout) {
  return [...layout.keys()].flatMap((of) =>
    mapNames(kind).map((name) => ({ of, kind: 'map' as const, name })),
  );
}

function mapNames(kind: Kind): string[] {
  return [...new Set(maps[kind])].flatMap((name) => [`${name}4`, `${name}6`]);
}

function elements(kind: Kind, { maps }: Listing): ListedElement[] {
  return mapNames(kind).flatMap((name) => maps.get(name) ?? []);
}
