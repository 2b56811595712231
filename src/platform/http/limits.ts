import { hash } from 'node:crypto';
import { fail } from '../errors.ts';
import { createGuesses, type Guesses, type Settle } from './guesses.ts';
import type { Principal } from './principal.ts';
import { type CountWindow, createCounter, type Window } from './windows.ts';

export interface Limit {
  /** Requests … */
  quota: number;
  /** … in so many seconds, … */
  windowS: number;
  /** … counted for each of these. A credential is an API key or a session; a person has several. */
  per: 'credential' | 'person' | 'ip';
}

const declaredLimits = new Map<string, Limit>();

/**
 * Declares classes of limits that routes can name with `limit`, on top of the general one of their kind:
 *
 *     const vpsLimits = limits({ vps: { quota: 60, windowS: 60, per: 'person' } });
 *
 *     type VpsLimits = typeof vpsLimits;
 *     declare module '../platform/http/limits.ts' {
 *       interface LimitCatalogue extends VpsLimits {}
 *     }
 */
export function limits<const Declared extends Record<string, Limit>>(declared: Declared): Declared {
  for (const [name, limit] of Object.entries(declared)) {
    if (declaredLimits.has(name)) throw new Error(`the limit ${name} is declared twice`);
    declaredLimits.set(name, limit);
  }
  return declared;
}

/** The limit of a declared class. */
export function limitOf(name: LimitClass): Limit {
  const limit = declaredLimits.get(name);
  if (limit === undefined) throw new Error(`no room declares the limit ${name}`);
  return limit;
}

/** Classes by their limits; rooms add theirs. */
// biome-ignore lint/suspicious/noEmptyInterface: rooms fill it
export interface LimitCatalogue {}

/** Classes a route can name with `limit`. */
export type LimitClass = keyof LimitCatalogue & string;

/** Limits that count by themselves. */
export const generalLimits = limits({
  /** Any request with a good credential. */
  default: { quota: 1_200, windowS: 60, per: 'credential' },
  /** Any request to an endpoint that asks for no credential. */
  public: { quota: 600, windowS: 60, per: 'ip' },
  /** Credentials that were refused: above this the address waits before its next one is looked at. */
  refused: { quota: 60, windowS: 60, per: 'ip' },
});

// A type, not an interface: headers are taken as a record.
export type LimitHeaders = {
  'ratelimit-policy': string;
  ratelimit: string;
};

/** Whose wrong guesses are counted together; `ip` is null where it does not matter from where they come. */
export interface Guesser {
  keys: readonly string[];
  ip: string | null;
}

export interface Limiter {
  /** Counts a request; null when limits are off. Throws `rate_limited`, which carries the headers too. */
  take(principal: Principal | null, ip: string, limitClass: LimitClass | undefined): LimitHeaders | null;
  /**
   * Lets somebody make a guess. Returns whom to tell whether it was wrong; throws `rate_limited` with these words when
   * too many were.
   */
  guess(limitClass: LimitClass, guesser: Guesser, message: string): Promise<Settle>;
  /** Throws `rate_limited` when this address had too many credentials refused, unless this one was good lately. */
  checkRefused(ip: string, credential: string): void;
  countRefused(ip: string, credential: string): void;
  noteGood(credential: string): void;
}

const nothing = () => undefined;
const unlimited: Limiter = {
  take: () => null,
  guess: async () => nothing,
  checkRefused: nothing,
  countRefused: nothing,
  noteGood: nothing,
};

/** How long a credential that was good is let through beside others that are refused, and how many are remembered. */
const goodForMs = 24 * 3_600_000;
const goodAtMost = 50_000;

/** Headers of the limit that a `rate_limited` error ran into. */
export const limitHeadersOf = new WeakMap<Error, LimitHeaders>();

interface Counted {
  name: string;
  limit: Limit;
  policy: string;
  count: CountWindow;
  guesses: Guesses;
}

/**
 * Counts in this process's memory, in fixed windows. Two API processes therefore allow twice as much. It never
 * counts in PostgreSQL, where it costs ten times the rest. See docs/decisions/0019.
 */
export function createLimiter(on: boolean, nowMs = () => Math.trunc(performance.now())): Limiter {
  if (!on) return unlimited;
  const counted = new Map<string, Counted>();
  for (const [name, limit] of declaredLimits) {
    const policy = `"${name}";q=${limit.quota};w=${limit.windowS}`;
    const count = createCounter(limit.windowS * 1_000);
    counted.set(name, { name, limit, policy, count, guesses: createGuesses(limit.quota, count, nowMs) });
  }
  const known = (name: string): Counted => {
    const found = counted.get(name);
    if (found === undefined) throw new Error(`no room that is loaded declares the limit ${name}`);
    return found;
  };
  const general = known('default');
  const ofPublic = known('public');
  const refused = known('refused');
  /** When each was good last, by its hash: whoever else guesses at the same address does not lock them out. */
  const good = new Map<string, number>();

  return {
    take(principal, ip, limitClass) {
      const now = nowMs();
      const first = principal === null ? ofPublic : general;
      const left = use(first, keyFor(first.limit.per, principal, ip), now);
      if (limitClass === undefined) return { 'ratelimit-policy': first.policy, ratelimit: left };
      const second = known(limitClass);
      const leftToo = use(second, keyFor(second.limit.per, principal, ip), now);
      return {
        'ratelimit-policy': `${first.policy}, ${second.policy}`,
        ratelimit: `${left}, ${leftToo}`,
      };
    },
    async guess(limitClass, { keys, ip }, message) {
      const guessed = known(limitClass);
      const begun = await guessed.guesses.begin(ip === null ? keys : [network(ip), ...keys]);
      if (typeof begun === 'function') return begun;
      throw refuse(guessed, begun, nowMs(), message);
    },
    checkRefused(ip, credential) {
      if (refused.count.isEmpty()) return;
      const now = nowMs();
      if (now - (good.get(hashOf(credential)) ?? Number.NEGATIVE_INFINITY) < goodForMs) return;
      const window = refused.count.look(network(ip), now);
      if (window !== undefined && window.used >= refused.limit.quota) throw refuse(refused, window, now);
    },
    countRefused(ip, credential) {
      good.delete(hashOf(credential));
      refused.count.add(network(ip), nowMs());
    },
    noteGood(credential) {
      const key = hashOf(credential);
      good.delete(key); // so that insertion order stays order of age
      good.set(key, nowMs());
      if (good.size > goodAtMost) good.delete(good.keys().next().value ?? '');
    },
  };
}

function hashOf(credential: string): string {
  return hash('sha256', credential, 'base64');
}

/** Counts one request and says what is left, as the header does; throws when nothing is. */
function use(counted: Counted, key: string, now: number): string {
  const window = counted.count.add(key, now);
  const left = counted.limit.quota - window.used;
  if (left < 0) throw refuse(counted, window, now);
  return `"${counted.name}";r=${left};t=${Math.ceil((window.endsAt - now) / 1_000)}`;
}

function refuse({ name, policy }: Counted, window: Window, now: number, message?: string): Error {
  const retryAfterS = Math.max(1, Math.ceil((window.endsAt - now) / 1_000));
  const error = fail('rate_limited', { retryAfterS, ...(message !== undefined && { message }) });
  limitHeadersOf.set(error, { 'ratelimit-policy': policy, ratelimit: `"${name}";r=0;t=${retryAfterS}` });
  return error;
}

function keyFor(per: Limit['per'], principal: Principal | null, ip: string): string {
  if (per === 'ip' || principal === null) return network(ip);
  if (per === 'person') return `u${principal.actor.userId}`;
  if (principal.actor.apiKeyId !== null) return `k${principal.actor.apiKeyId}`;
  return `s${principal.sessionId ?? principal.actor.userId}`;
}

/** Whoever has one IPv6 address has the /64 around it. */
function network(ip: string): string {
  if (!ip.includes(':') || ip.startsWith('::ffff:')) return ip;
  const [head = '', tail] = ip.split('::');
  const left = head.split(':').filter(Boolean);
  const right = (tail ?? '').split(':').filter(Boolean);
  const groups =
    tail === undefined
      ? left
      : [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return groups.slice(0, 4).join(':');
}
