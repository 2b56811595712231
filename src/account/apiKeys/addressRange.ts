import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * A network such as `192.0.2.0/24`, or one address, in the form in which they are compared; null when it is neither. A network
 * says nothing beyond its length: `192.0.2.1/24` is a mistake, of which {@link networkAround} says what was meant.
 */
export function addressRange(text: string): string | null {
  const read = readRange(text);
  return read !== null && read.range === read.network ? read.range : null;
}

/** The network that an address with a length lies in, `192.0.2.0/24` of `192.0.2.1/24`; null of what is no address. */
export function networkAround(text: string): string | null {
  return readRange(text)?.network ?? null;
}

function readRange(text: string): { range: string; network: string } | null {
  const [written = '', length, ...more] = text.split('/');
  const address = plainAddress(written);
  if (more.length > 0 || isIP(address) === 0 || address.includes('%')) return null;
  // Readers differ in what `::192.0.2.1` is.
  if (address.includes(':') && address.includes('.')) return null;
  const plain = ipaddr.parse(address).toString();
  if (length === undefined) return { range: plain, network: plain };
  const bits = isIP(address) === 4 ? 32 : 128;
  if (address !== written || !/^(0|[1-9]\d{0,2})$/.test(length) || Number(length) > bits) return null;
  const family = bits === 32 ? ipaddr.IPv4 : ipaddr.IPv6;
  const range = `${plain}/${length}`;
  return { range, network: `${family.networkAddressFromCIDR(range)}/${length}` };
}

/** An IPv4 address as it is, also where a socket of both families writes it as IPv6. */
export function plainAddress(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}
