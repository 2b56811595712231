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
  const [address = '', length, ...more] = text.split('/');
  const family = isIPv4(address) ? 4 : isIPv6(address) && !address.includes('%') ? 6 : null;
  if (family === null || more.length > 0) throw invalid(`not a network: ${JSON.stringify(text)}`);
  const bits = bitsOf[family];
  const wanted = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  if (!(wanted <= bits)) throw invalid(`not a length of a network: ${JSON.stringify(text)}`);
  const first = addressNumber(address);
  const hosts = (1n << BigInt(bits - wanted)) - 1n;
  if ((first & hosts) !== 0n) throw invalid(`host bits are set: ${text}`);
  return { family, first, last: first | hosts, length: wanted };
}

export function addressNumber(address: string): bigint {
  return BigInt(`0x${Buffer.from(ipaddr.parse(address).toByteArray()).toString('hex')}`);
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
