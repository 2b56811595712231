import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { isCountry } from '../countries.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the request comes from: always an address, and one that the database takes; see {@link addressOf}. */
    address: string;
  }
}

/**
 * The caller's address. What trusted proxies forward is text that somebody wrote: unless it is an address, the
 * connection's own counts.
 */
export function addressOf(request: FastifyRequest): string {
  const said = withoutZone(request.ip);
  return isIP(said) === 0 ? peerOf(request) : said;
}

/**
 * The caller's country, as a trusted proxy says in the header that the configuration names; null where none does, and
 * for what is no country, such as the `T1` of an anonymous network.
 */
export function countryOf(request: FastifyRequest, header: string | null): string | null {
  // Without a proxy that is trusted there is the connection's own address alone, and the header is anybody's word.
  if (header === null || (request.ips?.length ?? 0) < 2) return null;
  const said = String(request.headers[header] ?? '').toUpperCase();
  return isCountry(said) ? said : null;
}

/** Address of whoever holds the other end of the connection, which may be a proxy. */
export function peerOf(request: FastifyRequest): string {
  // A connection that was lost already has none.
  return withoutZone(request.socket.remoteAddress) || '::';
}

/** `fe80::1%eth0` names an interface of this host, which means nothing elsewhere. */
function withoutZone(address: string | undefined): string {
  return address?.split('%', 1)[0] ?? '';
}
