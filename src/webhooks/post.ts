import type { LookupFunction } from 'node:net';
import { type Dispatcher, Pool } from 'undici';
import { lookupsOf, nameServers, type Resolve, type Resolved } from './resolve.ts';
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

/** Where to send, and for whom. */
export interface Address {
  url: string;
  organizationId: number;
}

export interface Poster {
  post(to: Address, headers: Record<string, string>, body: string): Promise<Outcome>;
  close(): Promise<void>;
}

const timeoutMs = 10_000;
/** Of one address; there is time for another one. */
const connectMs = 4_000;
const mostBytes = 65_536;
const keptCharacters = 4_000;
const mostPools = 200;
const atOnce = 32;

/**
 * Sends webhooks. A name is resolved once for each, every address it has is judged, and the connection goes to one that
 * was judged, to the next one where nobody is reached; redirects are not followed; ten seconds and 64 KiB are all that an
 * answer gets. Names of the host's own list count where `allow` names networks.
 */
export function createPoster(
  allow: readonly string[],
  resolve: Resolve = nameServers({ hostsFile: allow.length > 0 ? '/etc/hosts' : null }),
): Poster {
  const pools = new Map<string, Pool>();
  const lookup = lookupsOf(resolve);

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

  const addressesFor = async (url: URL, organizationId: number): Promise<Resolved[]> => {
    const literal = literalOf(url.hostname);
    const found =
      literal === null
        ? await lookup(organizationId, url.hostname).catch((error: Error) => {
            throw new Unreachable(wordsForName(error));
          })
        : [{ address: literal.toString(), family: literal.kind() === 'ipv4' ? 4 : 6 }];
    if (found.length === 0) throw new Unreachable('The host has no address');
    if (found.every(({ address }) => mayReach(url, address, allow))) return found;
    throw new Unreachable('The host leads to an address that we do not send to: it has to be a public one');
  };

  const send = async (
    to: Address,
    headers: Record<string, string>,
    body: string,
    time: Time,
  ): Promise<Answered> => {
    const url = new URL(to.url);
    const request = { method: 'POST', path: url.pathname + url.search, headers, body } as const;
    const addresses = await addressesFor(url, to.organizationId);
    return firstReached(addresses, (address) => ask(poolFor(url, address), request, time));
  };

  return {
    post(to, headers, body) {
      const began = performance.now();
      const { promise, resolve: settle } = Promise.withResolvers<Outcome>();
      const ended = (status: number | null, error: string | null, answer: string | null) => {
        clearTimeout(timer);
        settle({ status, error, answer, durationMs: Math.round(performance.now() - began) });
      };
      const time: Time = { isOver: false, cut: null };
      const timer = setTimeout(() => {
        time.isOver = true;
        time.cut?.();
        ended(null, 'No whole answer within ten seconds', null);
      }, timeoutMs);
      send(to, headers, body, time).then(
        ({ status, answer }) =>
          ended(status, status >= 200 && status < 300 ? null : `Answered ${status}`, answer),
        (error: Error) => ended(null, wordsFor(error), null),
      );
      return promise;
    },
    close: async () => {
      await Promise.allSettled([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}

/** The time that a try has: once it is over nothing of it is sent any more. */
interface Time {
  isOver: boolean;
  cut: (() => void) | null;
}

interface Answered {
  status: number;
  /** The beginning of it. */
  answer: string;
}

/**
 * Sends a request and reads the beginning of its answer as it comes in. `undici`'s own `request` would make a stream of each
 * answer, which takes as long as all the rest of it.
 */
function ask(pool: Pool, request: Dispatcher.DispatchOptions, time: Time): Promise<Answered> {
  return new Promise((resolve, reject) => {
    if (time.isOver) throw new Unreachable('too late');
    const parts: Buffer[] = [];
    let [status, bytes] = [0, 0];
    const end = () => resolve({ status, answer: textOf(parts) });
    pool.dispatch(request, {
      onRequestStart: (controller) => {
        // It may have waited for a connection all the time.
        if (time.isOver) controller.abort(new Unreachable('too late'));
        time.cut = () => controller.abort(new Unreachable('too late'));
      },
      onResponseStart: (_, code) => {
        status = code; // the last one, after those that only say that it goes on
      },
      onResponseData: (controller, part) => {
        parts.push(part);
        bytes += part.length;
        if (bytes < mostBytes) return;
        end();
        controller.abort(new Unreachable('enough'));
      },
      onResponseEnd: end,
      onResponseError: (_, error) => reject(error),
    });
  });
}

function openPool(origin: string, address: string, family: number): Pool {
  const toChecked: LookupFunction = (_host, options, done) => {
    if (options.all) done(null, [{ address, family }]);
    else done(null, address, family);
  };
  return new Pool(origin, {
    connections: atOnce,
    connect: { lookup: toChecked, timeout: connectMs },
    keepAliveTimeout: 4_000,
    // Each try has a time of its own.
    ...{ headersTimeout: 0, bodyTimeout: 0 },
  });
}

/** Why nothing was sent, in words for the owner of the endpoint. */
class Unreachable extends Error {}

/** What the first of these addresses answers at which somebody is reached; no request was sent to the others. */
async function firstReached<T>(
  addresses: readonly Resolved[],
  ask: (address: Resolved) => Promise<T>,
): Promise<T> {
  let failure: unknown;
  for (const address of addresses) {
    try {
      return await ask(address);
    } catch (error) {
      if (!isUnreached(error)) throw error;
      failure = error;
    }
  }
  throw failure;
}

function isUnreached(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isLate = 'code' in error && error.code === 'UND_ERR_CONNECT_TIMEOUT';
  return isLate || ('syscall' in error && error.syscall === 'connect');
}

function textOf(parts: readonly Buffer[]): string {
  const text = Buffer.concat(parts).toString('utf8').replaceAll('\0', '').toWellFormed();
  return text.slice(0, keptCharacters);
}

const words: Record<string, string> = {
  ECONNREFUSED: 'Nobody listens there',
  ECONNRESET: 'The connection was cut',
  UND_ERR_SOCKET: 'The connection was cut',
  UND_ERR_CONNECT_TIMEOUT: 'Nobody answered there',
  CERT_HAS_EXPIRED: 'The certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is its own signer',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another name',
};

/** Their codes are those of connections as well, and mean another thing. */
function wordsForName(error: Error): string {
  const code = 'code' in error ? error.code : '';
  if (code === 'ENOTFOUND') return 'There is no host of this name';
  return code === 'ENODATA' ? 'The host has no address' : 'The name could not be looked up';
}

function wordsFor(error: Error): string {
  if (error instanceof Unreachable) return error.message;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return words[code] ?? (code === '' ? 'It could not be sent' : `It could not be sent: ${code}`);
}
