import type { Action } from '../contract.ts';
import { invalid, type Network } from '../prefix.ts';

/** Path attributes on the wire (RFC 4271, and what is named beside each). */

const kinds = { origin: 1, nextHop: 3, communities: 8, extended: 16, large: 32 } as const;
const transitive = 0x40;
const optional = 0xc0;

/** A large community (RFC 8092) by which this product knows its own routes, of an AS number for private use (RFC 6996). */
const mark = numbers(4_208_852_993, 0x696e6e6b, 0x65657065);
/** RFC 7999. */
const blackhole = 0xffff_029a;
/** Traffic-rate-bytes of nobody's AS, at zero: RFC 8955, section 7.1. */
const rateOfZero = numbers(0x8006_0000, 0);

/** A router discards what is denied; what is permitted has no action, and ends the router's search. */
export function flowAttributes(family: 4 | 6, action: Action): Buffer[] {
  const discard = action === 'deny' ? [attribute(optional, kinds.extended, rateOfZero)] : [];
  return [...begin(unspecified(family)), ...discard, marked()];
}

/** `communities` come beside the well-known one. */
export function blackholeAttributes(nextHop: Buffer, communities: readonly number[] = []): Buffer[] {
  const all = [...new Set([blackhole, ...communities])];
  return [...begin(nextHop), attribute(optional, kinds.communities, numbers(...all)), marked()];
}

/** `64500:666`; fails for what is none. */
export function communityNumber(text: string): number {
  const [, high, low] = /^(\d{1,5}):(\d{1,5})$/.exec(text) ?? [];
  if (high === undefined || low === undefined || Number(high) > 65_535 || Number(low) > 65_535)
    throw invalid(`not a community: ${text}`);
  return Number(high) * 65_536 + Number(low);
}

/** Of what gobgpd only keeps. */
export function noteAttributes(): Buffer[] {
  return begin(unspecified(4));
}

export function isOurs(attributes: readonly Buffer[]): boolean {
  return found(attributes, kinds.large)?.equals(mark) ?? false;
}

export function actionOf(attributes: readonly Buffer[]): Action {
  return found(attributes, kinds.extended) === null ? 'permit' : 'deny';
}

/** A network in an announcement: its length, and so many bits of it. */
export function networkBytes({ family, first, length }: Network): Buffer {
  return Buffer.from([length, ...addressBytes(family, first).subarray(0, Math.ceil(length / 8))]);
}

export function addressBytes(family: 4 | 6, address: bigint): Buffer {
  return Buffer.from(address.toString(16).padStart(family === 4 ? 8 : 32, '0'), 'hex');
}

/** gobgpd puts its own address there. */
export function unspecified(family: 4 | 6): Buffer {
  return Buffer.alloc(family === 4 ? 4 : 16);
}

function begin(nextHop: Buffer): Buffer[] {
  return [
    attribute(transitive, kinds.origin, Buffer.from([0])),
    attribute(transitive, kinds.nextHop, nextHop),
  ];
}

function marked(): Buffer {
  return attribute(optional, kinds.large, mark);
}

function attribute(flags: number, kind: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([flags, kind, value.length]), value]);
}

/** Attributes may have a length of two bytes, and say so. */
function found(attributes: readonly Buffer[], kind: number): Buffer | null {
  const one = attributes.find((each) => each[1] === kind);
  if (one === undefined) return null;
  return one.subarray(((one[0] ?? 0) & 0x10) === 0 ? 3 : 4);
}

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, at * 4);
  return bytes;
}
