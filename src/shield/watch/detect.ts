import { downloadBytes, transferBytes } from './lengths.ts';
import type { Kind, Limit, Limits } from './limits.ts';
import { type Amount, allOf, nothing, type Seen, type Share, sum, without } from './seen.ts';

/** One reading of an address. */
export interface Reading {
  at: Date;
  /** Since the reading before. */
  seconds: number;
  seen: Seen;
}

/** What is going on at an address. It is an attack from the second reading on, and until `endedAt`. */
export interface Attack {
  kind: Kind;
  /** Of a reflection: the port that most of it came from. */
  of: number | null;
  /** How far above its limit it was at most. */
  ratio: number;
  readings: number;
  startedAt: Date;
  /** When it was above a limit last. */
  lastOverAt: Date;
  endedAt: Date | null;
  peakPps: number;
  peakMbps: number;
  /** All that came while it was above. */
  packets: number;
  bytes: number;
  /** Packets by the port that they were reflected from. */
  ports: Readonly<Record<number, number>>;
}

const readingsToStart = 2;
const quietMs = 30_000;

/** UDP services that people use for traffic of their own: a tunnel and a remote desktop. Counted as any other UDP. */
export const carriers = [1194, 3389];
/** What does not count of UDP that may be a download where no samples tell, and of one in the sum of all. */
const unsure: Share = { packets: 2 / 3, bytes: 2 / 3 };

export function isAttack({ readings }: Attack): boolean {
  return readings >= readingsToStart;
}

/**
 * What is going on at an address after one more reading, given what was before it: null while nothing is. It starts with the second
 * reading in a row that is above a limit, and ends once thirty seconds brought none; it is one attack also where its kind changes
 * meanwhile, and bears the name of what was furthest above its limit. `limits` null: nothing is an attack.
 */
export function follow(before: Attack | null, reading: Reading, limits: Limits | null): Attack | null {
  const going = before === null || before.endedAt !== null ? null : before;
  const found = limits === null ? null : judgeReading(reading, limits);
  if (found === null) {
    if (going === null || !isAttack(going)) return null;
    const isOver = reading.at.getTime() - going.lastOverAt.getTime() >= quietMs;
    return isOver ? { ...going, endedAt: going.lastOverAt } : going;
  }
  return grown(going ?? begun(reading), found, reading);
}

function begun({ at }: Reading): Attack {
  return {
    ...{ kind: 'total', of: null, ratio: 0, readings: 0, startedAt: at, lastOverAt: at, endedAt: null },
    ...{ peakPps: 0, peakMbps: 0, packets: 0, bytes: 0, ports: {} },
  };
}

function grown(attack: Attack, found: Found, { at, seconds, seen }: Reading): Attack {
  const all = allOf(seen);
  const ports = { ...attack.ports };
  for (const [port, { packets }] of seen.reflection) ports[port] = (ports[port] ?? 0) + packets;
  return {
    ...attack,
    ...(found.ratio > attack.ratio ? found : {}),
    readings: attack.readings + 1,
    lastOverAt: at,
    peakPps: Math.max(attack.peakPps, all.packets / seconds),
    peakMbps: Math.max(attack.peakMbps, mbpsOf(all, seconds)),
    packets: attack.packets + all.packets,
    bytes: attack.bytes + all.bytes,
    ports,
  };
}

/** A kind of traffic that is above its limit, and how far. */
export interface Found {
  kind: Kind;
  of: number | null;
  ratio: number;
}

/** What of a reading is above a limit: the kind that is furthest above, and the sum of all only where no kind alone is. */
export function judgeReading(reading: Pick<Reading, 'seen' | 'seconds'>, limits: Limits): Found | null {
  const all = overLimits(reading, limits);
  return all.reduce<Found | null>(
    (most, each) => (most === null || each.ratio > most.ratio ? each : most),
    null,
  );
}

/** Every kind that is above its limit; the sum of all only where no kind alone is. */
export function overLimits({ seen, seconds }: Pick<Reading, 'seen' | 'seconds'>, limits: Limits): Found[] {
  const { total, ...parts } = partsOf(seen);
  const found = (Object.entries(parts) as [Exclude<Kind, 'total'>, Amount][])
    .map(([kind, amount]) => ({ kind, ratio: above(amount, seconds, limits[kind]) }))
    .filter(({ ratio }) => ratio >= 1)
    .map((each) => ({ ...each, of: each.kind === 'reflection' ? busiestPort(seen) : null }));
  if (found.length > 0) return found;
  const ofAll = above(total, seconds, limits.total);
  return ofAll >= 1 ? [{ kind: 'total', of: null, ratio: ofAll }] : [];
}

/**
 * Each packet belongs to one kind, and to the total. Transfers do not count: where samples tell which packets those are, these; else
 * all of TCP where its packets are large, and two thirds of UDP where its are.
 */
export function partsOf(seen: Seen): Record<Kind, Amount> {
  const reflection = [...reflected(seen)].map(([, amount]) => amount).reduce(sum, nothing);
  const plain = without(without(seen.udp, reflection), seen.fragments);
  const connected = without(seen.tcp, seen.syn);
  const { tcp, udp } = seen.transfers ?? { tcp: null, udp: null };
  const transfer =
    tcp === null ? (isOfLength(connected, transferBytes) ? connected : nothing) : part(connected, tcp);
  const download = udp === null ? nothing : part(plain, udp.asked);
  const mayBe = udp !== null ? part(plain, udp.unasked) : isOfLength(plain, downloadBytes) ? plain : nothing;
  return {
    ...{ fragments: seen.fragments, reflection, syn: seen.syn, icmp: seen.icmp, other: seen.other },
    ...{ ack: without(connected, transfer), udp: without(without(plain, download), part(mayBe, unsure)) },
    // Nobody answers for UDP: who sends very much of it is stopped all the same.
    total: without(without(allOf(seen), transfer), part(download, unsure)),
  };
}

/** By port that reflects, those left out that people use for traffic of their own. */
export function reflected({ reflection }: Seen): [number, Amount][] {
  return [...reflection].filter(([port]) => !carriers.includes(port));
}

function busiestPort(seen: Seen): number | null {
  const [most] = reflected(seen).toSorted(([, one], [, other]) => other.packets - one.packets);
  return most?.[0] ?? null;
}

function isOfLength({ packets, bytes }: Amount, least: number): boolean {
  return packets > 0 && bytes / packets >= least;
}

function part({ packets, bytes }: Amount, share: Share): Amount {
  return { packets: packets * share.packets, bytes: bytes * share.bytes };
}

function above(amount: Amount, seconds: number, { pps, mbps }: Limit): number {
  return Math.max(
    pps === null ? 0 : amount.packets / seconds / pps,
    mbps === null ? 0 : mbpsOf(amount, seconds) / mbps,
  );
}

function mbpsOf({ bytes }: Amount, seconds: number): number {
  return (bytes * 8) / 1e6 / seconds;
}
