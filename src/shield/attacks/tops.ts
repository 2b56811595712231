import type { SourceNames } from '../names/names.ts';
import { prefixFrom } from '../prefix.ts';
import { addTo, addToTops, mostOf, noTops, sourceName, type Tops, viewCounts, viewTops } from '../tops.ts';
import type { Attack } from '../watch/detect.ts';
import { kindOf } from '../watch/kindOf.ts';
import { isFrom, type Looked } from '../watch/samples.ts';

/** What packets of an attack had most, and whose networks they came from. */
export interface AttackTops extends Tops {
  asn: Map<string, number>;
  country: Map<string, number>;
  /** Senders whose networks are still to be named. */
  unnamed: Map<string, number>;
}

const kept = ['dport', 'sport', 'plen', 'sip', 'asn', 'country'] as const satisfies (keyof AttackTops)[];
const writtenAtMost = 30;

/** As they stand in a row: of each the most frequent. */
export type WrittenTops = Partial<Record<(typeof kept)[number], [name: string, packets: number][]>>;

export function noAttackTops(): AttackTops {
  return { ...noTops(), asn: new Map(), country: new Map(), unnamed: new Map() };
}

/** Adds, in place, what samples of one address show of an attack on it. `spared` are networks whose traffic is no attack. */
export function addSamples(
  tops: AttackTops,
  samples: readonly Looked[],
  { kind }: Pick<Attack, 'kind'>,
  spared: readonly string[],
): void {
  const networks = spared.map(prefixFrom);
  for (const { head, packets } of samples) {
    if ((kind !== 'total' && kindOf(head) !== kind) || isFrom(networks, head)) continue;
    addToTops(tops, head, packets);
    addTo(tops.unnamed, sourceName(head.source), packets);
  }
}

/** Adds up whose networks they came from, once the names are known. */
export function nameSources(tops: AttackTops, names: SourceNames | null): void {
  if (names === null) return;
  for (const [source, packets] of tops.unnamed) {
    const address = source.endsWith('n') ? BigInt(source.slice(0, -1)) : Number(source);
    const [asn, country] = [names.asnOf(address), names.countryOf(address)];
    if (asn !== null) addTo(tops.asn, asn, packets);
    if (country !== null) addTo(tops.country, country, packets);
  }
  tops.unnamed.clear();
}

export function writtenOf(tops: AttackTops): WrittenTops {
  return Object.fromEntries(kept.map((name) => [name, mostOf(tops[name], writtenAtMost)]));
}

export function topsFrom(written: WrittenTops): AttackTops {
  const tops = noAttackTops();
  for (const name of kept) tops[name] = new Map(written[name] ?? []);
  return tops;
}

/** As public clients read it. Of ports that packets are reflected from `ports` has all, counted and not estimated. */
export function viewAttackTops(written: WrittenTops, ports: Readonly<Record<string, number>>) {
  const tops = topsFrom(written);
  for (const [port, packets] of Object.entries(ports)) tops.sport.set(`udp ${port}`, packets);
  return {
    ...viewTops(tops),
    'src-asn': viewCounts(tops.asn, (name) => [name, 'asn']),
    'src-country': viewCounts(tops.country, (name) => [name, 'country']),
  };
}
