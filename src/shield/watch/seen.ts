import type { AddressTraffic, Traffic } from '../../drivers/edge/index.ts';

export interface Amount {
  packets: number;
  bytes: number;
}

/** What came to one address between two readings. `syn`, `fragments` and `reflection` are parts of the others. */
export interface Seen {
  tcp: Amount;
  udp: Amount;
  icmp: Amount;
  other: Amount;
  syn: Amount;
  fragments: Amount;
  /** By the source port that reflects. */
  reflection: ReadonlyMap<number, Amount>;
  /**
   * What of TCP that is connected, and of UDP that nobody reflects, are transfers, as samples show it; those of UDP may be ones that the
   * guest has asked for, by their ports. Null: there were too few samples to tell.
   */
  transfers?: { tcp: Share | null; udp: { asked: Share; unasked: Share } | null } | undefined;
}

/** Parts of one. */
export interface Share {
  packets: number;
  bytes: number;
}

export const nothing: Amount = { packets: 0, bytes: 0 };

/** What an edge had counted when it was read, to be held against the next reading. */
export type Counted = ReadonlyMap<string, AddressTraffic>;

export function countedOf({ addresses }: Traffic): Counted {
  return new Map(addresses.map((each) => [`${each.address} ${each.kind} ${each.of}`, each]));
}

/**
 * What came since, by address; those to which nothing came are left out. A count that is lower than before began again at zero,
 * as did one that was not there.
 */
export function seenSince(before: Counted, now: Counted): Map<string, Seen> {
  const found = new Map<string, Seen>();
  for (const [key, count] of now) {
    const last = before.get(key);
    const goesOn = last !== undefined && last.packets <= count.packets && last.bytes <= count.bytes;
    const packets = count.packets - (goesOn ? last.packets : 0);
    if (packets === 0) continue;
    const bytes = count.bytes - (goesOn ? last.bytes : 0);
    found.set(count.address, plus(found.get(count.address), count, { packets, bytes }));
  }
  return found;
}

/** Everything that came to it. */
export function allOf({ tcp, udp, icmp, other }: Seen): Amount {
  return [tcp, udp, icmp, other].reduce(sum);
}

export function sum(one: Amount, other: Amount): Amount {
  return { packets: one.packets + other.packets, bytes: one.bytes + other.bytes };
}

/** Without a part of it, which may have been counted a moment later. */
export function without(whole: Amount, part: Amount): Amount {
  return {
    packets: Math.max(0, whole.packets - part.packets),
    bytes: Math.max(0, whole.bytes - part.bytes),
  };
}

export const nothingSeen: Seen = {
  ...{ tcp: nothing, udp: nothing, icmp: nothing, other: nothing, syn: nothing, fragments: nothing },
  reflection: new Map(),
};

const protocols: Readonly<Record<number, 'tcp' | 'udp' | 'icmp'>> = {
  1: 'icmp',
  6: 'tcp',
  17: 'udp',
  58: 'icmp',
};

function plus(seen: Seen = nothingSeen, { kind, of }: AddressTraffic, amount: Amount): Seen {
  if (kind === 'syn') return { ...seen, syn: sum(seen.syn, amount) };
  if (kind === 'fragment') return { ...seen, fragments: sum(seen.fragments, amount) };
  if (kind === 'reflection') {
    const port = of ?? 0;
    const reflection = new Map(seen.reflection).set(port, sum(seen.reflection.get(port) ?? nothing, amount));
    return { ...seen, reflection };
  }
  const protocol = protocols[of ?? -1] ?? 'other';
  return { ...seen, [protocol]: sum(seen[protocol], amount) };
}
