import { runAsRoot } from '../../../platform/host/program.ts';
import { EdgeError } from '../contract.ts';
import { type TableFamily, table } from './base.ts';

/** What nft tells of a table, a chain or a map; of each only what we look at. */
export interface Listing {
  chains: Map<string, ListedRule[]>;
  maps: Map<string, ListedElement[]>;
  sets: Map<string, ListedElement[]>;
}

export interface ListedRule {
  comment: string | null;
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
  /** Whether what one guest of a bridge sends to another passes the tables for routed packets as well, in both families. */
  seesBridged(): Promise<boolean>;
  /** Null when there is no such thing. */
  list(what: 'table' | 'chain' | 'map' | 'set', of: TableFamily, name?: string): Promise<Listing | null>;
}

/** `inside` puts nft into the network whose packets are meant. */
export function kernel(inside: (argv: readonly string[]) => readonly string[]): Kernel {
  const run = (argv: readonly string[], input?: string) =>
    runAsRoot(inside(['nft', ...argv]), input === undefined ? {} : { input, timeoutMs: 60_000 });
  return {
    async load(text) {
      await run(['-f', '-'], text).catch((cause: unknown) => {
        throw new EdgeError('edge_refused', `nft: ${reasonOf(cause)}`, { cause });
      });
    },
    async seesBridged() {
      const settings = ['iptables', 'ip6tables'].map((each) => `/proc/sys/net/bridge/bridge-nf-call-${each}`);
      const shown = await runAsRoot(inside(['cat', ...settings])).catch((cause: unknown) => {
        // Without br_netfilter there are no such files.
        if (/No such file or directory/.test(reasonOf(cause))) return null;
        throw new EdgeError('edge_refused', `cat: ${reasonOf(cause)}`, { cause });
      });
      return shown !== null && /^(1\n)+$/.test(shown.stdout);
    },
    async list(what, of, name) {
      const argv = ['-nj', 'list', what, of, table, ...(name === undefined ? [] : [name])];
      const shown = await run(argv).catch((cause: unknown) => {
        if (/No such file or directory/.test(reasonOf(cause))) return null;
        throw new EdgeError('edge_refused', `nft: ${reasonOf(cause)}`, { cause });
      });
      return shown === null ? null : parse(JSON.parse(shown.stdout));
    },
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface Shown {
  nftables: {
    chain?: { name: string };
    rule?: { chain: string; comment?: string; expr: unknown[] };
    map?: { name: string; elem?: unknown[] };
    set?: { name: string; elem?: unknown[] };
  }[];
}

function parse({ nftables }: Shown): Listing {
  const listing: Listing = { chains: new Map(), maps: new Map(), sets: new Map() };
  for (const { chain, rule, map, set } of nftables) {
    if (chain !== undefined && !listing.chains.has(chain.name)) listing.chains.set(chain.name, []);
    if (rule !== undefined) {
      const rules = listing.chains.get(rule.chain) ?? [];
      rules.push({ comment: rule.comment ?? null, ...counterOf(rule.expr) });
      listing.chains.set(rule.chain, rules);
    }
    if (map !== undefined) listing.maps.set(map.name, (map.elem ?? []).map(elementOf));
    if (set !== undefined)
      listing.sets.set(
        set.name,
        (set.elem ?? []).map((each) => elementOf([each, null])),
      );
  }
  return listing;
}

function counterOf(expressions: readonly unknown[]): { packets: number; bytes: number } {
  for (const each of expressions) {
    const counter = field(each, 'counter');
    if (isCounter(counter)) return counter;
  }
  return { packets: 0, bytes: 0 };
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
