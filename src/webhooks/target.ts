import ipaddr from 'ipaddr.js';
import { type Context, fail } from '../platform/index.ts';

const securePorts = new Set(['', '443', '8443']);

/** Refuses an address to send to that is no plain public one; names are judged again at each delivery. `invalid_request`. */
export function checkUrl({ config }: Context, text: string): void {
  const problem = problemOf(text, config.webhookAllow);
  if (problem !== null) throw fail('invalid_request', { details: [{ field: 'url', message: problem }] });
}

function problemOf(text: string, allow: readonly string[]): string | null {
  const written = /^(https?):\/\/([^/?#]+)(?:[/?][^#\s\\]*)?$/.exec(text);
  if (written === null || !URL.canParse(text))
    return 'must be a URL such as https://hooks.example.com/innkeeper, without a fragment';
  const url = new URL(text);
  const [, , authority = ''] = written;
  if (authority.includes('@')) return 'must hold no user and no password; the signature proves that it is us';
  const host = url.hostname;
  const port = /:(\d*)$/.exec(authority)?.[0] ?? '';
  if (authority.slice(0, authority.length - port.length) !== host)
    return `must be written as it is meant: https://${host}`;
  const literal = literalOf(host);
  const isAllowed = literal !== null && isOneOf(literal, allow);
  if (literal === null && !/\.[a-z][a-z0-9-]*$/.test(host))
    return 'must name a host that the whole internet knows, such as hooks.example.com';
  if (/(^|\.)localhost$/.test(host)) return 'must not be localhost: that is our own machine';
  if (literal !== null && !isAllowed && !isPublic(literal))
    return 'must not be an address of a private or special network';
  const mayBePlain = literal === null ? allow.length > 0 : isAllowed;
  if (!mayBePlain && url.protocol !== 'https:') return 'must begin with https://';
  if (!mayBePlain && !securePorts.has(url.port)) return 'must have the port 443 or 8443';
  return null;
}

/** Whether what a URL's host has resolved to may be sent to. */
export function mayReach(url: URL, address: string, allow: readonly string[]): boolean {
  const parsed = literalOf(address);
  if (parsed === null) return false;
  if (isOneOf(parsed, allow)) return true;
  return url.protocol === 'https:' && securePorts.has(url.port) && isPublic(parsed);
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The address that a host is, in its one usual spelling; null for a name. */
export function literalOf(host: string): Address | null {
  const plain = host.startsWith('[') ? host.slice(1, -1) : host;
  if (ipaddr.IPv4.isValidFourPartDecimal(plain)) return ipaddr.IPv4.parse(plain);
  return plain.includes(':') && ipaddr.IPv6.isValid(plain) ? ipaddr.IPv6.parse(plain) : null;
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** Addresses of the internet. Those that carry another address inside, or that are set aside for anything, are none. */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(globalUnicast);
}

type Network = ReturnType<typeof ipaddr.parseCIDR>;

const networksOf = new WeakMap<readonly string[], Network[]>();

function isOneOf(address: Address, allow: readonly string[]): boolean {
  const networks =
    networksOf.get(allow) ??
    allow.map((network) => ipaddr.parseCIDR(network.includes('/') ? network : whole(network)));
  networksOf.set(allow, networks);
  return networks.some(
    ([base, bits]) => base.kind() === address.kind() && address.match([base, bits] as never),
  );
}

function whole(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}
