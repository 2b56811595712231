import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { EdgeError, type Prefix } from './contract.ts';

/** A network as numbers: the text of others ends here. */
export interface Network {
  family: 4 | 6;
  first: bigint;
  last: bigint;
  length: number;
}

const bitsOf = { 4: 32, 6: 128 } as const;

/** Fails with `policy_invalid` for what is no network, or has host bits. */
export function parsePrefix(text: string): Network {
  const network = readPrefix(text);
  if (typeof network === 'string') throw invalid(`${JSON.stringify(text)} ${network}`);
  return network;
}

/** The same of what somebody wrote: in words for them, what it must be. */
export function readPrefix(text: string): Network | string {
  const [address = '', length, ...more] = text.split('/');
  const family = isIPv4(address) ? 4 : isIPv6(address) && !address.includes('%') ? 6 : null;
  if (family === null || more.length > 0)
    return 'must be an address or a network, such as 203.0.113.10 or 203.0.113.0/24';
  const bits = bitsOf[family];
  const wanted =
    length === undefined ? bits : /^(0|[1-9]\d{0,2})$/.test(length) ? Number(length) : Number.NaN;
  if (!(wanted <= bits)) return `must have a length from 0 to ${bits} after the slash`;
  const network = networkAt(family, addressNumber(address), wanted);
  return addressNumber(address) === network.first
    ? network
    : 'has bits set behind its length: it is no network';
}

/** The network of this length that an address is in. */
function networkAt(family: 4 | 6, address: bigint, length: number): Network {
  const hosts = (1n << BigInt(bitsOf[family] - length)) - 1n;
  const first = address & ~hosts;
  return { family, first, last: first | hosts, length };
}

/** Every network that holds this one, itself included, the widest first. */
export function wider({ family, first, length }: Network): Network[] {
  return Array.from({ length: length + 1 }, (_, shorter) => networkAt(family, first, shorter));
}

export function addressNumber(address: string): bigint {
  const read = ipaddr.parse(withoutDots(address));
  return BigInt(`0x${Buffer.from(read.toByteArray()).toString('hex')}`);
}

/** IPv6 with its last part written as IPv4 is: of `::192.0.2.1` ipaddr.js makes `::ffff:192.0.2.1`, which is another address. */
function withoutDots(address: string): string {
  if (!address.includes(':')) return address;
  return address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
}

/** As everybody writes it (RFC 5952), always with its length. */
export function prefixText({ family, first, length }: Network): Prefix {
  return `${addressText(family, first)}/${length}`;
}

/** Without the length where it is a single address. */
export function shortText(network: Network): string {
  return isSingle(network) ? addressText(network.family, network.first) : prefixText(network);
}

export function addressText(family: 4 | 6, value: bigint): string {
  const hex = value.toString(16).padStart(bitsOf[family] / 4, '0');
  const address = ipaddr.fromByteArray([...Buffer.from(hex, 'hex')]);
  return address.kind() === 'ipv6' ? (address as ipaddr.IPv6).toRFC5952String() : address.toString();
}

/** The one way to write a destination, whichever came. */
export function canonical(text: string): Prefix {
  return prefixText(parsePrefix(text));
}

export function isSingle({ family, length }: Network): boolean {
  return length === bitsOf[family];
}

export function holds(outer: Network, inner: Network): boolean {
  return outer.family === inner.family && outer.first <= inner.first && inner.last <= outer.last;
}

/** Of an address of the same family. */
export function isIn({ first, last }: Network, address: bigint): boolean {
  return first <= address && address <= last;
}

/** Two networks overlap only by one holding the other. */
export function overlaps(a: Network, b: Network): boolean {
  return holds(a, b) || holds(b, a);
}

/** Without those that lie within others, in order. */
export function widest(networks: readonly Network[]): Network[] {
  const sorted = networks.toSorted((a, b) =>
    a.first === b.first ? a.length - b.length : a.first < b.first ? -1 : 1,
  );
  const kept: Network[] = [];
  for (const each of sorted) {
    const before = kept.at(-1);
    if (before === undefined || !holds(before, each)) kept.push(each);
  }
  return kept;
}

export function invalid(message: string): EdgeError {
  return new EdgeError('policy_invalid', message, { permanent: true });
}
