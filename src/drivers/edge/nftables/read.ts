import type { AddressTraffic, RuleCount, Traffic, TrafficKind } from '../contract.ts';
import { prefixText } from '../prefix.ts';
import { countedAtMost, countingSets, families, numberBytes, type TableFamily } from './base.ts';
import { unmatchedMark } from './compile.ts';
import type { CountedRule } from './counters.ts';
import type { Kernel, Listing } from './kernel.ts';
import type { Named } from './names.ts';
import type { Part, State } from './state.ts';

type Counted = Named & { isOver: boolean };
type Sums = Map<number | null, Pick<RuleCount, 'packets' | 'bytes' | 'droppedPackets' | 'droppedBytes'>>;

/** What a table has counted, by chain and by map. */
interface Counters {
  chains: ReadonlyMap<string, CountedRule[]>;
  maps: Listing['maps'];
}

/** Counters of these writings, over all tables. */
export async function countsOf(
  kernel: Kernel,
  { layout, parts, there }: State,
  writings: readonly Omit<Counted, 'rules'>[],
): Promise<RuleCount[]> {
  const names = writings.flatMap(({ name }) => [
    { kind: 'chain' as const, name },
    ...(parts.get(name) ?? []),
  ]);
  const listings: Counters[] = [];
  for (const of of layout.keys()) {
    const here = names.filter(({ name }) => there.get(of)?.has(name));
    const chains = here.filter(({ kind }) => kind === 'chain').map(({ name }) => name);
    const maps = here
      .filter(({ kind }) => kind === 'map')
      .map(({ name }) => ({ of, kind: 'map' as const, name }));
    const listed = (await kernel.list(maps)).get(of)?.maps ?? new Map();
    listings.push({ chains: await kernel.counters(of, chains), maps: listed });
  }
  return writings.flatMap(({ name: writing, network, generation, of, isOver }) =>
    [...sumsOf(writing, parts.get(writing) ?? [], listings)].map(([rule, sums]) => {
      return { destination: prefixText(network), generation, of, writing, isOver, rule, ...sums };
    }),
  );
}

function sumsOf(writing: string, parts: readonly Part[], listings: readonly Counters[]): Sums {
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
      ...(chains.get(`${writing}_syn`) ?? []),
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
  const sets = tables.flatMap((of) =>
    countingSets.flatMap((kind) =>
      families.map((family) => ({ of, kind, family, name: `${kind}${family}` })),
    ),
  );
  const found = new Map<string, AddressTraffic>();
  const full = new Set<TrafficKind>();
  const readings = sets.map(async ({ kind, ...set }) => {
    let elements = 0;
    await kernel.eachCount({ ...set, numberBytes: numberBytes[kind] }, (address, of, packets, bytes) => {
      elements += 1;
      const key = `${kind} ${address} ${of}`;
      const before = found.get(key);
      if (before === undefined) {
        found.set(key, { address, kind, of, packets, bytes });
        return;
      }
      before.packets += packets;
      before.bytes += bytes;
    });
    if (elements >= countedAtMost) full.add(kind);
  });
  await Promise.all(readings);
  return { addresses: [...found.values()], full: [...full] };
}
