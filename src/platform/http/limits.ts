import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { fail } from '../errors.ts';
import type { Principal } from './principal.ts';

interface Limit {
  /** Requests … */
  quota: number;
  /** … in so many seconds, … */
  windowS: number;
  /** … counted for each of these. A credential is an API key or a session; a person has several. */
  per: 'credential' | 'person' | 'ip';
}

/** Every limit on requests. A request counts against the general one of its kind and its route's class. */
export const limits = {
  /** Any request with a good credential. */
  default: { quota: 1_200, windowS: 60, per: 'credential' },
  /** Any request to an endpoint that asks for no credential. */
  public: { quota: 600, windowS: 60, per: 'ip' },
  /** Credentials that were refused: above this the address waits before its next one is looked at. */
  refused: { quota: 60, windowS: 60, per: 'ip' },
  'sign-in': { quota: 20, windowS: 60, per: 'ip' },
  checkout: { quota: 60, windowS: 60, per: 'person' },
  vps: { quota: 60, windowS: 60, per: 'person' },
} as const satisfies Record<string, Limit>;

/** Classes a route can name with `limit`. */
export type LimitClass = 'sign-in' | 'checkout' | 'vps';

type LimitName = keyof typeof limits;

// A type, not an interface: headers are taken as a record.
export type LimitHeaders = {
  'ratelimit-policy': string;
  ratelimit: string;
};

export interface Limiter {
  /** Counts a request; null when limits are off. Throws `rate_limited`, which carries the headers too. */
  take(
    principal: Principal | null,
    ip: string,
    limitClass: LimitClass | undefined,
  ): Promise<LimitHeaders | null>;
  /** Throws `rate_limited` when this address had too many credentials refused. */
  checkRefused(ip: string): Promise<void> | void;
  countRefused(ip: string): void;
}

/** Headers of the limit that a `rate_limited` error ran into. */
export const limitHeadersOf = new WeakMap<Error, LimitHeaders>();

/**
 * Counts in this process's memory, in fixed windows. Two API processes therefore allow twice as much; when that
 * matters, the same library counts in Valkey. It never counts in PostgreSQL, where it costs ten times the rest.
 */
export function createLimiter(on: boolean): Limiter {
  if (!on) return { take: async () => null, checkRefused: () => undefined, countRefused: () => undefined };
  const counters = new Map<LimitName, RateLimiterMemory>();
  const policies = new Map<LimitName, string>();
  for (const [name, limit] of Object.entries(limits) as [LimitName, Limit][]) {
    counters.set(
      name,
      new RateLimiterMemory({ points: limit.quota, duration: limit.windowS, keyPrefix: '' }),
    );
    policies.set(name, `"${name}";q=${limit.quota};w=${limit.windowS}`);
  }
  const addressesRefused = new Set<string>();

  const count = async (name: LimitName, key: string): Promise<RateLimiterRes> => {
    try {
      return (await counters.get(name)?.consume(key)) ?? new RateLimiterRes(0, 0);
    } catch (state) {
      if (!(state instanceof RateLimiterRes)) throw state;
      throw refuse(name, policies.get(name) ?? '', state);
    }
  };

  return {
    async take(principal, ip, limitClass) {
      const general = principal === null ? 'public' : 'default';
      const state = await count(general, keyFor(limits[general].per, principal, ip));
      let policy = policies.get(general) ?? '';
      let left = stateOf(general, state);
      if (limitClass !== undefined) {
        const classState = await count(limitClass, keyFor(limits[limitClass].per, principal, ip));
        policy += `, ${policies.get(limitClass)}`;
        left += `, ${stateOf(limitClass, classState)}`;
      }
      return { 'ratelimit-policy': policy, ratelimit: left };
    },
    async checkRefused(ip) {
      const address = network(ip);
      if (!addressesRefused.has(address)) return;
      const state = await counters.get('refused')?.get(address);
      if (!state || state.msBeforeNext <= 0) addressesRefused.delete(address);
      else throw refuse('refused', policies.get('refused') ?? '', state);
    },
    countRefused(ip) {
      const address = network(ip);
      counters
        .get('refused')
        ?.consume(address)
        .then(
          (state) => {
            if (state.remainingPoints === 0) addressesRefused.add(address);
          },
          () => addressesRefused.add(address),
        );
    },
  };
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

function stateOf(name: LimitName, state: RateLimiterRes): string {
  return `"${name}";r=${state.remainingPoints};t=${Math.ceil(state.msBeforeNext / 1000)}`;
}

function refuse(name: LimitName, policy: string, state: RateLimiterRes): Error {
  const retryAfterS = Math.max(1, Math.ceil(state.msBeforeNext / 1000));
  const error = fail('rate_limited', { retryAfterS });
  limitHeadersOf.set(error, { 'ratelimit-policy': policy, ratelimit: `"${name}";r=0;t=${retryAfterS}` });
  return error;
}
