import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { refuse } from '../platform/index.ts';

/** How large a pool may be. IPv4 hosts are listed one by one; IPv6 hosts are drawn, which takes some to draw from. */
const prefixes = { ipv4: [16, 30], ipv6: [32, 120] } as const;
/** Networks that no machine can live in. */
const unusable = new Set([
  'unspecified',
  'broadcast',
  'multicast',
  'linkLocal',
  'loopback',
  'ipv4Mapped',
  'rfc6145',
]);

/** Holds the network of a pool against what can be one; `invalid_request` says what is wrong. */
export function checkNetwork(network: string): void {
  const [text = '', prefixText = ''] = network.split('/');
  if (isIP(text) === 0 || text.includes('%') || !/^(0|[1-9]\d{0,2})$/.test(prefixText)) {
    throw refuse('network', 'must be a network such as 192.0.2.0/24 or 2001:db8::/64');
  }
  const base = ipaddr.parse(text);
  const prefix = Number(prefixText);
  const [min, max] = prefixes[base.kind()];
  if (prefix < min || prefix > max) throw refuse('network', `its prefix must be from /${min} to /${max}`);
  if (firstAddress(base, prefix) !== base.toString()) {
    throw refuse('network', `has host bits set; the network is ${firstAddress(base, prefix)}/${prefix}`);
  }
  const isClassE = base.kind() === 'ipv4' && (base.toByteArray()[0] ?? 0) >= 240;
  if (unusable.has(base.range()) || isClassE) throw refuse('network', 'is not for machines');
}

function firstAddress(base: ipaddr.IPv4 | ipaddr.IPv6, prefix: number): string {
  return base.kind() === 'ipv4'
    ? ipaddr.IPv4.networkAddressFromCIDR(`${base}/${prefix}`).toString()
    : ipaddr.IPv6.networkAddressFromCIDR(`${base}/${prefix}`).toString();
}

/** An address of a network, as the database writes it; neither the network's own nor its broadcast address. */
export function addressIn(network: string, address: string, field = 'gateway'): string {
  const [base, prefix] = ipaddr.parseCIDR(network);
  if (isIP(address) === 0 || address.includes('%')) throw refuse(field, 'must be an IP address');
  const parsed = ipaddr.parse(address);
  if (parsed.kind() !== base.kind() || !parsed.match(base, prefix))
    throw refuse(field, `must be in ${network}`);
  const last = base.kind() === 'ipv4' ? ipaddr.IPv4.broadcastAddressFromCIDR(network).toString() : null;
  if (parsed.toString() === base.toString() || parsed.toString() === last) {
    throw refuse(field, 'must be a host of the network');
  }
  return parsed.toString();
}

export function firstHost(network: string): string {
  const bytes = ipaddr.parseCIDR(network)[0].toByteArray();
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) + 1;
  return ipaddr.fromByteArray(bytes).toString();
}
