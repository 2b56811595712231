import { serially } from '../serially.ts';
import { DnsError, type ReverseDns } from './contract.ts';
import { checkName, pointerName } from './names.ts';

export interface PowerDnsOptions {
  /** Where its HTTP API answers, such as `http://127.0.0.1:8081`. */
  url: string;
  apiKey: string;
  /** Name of the server within the API. Default: `localhost`, the only one an authoritative server has. */
  server?: string;
  /** Seconds that resolvers may remember a name. Default: an hour. */
  ttlS?: number;
  timeoutMs?: number;
}

interface Zone {
  id: string;
  name: string;
}

/**
 * Keeps names in an authoritative PowerDNS, over its HTTP API. The zone is the longest one that the address
 * falls into (`2.0.192.in-addr.arpa` before `192.in-addr.arpa`); zones are the operator's and not made here.
 * Source: https://doc.powerdns.com/authoritative/http-api/zone.html
 */
export function powerDns(options: PowerDnsOptions): ReverseDns {
  const server = `/api/v1/servers/${encodeURIComponent(options.server ?? 'localhost')}`;
  const base = options.url.replace(/\/+$/, '') + server;

  // PowerDNS over SQLite answers 500 to a change that meets another one of the same zone.
  const inTurn = serially();

  async function call(method: 'GET' | 'PATCH', path: string, body?: object): Promise<unknown> {
    let response: Response;
    let text: string;
    try {
      response = await fetch(base + path, {
        method,
        headers: { 'x-api-key': options.apiKey, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.timeout(options.timeoutMs ?? 10_000),
      });
      text = await response.text();
    } catch (cause) {
      throw new DnsError('dns_unreachable', `PowerDNS does not answer: ${reasonOf(cause)}`, { cause });
    }
    if (response.ok) return text === '' ? null : parse(text, `${method} ${path}`);
    // A key that is refused or a record that is invalid stays so; a server in trouble (5xx) recovers.
    const permanent = response.status < 500 && response.status !== 429;
    const message = `PowerDNS answered ${response.status} to ${method} ${path}: ${text.slice(0, 300)}`;
    throw new DnsError('dns_refused', message, { permanent });
  }

  async function zoneOf(pointer: string): Promise<Zone> {
    // Without its DNSSEC fields the list is cheap, however many zones there are.
    const zones = (await call('GET', '/zones?dnssec=false')) as Zone[];
    const holding = zones.filter(
      ({ name }) => pointer === name.toLowerCase() || pointer.endsWith(`.${name.toLowerCase()}`),
    );
    const longest = holding.sort((a, b) => b.name.length - a.name.length)[0];
    if (longest) return longest;
    throw new DnsError('zone_absent', `PowerDNS has no zone for ${pointer}; add it there and retry`, {
      permanent: true,
    });
  }

  return {
    kind: 'powerdns',
    capabilities: ['ipv6'],
    async setName(address, name) {
      const pointer = pointerName(address);
      if (name !== null) checkName(name);
      const zone = await zoneOf(pointer);
      const change =
        name === null
          ? { changetype: 'DELETE' }
          : {
              changetype: 'REPLACE',
              ttl: options.ttlS ?? 3_600,
              records: [{ content: `${name}.`, disabled: false }],
            };
      const rrsets = [{ name: pointer, type: 'PTR', ...change }];
      await inTurn(zone.id, () => call('PATCH', `/zones/${encodeURIComponent(zone.id)}`, { rrsets }));
    },
  };
}

function parse(text: string, asked: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // A proxy's page, or a server that is still starting.
    throw new DnsError('dns_unreachable', `what answers ${asked} is no PowerDNS: ${text.slice(0, 100)}`, {
      cause,
    });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
