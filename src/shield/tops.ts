import { addressText, type Head } from '../drivers/edge/index.ts';
import { within31Bits } from './ids.ts';

/** What packets have most, as public clients read it. */
export interface Top {
  name: string;
  type: string;
  /** Packets, at most 31 bits. */
  value: number;
}

/** Packets by what they have: ports (`udp 53`), length, and the number of the address that they are from (of IPv6 with an n). */
export interface Tops {
  dport: Map<string, number>;
  sport: Map<string, number>;
  plen: Map<string, number>;
  sip: Map<string, number>;
}

export type TopsView = Record<keyof Tops, Top[]>;

export function noTops(): Tops {
  return { dport: new Map(), sport: new Map(), plen: new Map(), sip: new Map() };
}

/** Of more than twice as many the most frequent are kept: a flood of false senders takes no more room. */
const keptAtMost = 1_000;
const shownAtMost = 10;

/** In place, as there are many. */
export function addToTops(tops: Tops, head: Head, packets: number): void {
  const protocol = portsOf(head.protocol);
  if (protocol !== null && head.sourcePort >= 0) {
    addTo(tops.dport, `${protocol} ${head.destinationPort}`, packets);
    addTo(tops.sport, `${protocol} ${head.sourcePort}`, packets);
  }
  addTo(tops.plen, String(head.length), packets);
  addTo(tops.sip, sourceName(head.source), packets);
}

export function sourceName(source: number | bigint): string {
  return typeof source === 'bigint' ? `${source}n` : String(source);
}

function portsOf(protocol: number): 'tcp' | 'udp' | null {
  return protocol === 6 ? 'tcp' : protocol === 17 ? 'udp' : null;
}

export function addTo(counts: Map<string, number>, name: string, packets: number): void {
  counts.set(name, (counts.get(name) ?? 0) + packets);
  if (counts.size <= 2 * keptAtMost) return;
  const kept = mostOf(counts, keptAtMost);
  counts.clear();
  for (const [each, count] of kept) counts.set(each, count);
}

/** The most frequent, those first. */
export function mostOf(counts: ReadonlyMap<string, number>, most: number): [string, number][] {
  return [...counts].toSorted(([, one], [, other]) => other - one).slice(0, most);
}

/** Ten of each at most, the most frequent first. */
export function viewTops(tops: Tops): TopsView {
  return {
    dport: viewPorts(tops.dport),
    sport: viewPorts(tops.sport),
    plen: viewCounts(tops.plen, (name) => [name, 'bytes']),
    sip: viewCounts(tops.sip, (name) =>
      name.endsWith('n')
        ? [addressText(6, BigInt(name.slice(0, -1))), 'ipv6']
        : [addressText(4, BigInt(name)), 'ipv4'],
    ),
  };
}

function viewPorts(counts: ReadonlyMap<string, number>): Top[] {
  return viewCounts(counts, (name) => {
    const [protocol = '', port = ''] = name.split(' ');
    return [port, protocol];
  });
}

export function viewCounts(
  counts: ReadonlyMap<string, number>,
  named: (name: string) => [name: string, type: string],
): Top[] {
  return mostOf(counts, shownAtMost).map(([each, value]) => {
    const [name, type] = named(each);
    return { name, type, value: within31Bits(value) };
  });
}
