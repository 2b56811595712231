import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { DnsError } from './contract.ts';

/** The name under which DNS keeps an address: `4.3.2.1.in-addr.arpa.`, or 32 nibbles and `ip6.arpa.` */
export function pointerName(address: string): string {
  if (isIP(address) === 0 || address.includes('%')) {
    throw new DnsError('name_invalid', `not an address: ${JSON.stringify(address)}`, { permanent: true });
  }
  const parsed = ipaddr.parse(address);
  const bytes = parsed.toByteArray();
  if (parsed.kind() === 'ipv4') return `${bytes.reverse().join('.')}.in-addr.arpa.`;
  const nibbles = bytes.flatMap((byte) => [byte >> 4, byte & 15]).reverse();
  return `${nibbles.map((nibble) => nibble.toString(16)).join('.')}.ip6.arpa.`;
}

/** Holds a hostname against RFC 1123; what passes cannot be anything but one name in a record. */
export function checkName(name: string): void {
  const labels = name.split('.');
  const valid =
    name.length <= 253 &&
    labels.every((label) => /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(label));
  if (valid) return;
  throw new DnsError('name_invalid', `not a hostname: ${JSON.stringify(name)}`, { permanent: true });
}
