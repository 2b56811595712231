import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { Pool } from 'undici';
import { literalOf, mayReach } from './target.ts';

/** What came of one try. */
export interface Outcome {
  /** Null without an answer. */
  status: number | null;
  /** Why it did not succeed, for the owner of the endpoint. */
  error: string | null;
  /** The beginning of the answer. */
  answer: string | null;
  durationMs: number;
}

export interface Resolved {
  address: string;
  family: number;
}

/** All addresses of a name. */
export type Resolve = (host: string) => Promise<Resolved[]>;

export const resolveByDns: Resolve = (host) => lookup(host, { all: true });

export interface Poster {
  post(url: string, headers: Record<string, string>, body: string): Promise<Outcome>;
  close(): Promise<void>;
}

const timeoutMs = 10_000;
const mostBytes = 65_536;
const keptCharacters = 4_000;
const mostPools = 200;
const atOnce = 32;

/**
 * Sends webhooks. A name is resolved once for each, every address it has is judged, and the connection goes to one that
 * was judged; redirects are not followed; ten seconds and 64 KiB are all that an answer gets.
 */
export function createPoster(allow: readonly string[], resolve: Resolve = resolveByDns): Poster {
  const pools = new Map<string, Pool>();

  const poolFor = (url: URL, { address, family }: Resolved): Pool => {
    const key = `${url.origin} ${address}`;
    const pool = pools.get(key) ?? openPool(url.origin, address, family);
    pools.delete(key); // so that insertion order stays order of use
    pools.set(key, pool);
    for (const [oldest, unused] of pools) {
      if (pools.size <= mostPools) break;
      pools.delete(oldest);
      unused.close().catch(() => undefined);
    }
    return pool;
  };

  const addressFor = async (url: URL): Promise<Resolved | string> => {
    const literal = literalOf(url.hostname);
    const found =
      literal === null
        ? await resolve(url.hostname)
        : [{ address: literal.toString(), family: literal.kind() === 'ipv4' ? 4 : 6 }];
    const [first] = found;
    if (first === undefined) return 'The host has no address';
    if (found.every(({ address }) => mayReach(url, address, allow))) return first;
    return 'The host leads to an address that we do not send to: it has to be a public one';
  };

  const send = async (text: string, headers: Record<string, string>, body: string, signal: AbortSignal) => {
    const url = new URL(text);
    const address = await within(addressFor(url), signal);
    if (typeof address === 'string') return { status: null, error: address, answer: null };
    const path = url.pathname + url.search;
    const response = await poolFor(url, address).request({ method: 'POST', path, headers, body, signal });
    const { statusCode: status } = response;
    const answer = await beginningOf(response.body);
    const error = status >= 200 && status < 300 ? null : `Answered ${status}`;
    return { status, error, answer };
  };

  return {
    async post(url, headers, body) {
      const began = performance.now();
      const signal = AbortSignal.timeout(timeoutMs);
      const tried = await send(url, headers, body, signal).catch((error: Error) => ({
        ...{ status: null, answer: null },
        error: signal.aborted ? 'No whole answer within ten seconds' : wordsFor(error),
      }));
      return { ...tried, durationMs: Math.round(performance.now() - began) };
    },
    close: async () => {
      await Promise.allSettled([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}

function openPool(origin: string, address: string, family: number): Pool {
  const toChecked: LookupFunction = (_host, options, done) => {
    if (options.all) done(null, [{ address, family }]);
    else done(null, address, family);
  };
  return new Pool(origin, {
    connections: atOnce,
    connect: { lookup: toChecked, timeout: timeoutMs },
    keepAliveTimeout: 4_000,
  });
}

async function beginningOf(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    parts.push(part);
    bytes += part.length;
    if (bytes >= mostBytes) break;
  }
  body.destroy();
  const text = Buffer.concat(parts).toString('utf8').replaceAll('\0', '').toWellFormed();
  return text.slice(0, keptCharacters);
}

function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

const words: Record<string, string> = {
  ECONNREFUSED: 'Nobody listens there',
  ECONNRESET: 'The connection was cut',
  UND_ERR_SOCKET: 'The connection was cut',
  ENOTFOUND: 'There is no host of this name',
  EAI_AGAIN: 'The name could not be looked up',
  UND_ERR_CONNECT_TIMEOUT: 'Nobody answered there',
  CERT_HAS_EXPIRED: 'The certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is its own signer',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another name',
};

function wordsFor(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return words[code] ?? (code === '' ? 'It could not be sent' : `It could not be sent: ${code}`);
}
