import type { RuleCount, Traffic, TrafficKind } from '../contract.ts';
import { prefixText } from '../prefix.ts';
import { countedAtMost, countingSets, type TableFamily } from './base.ts';
import { unmatchedMark } from './compile.ts';
import type { Kernel, Listing } from './kernel.ts';
import type { Named } from './names.ts';
import type { Part } from './state.ts';

type Counted = Named & { isOver: boolean };
type Sums = Map<number | null, Pick<RuleCount, 'packets' | 'bytes' | 'droppedPackets' | 'droppedBytes'>>;

/** Counters of these writings, over all tables: singly, or out of the whole table. */
export async function countsOf(
  kernel: Kernel,
  tables: readonly TableFamily[],
  writings: readonly Omit<Counted, 'rules'>[],
  parts: ReadonlyMap<string, readonly Part[]>,
  singly: boolean,
): Promise<RuleCount[]> {
  const whole = singly
    ? []
    : (await Promise.all(tables.map((of) => kernel.list('table', of)))).filter((each) => each !== null);
  const counts: RuleCount[] = [];
  for (const { name: writing, network, generation, of, isOver } of writings) {
    const own = parts.get(writing) ?? [];
    const listings = singly
      ? await Promise.all(tables.map((each) => listWriting(kernel, each, writing, own)))
      : whole;
    for (const [rule, sums] of sumsOf(writing, own, listings)) {
      counts.push({ destination: prefixText(network), generation, of, writing, isOver, rule, ...sums });
    }
  }
  return counts;
}

async function listWriting(
  kernel: Kernel,
  of: TableFamily,
  writing: string,
  parts: readonly Part[],
): Promise<Listing> {
  const asked = [{ kind: 'chain' as const, name: writing }, ...parts.filter(({ kind }) => kind !== 'set')];
  const lists = await Promise.all(asked.map(({ kind, name }) => kernel.list(kind, of, name)));
  return {
    chains: new Map(lists.flatMap((list) => [...(list?.chains ?? [])])),
    maps: new Map(lists.flatMap((list) => [...(list?.maps ?? [])])),
    sets: new Map(),
  };
}

function sumsOf(writing: string, parts: readonly Part[], listings: readonly Listing[]): Sums {
  const sums: Sums = new Map();
  const add = (rule: number | null, packets: number, bytes: number, dropped: boolean) => {
    const sum = sums.get(rule) ?? { packets: 0, bytes: 0, droppedPackets: 0, droppedBytes: 0 };
    if (dropped) {
      sum.droppedPackets += packets;
      sum.droppedBytes += bytes;
    } else {
      sum.packets += packets;
      sum.bytes += bytes;
    }
    sums.set(rule, sum);
  };
  for (const { chains, maps } of listings) {
    const marked = [
      ...(chains.get(writing) ?? []),
      ...(chains.get(`${writing}_later`) ?? []),
      ...parts.filter(({ kind }) => kind === 'map').flatMap(({ name }) => maps.get(name) ?? []),
    ];
    for (const { comment, packets, bytes } of marked) {
      if (comment !== null) add(comment === unmatchedMark ? null : Number(comment), packets, bytes, false);
    }
    for (const { kind, name } of parts) {
      if (kind !== 'chain') continue;
      const rule = Number(/_l(\d+)$/.exec(name)?.[1] ?? Number.NaN);
      if (Number.isNaN(rule)) continue;
      for (const { packets, bytes } of chains.get(name) ?? []) add(rule, packets, bytes, true);
    }
  }
  return sums;
}

/** Of all tables; what one of them had no room for is said. */
export async function readTraffic(kernel: Kernel, tables: readonly TableFamily[]): Promise<Traffic> {
  const found = new Map<string, Traffic['addresses'][number]>();
  const full = new Set<TrafficKind>();
  for (const of of tables) {
    for (const kind of countingSets) {
      for (const family of [4, 6]) {
        const elements =
          (await kernel.list('set', of, `${kind}${family}`))?.sets.get(`${kind}${family}`) ?? [];
        if (elements.length >= countedAtMost) full.add(kind);
        for (const { key, packets, bytes } of elements) {
          const [address, number] = keyOf(key);
          const before = found.get(`${kind} ${address} ${number}`);
          found.set(`${kind} ${address} ${number}`, {
            ...{ address, kind, of: number },
            ...{ packets: packets + (before?.packets ?? 0), bytes: bytes + (before?.bytes ?? 0) },
          });
        }
      }
    }
  }
  return { addresses: [...found.values()], full: [...full] };
}

/** An address, or one with a number behind it. */
function keyOf(key: unknown): [string, number | null] {
  if (typeof key === 'string') return [key, null];
  const [address, number] = (key as { concat: [string, number] }).concat;
  return [address, Number(number)];
}
