import { runAsRoot } from '../../../platform/host/program.ts';
import { EdgeError } from '../contract.ts';
import { openAsker } from './asker.ts';
import { type TableFamily, table } from './base.ts';
import { type CountedRule, readCounters } from './counters.ts';
import { type CountingSet, eachCount, type See } from './elements.ts';

/** What nft tells of a table, a chain or a map; of each only what we look at. */
export interface Listing {
  chains: Map<string, ListedRule[]>;
  maps: Map<string, ListedElement[]>;
  sets: Map<string, ListedElement[]>;
}

export interface ListedRule {
  handle: number;
  comment: string | null;
  /** That decides, and by how many keys it is looked up. */
  map: { name: string; keys: number } | null;
  packets: number;
  bytes: number;
}

export interface ListedElement {
  key: unknown;
  comment: string | null;
  /** Where it leads. */
  target: string | null;
  /** Seconds until it is gone; null when it stays. */
  expiresS: number | null;
  packets: number;
  bytes: number;
}

export interface Kernel {
  /** One transaction: all of it or nothing. */
  load(text: string): Promise<void>;
  /** Of which families what one guest of a bridge sends to another passes the tables for routed packets as well. */
  seesBridged(): Promise<(4 | 6)[]>;
  /** Whether somebody has it follow connections. */
  followsConnections(): Promise<boolean>;
  /** All of a table; null when there is none. */
  listTable(of: TableFamily): Promise<Listing | null>;
  /** Some of its chains, maps and sets, by one nft for all, or with the whole tables where they are many; what is not there is missing. */
  list(asked: readonly Asked[]): Promise<ReadonlyMap<TableFamily, Listing>>;
  /** Counters of these chains' rules, by chain; of large tables and in floods as quickly as of small ones. */
  counters(of: TableFamily, chains: readonly string[]): Promise<Map<string, CountedRule[]>>;
  /** What a set has counted, element by element. */
  eachCount(set: CountingSet, see: See): Promise<void>;
  /** Of the element of a map that a key finds; null when there is none. */
  comment(of: TableFamily, map: string, key: string): Promise<string | null>;
  close(): Promise<void>;
}

export interface Asked {
  of: TableFamily;
  kind: 'chain' | 'map' | 'set';
  name: string;
}

/** What is not there is known by English words. */
const inEnglish = { LC_ALL: 'C', LANGUAGE: '' };
/** A table of 100,000 rules is told in more than a hundred million characters. */
const longestOutput = 500_000_000;
/** For each that it is asked for nft reads all sets of the table, so of more than these all of it at once is quicker. */
const singlyAtMost = 40;
const isMissing = /No such file or directory/;

/** `inside` puts nft into the network whose packets are meant. */
export function kernel(inside: (argv: readonly string[]) => readonly string[]): Kernel {
  const run = (argv: readonly string[], input?: string) =>
    runAsRoot(inside(argv), {
      ...{ env: inEnglish, timeoutMs: 60_000, longestOutput },
      ...(input === undefined ? {} : { input }),
    });
  const asker = openAsker(inside);
  const refused = (argv: readonly string[]) => (cause: unknown) => {
    throw new EdgeError('edge_refused', `${argv[0]}: ${reasonOf(cause)}`, { cause });
  };
  const orMissing = (argv: readonly string[]) =>
    run(argv).catch((cause: unknown) => (isMissing.test(reasonOf(cause)) ? null : refused(argv)(cause)));
  const listTable = async (of: TableFamily) => {
    const shown = await orMissing(['nft', '-nj', 'list', 'table', of, table]);
    return shown === null ? null : (parse([shown.stdout]).get(of) ?? emptyListing());
  };
  return {
    listTable,
    counters: (of, chains) => readCounters(asker, of, chains),
    eachCount: (set, see) => eachCount(asker, set, see),
    close: () => asker.close(),
    async load(text) {
      await run(['nft', '-f', '-'], text).catch(refused(['nft']));
    },
    async seesBridged() {
      const settings = ['iptables', 'ip6tables'].map((each) => `/proc/sys/net/bridge/bridge-nf-call-${each}`);
      // Without br_netfilter there are no such files.
      const shown = await orMissing(['cat', ...settings]);
      const [four, six] = shown?.stdout.split('\n') ?? [];
      return [...(four === '1' ? [4 as const] : []), ...(six === '1' ? [6 as const] : [])];
    },
    async followsConnections() {
      // Not every kernel tells its hooks. Else it follows none as long as none are there, though some may be left from before.
      const hooks = await run(['nft', 'list', 'hooks', 'ip']).catch(() => null);
      if (hooks?.stdout.includes('hook ')) return hooks.stdout.includes('ipv4_conntrack_in');
      const shown = await orMissing(['cat', '/proc/sys/net/netfilter/nf_conntrack_count']);
      return Number(shown?.stdout ?? 0) > 0;
    },
    async comment(of, map, key) {
      const shown = await orMissing(['nft', 'get', 'element', of, table, map, `{ ${key} }`]);
      return /comment "(\d+)"/.exec(shown?.stdout ?? '')?.[1] ?? null;
    },
    async list(asked) {
      if (asked.length === 0) return new Map();
      if (asked.length > singlyAtMost) {
        const listings = new Map<TableFamily, Listing>();
        for (const of of new Set(asked.map((each) => each.of))) {
          const listing = await listTable(of);
          if (listing !== null) listings.set(of, listing);
        }
        return listings;
      }
      const lines = asked.map(({ of, kind, name }) => `list ${kind} ${of} ${table} ${name}\n`);
      // One by one, as typed: of several in one file, this nft finds only the last.
      const shown = await run(['nft', '-nj', '-i'], lines.join('')).catch(refused(['nft']));
      const wrong = shown.stderr.split('\n').find((line) => /Error/.test(line) && !isMissing.test(line));
      if (wrong !== undefined) return refused(['nft'])(new Error(wrong));
      return parse(shown.stdout.split('\n').filter((line) => line.startsWith('{')));
    },
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface InTable {
  family: string;
  table: string;
  name: string;
}

interface Shown {
  nftables: {
    chain?: InTable;
    rule?: Omit<InTable, 'name'> & { chain: string; handle: number; comment?: string; expr: unknown[] };
    map?: InTable & { elem?: unknown[] };
    set?: InTable & { elem?: unknown[] };
  }[];
}

export function emptyListing(): Listing {
  return { chains: new Map(), maps: new Map(), sets: new Map() };
}

function parse(documents: readonly string[]): Map<TableFamily, Listing> {
  const found = new Map<TableFamily, Listing>();
  const listingOf = ({ family }: { family: string }) => {
    const listing = found.get(family as TableFamily) ?? emptyListing();
    found.set(family as TableFamily, listing);
    return listing;
  };
  for (const { chain, rule, map, set } of documents.flatMap((each) => (JSON.parse(each) as Shown).nftables)) {
    if (chain !== undefined) {
      const { chains } = listingOf(chain);
      if (!chains.has(chain.name)) chains.set(chain.name, []);
    }
    if (rule !== undefined) {
      const { chains } = listingOf(rule);
      const rules = chains.get(rule.chain) ?? [];
      const { handle, comment = null, expr } = rule;
      rules.push({ handle, comment, map: mapOf(expr), ...counterOf(expr) });
      chains.set(rule.chain, rules);
    }
    if (map !== undefined) listingOf(map).maps.set(map.name, (map.elem ?? []).map(elementOf));
    if (set !== undefined)
      listingOf(set).sets.set(
        set.name,
        (set.elem ?? []).map((each) => elementOf([each, null])),
      );
  }
  return found;
}

function counterOf(expressions: readonly unknown[]): { packets: number; bytes: number } {
  for (const each of expressions) {
    const counter = field(each, 'counter');
    if (isCounter(counter)) return counter;
  }
  return { packets: 0, bytes: 0 };
}

function mapOf(expressions: readonly unknown[]): ListedRule['map'] {
  for (const each of expressions) {
    const vmap = field(each, 'vmap');
    const [name, keys] = [field(vmap, 'data'), field(field(vmap, 'key'), 'concat')];
    if (typeof name === 'string' && name.startsWith('@') && Array.isArray(keys))
      return { name: name.slice(1), keys: keys.length };
  }
  return null;
}

function isCounter(value: unknown): value is { packets: number; bytes: number } {
  return typeof field(value, 'packets') === 'number';
}

/** An element is its key alone, or an object where it has more. */
function elementOf(shown: unknown): ListedElement {
  const [key, verdict] = shown as [unknown, unknown];
  const more = field(key, 'elem');
  const counter = field(more, 'counter');
  const [comment, expires] = [field(more, 'comment'), field(more, 'expires')];
  const target = field(field(verdict, 'goto') ?? field(verdict, 'jump'), 'target');
  return {
    key: more === undefined ? key : field(more, 'val'),
    comment: typeof comment === 'string' ? comment : null,
    target: typeof target === 'string' ? target : null,
    expiresS: typeof expires === 'number' ? expires : null,
    packets: isCounter(counter) ? counter.packets : 0,
    bytes: isCounter(counter) ? counter.bytes : 0,
  };
}

function field(of: unknown, name: string): unknown {
  return typeof of === 'object' && of !== null ? (of as Record<string, unknown>)[name] : undefined;
}
