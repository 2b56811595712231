import type { Ranges, TcpFlag } from '../contract.ts';
import type { Network } from '../prefix.ts';
import { tidyRanges } from '../ranges.ts';
import { type Flow, notSaid } from './flow.ts';

/**
 * Flow specifications as routers get them (RFC 8955, RFC 8956 for IPv6): a length, then components by rising type. One flow
 * has one text here, so that what is told again is the same route.
 */

const types = {
  ...{ destination: 1, source: 2, protocols: 3, destinationPorts: 5, sourcePorts: 6 },
  ...{ flags: 9, lengths: 10, dscp: 11, fragment: 12 },
} as const;
const bits: Readonly<Record<TcpFlag, number>> = { fin: 1, syn: 2, rst: 4, psh: 8, ack: 16, urg: 32 };
/** Any part of a packet: one that is not the first, or the first of several. */
const partOfPacket = 0x02 | 0x04;

const operator = { end: 0x80, and: 0x40, twoBytes: 0x10 } as const;
const compare = { equal: 1, above: 2, below: 4 } as const;
const bitmask = { not: 2, all: 1 } as const;

/** Beyond it a length takes two bytes, and GoBGP 3.10 sends something else than what it was told. */
const longest = 238;

/** Fails with `not_supported` when there is too much for one flow. */
export function encodeFlow(flow: Flow): Buffer {
  const parts = [
    prefixBytes(types.destination, flow.destination),
    flow.source === null ? [] : prefixBytes(types.source, flow.source),
    rangesBytes(types.protocols, flow.protocols),
    rangesBytes(types.destinationPorts, flow.destinationPorts),
    rangesBytes(types.sourcePorts, flow.sourcePorts),
    flagsBytes(flow.flags),
    rangesBytes(types.lengths, flow.lengths, lengthsBound(flow.destination.family)),
    rangesBytes(types.dscp, flow.dscp),
    fragmentBytes(flow.fragment),
  ].flat();
  if (parts.length > longest) throw notSaid('its ranges are too many for one flow specification');
  return Buffer.from([parts.length, ...parts]);
}

/** Of what `encodeFlow` wrote, and of nothing else: null. */
export function decodeFlow(bytes: Buffer, family: 4 | 6): Flow | null {
  const flow = read(bytes, family);
  try {
    return flow !== null && encodeFlow(flow).equals(bytes) ? flow : null;
  } catch {
    return null;
  }
}

/**
 * Which of two flows routers look at first, as RFC 8955 has it (section 5.1): below zero where it is the first. Zero for the
 * same flow alone.
 */
export function flowOrder(one: Buffer, other: Buffer, family: 4 | 6): number {
  const [some, others] = [components(one, family), components(other, family)];
  for (let at = 0; at < Math.max(some.length, others.length); at += 1) {
    const [a, b] = [some[at], others[at]];
    if (a === undefined) return 1;
    if (b === undefined) return -1;
    if (a.type !== b.type) return a.type - b.type;
    const order =
      a.type <= types.source ? prefixOrder(a.value, b.value, family) : bytesOrder(a.value, b.value);
    if (order !== 0) return order;
  }
  return 0;
}

interface Component {
  type: number;
  value: Buffer;
}

/** The narrower of two that hold each other, else the lower. */
function prefixOrder(a: Buffer, b: Buffer, family: 4 | 6): number {
  const [one, other] = [networkOf(a, family), networkOf(b, family)];
  const isApart = one.last < other.first || other.last < one.first;
  if (!isApart) return other.length - one.length;
  return one.first < other.first ? -1 : 1;
}

/** The longer of two that begin alike, else the lower. */
function bytesOrder(a: Buffer, b: Buffer): number {
  const shared = Math.min(a.length, b.length);
  return Buffer.compare(a.subarray(0, shared), b.subarray(0, shared)) || b.length - a.length;
}

function prefixBytes(type: number, { family, first, length }: Network): number[] {
  const address = Buffer.from(first.toString(16).padStart(family === 4 ? 8 : 32, '0'), 'hex');
  const pattern = [...address.subarray(0, Math.ceil(length / 8))];
  return family === 4 ? [type, length, ...pattern] : [type, length, 0, ...pattern];
}

/** `unbounded` is the end of a range that has none. */
function rangesBytes(type: number, ranges: Ranges | null, unbounded = Number.POSITIVE_INFINITY): number[] {
  if (ranges === null) return [];
  const items = ranges.flatMap(([from, to]): [number, number][] => {
    if (from === to) return [[compare.equal, from]];
    if (to >= unbounded) return [[compare.above | compare.equal, from]];
    return [
      [compare.above | compare.equal, from],
      [operator.and | compare.below | compare.equal, to],
    ];
  });
  return [type, ...itemsBytes(items)];
}

function flagsBytes(flags: Flow['flags']): number[] {
  if (flags === null) return [];
  const mask = (isSet: boolean) =>
    Object.entries(flags).reduce(
      (sum, [flag, each]) => (each === isSet ? sum | bits[flag as TcpFlag] : sum),
      0,
    );
  const items: [number, number][] = [];
  if (mask(true) !== 0) items.push([bitmask.all, mask(true)]);
  if (mask(false) !== 0) items.push([bitmask.not | (items.length > 0 ? operator.and : 0), mask(false)]);
  return [types.flags, ...itemsBytes(items)];
}

function fragmentBytes(fragment: boolean | null): number[] {
  return fragment === null
    ? []
    : [types.fragment, ...itemsBytes([[fragment ? 0 : bitmask.not, partOfPacket]])];
}

function itemsBytes(items: readonly (readonly [number, number])[]): number[] {
  return items.flatMap(([op, value], at) => {
    const end = at === items.length - 1 ? operator.end : 0;
    return value < 256 ? [op | end, value] : [op | end | operator.twoBytes, value >> 8, value & 255];
  });
}

function lengthsBound(family: 4 | 6): number {
  return family === 4 ? 65_536 : 65_575;
}

/** Null where it is cut short. */
function componentsOf(bytes: Buffer, family: 4 | 6): Component[] | null {
  const found: Component[] = [];
  let at = 1;
  while (at < bytes.length) {
    const begin = at + 1;
    const type = bytes[at] ?? 0;
    if (type <= types.source) {
      at = begin + (family === 4 ? 1 : 2) + Math.ceil((bytes[begin] ?? 0) / 8);
    } else {
      let op = 0;
      at = begin;
      while ((op & operator.end) === 0) {
        op = bytes[at] ?? operator.end;
        at += 1 + (1 << ((op >> 4) & 3));
      }
    }
    if (at > bytes.length) return null;
    found.push({ type, value: bytes.subarray(begin, at) });
  }
  return found;
}

function components(bytes: Buffer, family: 4 | 6): Component[] {
  return componentsOf(bytes, family) ?? [];
}

function networkOf(value: Buffer, family: 4 | 6): Network {
  const length = value[0] ?? 0;
  const size = family === 4 ? 4 : 16;
  const address = Buffer.concat([value.subarray(family === 4 ? 1 : 2), Buffer.alloc(size)]).subarray(0, size);
  const first = BigInt(`0x${address.toString('hex')}`);
  return { family, length, first, last: first | ((1n << BigInt(size * 8 - length)) - 1n) };
}

function read(bytes: Buffer, family: 4 | 6): Flow | null {
  const found = componentsOf(bytes, family);
  if (found === null) return null;
  const of = (type: number) => found.find((each) => each.type === type)?.value;
  const isNetwork = (value: Buffer) => (value[0] ?? 0) <= (family === 4 ? 32 : 128);
  const [destination, source] = [of(types.destination), of(types.source)];
  if (destination === undefined || !isNetwork(destination) || (source && !isNetwork(source))) return null;
  const ranges = (type: number, unbounded = 0) => {
    const value = of(type);
    return value === undefined ? null : rangesOf(value, unbounded);
  };
  const [flags, fragment] = [of(types.flags), of(types.fragment)];
  return {
    destination: networkOf(destination, family),
    source: source === undefined ? null : networkOf(source, family),
    protocols: ranges(types.protocols),
    destinationPorts: ranges(types.destinationPorts),
    sourcePorts: ranges(types.sourcePorts),
    flags: flags === undefined ? null : flagsOf(flags),
    lengths: ranges(types.lengths, lengthsBound(family)),
    dscp: ranges(types.dscp),
    fragment: fragment === undefined ? null : ((fragment[0] ?? 0) & bitmask.not) === 0,
  };
}

function itemsOf(value: Buffer): [number, number][] {
  const items: [number, number][] = [];
  for (let at = 0; at < value.length; ) {
    const op = value[at] ?? 0;
    const size = 1 << ((op >> 4) & 3);
    items.push([op, Number(`0x0${value.subarray(at + 1, at + 1 + size).toString('hex')}`)]);
    at += 1 + size;
  }
  return items;
}

function rangesOf(value: Buffer, unbounded: number): Ranges {
  const ranges: [number, number][] = [];
  for (const [op, number] of itemsOf(value)) {
    const last = ranges.at(-1);
    if ((op & operator.and) !== 0 && last !== undefined) last[1] = number;
    else ranges.push([number, (op & compare.above) === 0 ? number : unbounded]);
  }
  return tidyRanges(ranges);
}

function flagsOf(value: Buffer): NonNullable<Flow['flags']> {
  const names = Object.entries(bits) as [TcpFlag, number][];
  return Object.fromEntries(
    itemsOf(value).flatMap(([op, mask]) =>
      names.filter(([, bit]) => (mask & bit) !== 0).map(([flag]) => [flag, (op & bitmask.not) === 0]),
    ),
  );
}
