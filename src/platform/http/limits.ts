export interface Limit {
  /** Requests … */
  quota: number;
  /** … in so many seconds, … */
  windowS: number;
  /**
   * … counted for each of these. A credential is an API key or a session; a person has several. By address (`ip`) strangers
   * are counted, and whoever shows a good credential by that.
   */
  per: 'credential' | 'person' | 'organization' | 'ip';
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

/** All that were declared so far, by their names. */
export function allLimits(): ReadonlyMap<string, Limit> {
  return declaredLimits;
}

/** The limit of a declared class. */
export function limitOf(name: LimitClass): Limit {
  const limit = declaredLimits.get(name);
  if (limit === undefined) throw new Error(`no room declares the limit ${name}`);
  return limit;
}

/** Classes by their limits; rooms add theirs. */
export interface LimitCatalogue {
  change: Limit;
  revoke: Limit;
}

/** Classes a route can name with `limit`. */
export type LimitClass = keyof LimitCatalogue & string;

/** Limits that count by themselves. */
export const generalLimits = limits({
  /** Any request with a good credential, … */
  default: { quota: 1_200, windowS: 60, per: 'credential' },
  /** … with any credential of its person, … */
  account: { quota: 3_600, windowS: 60, per: 'person' },
  /** … and of any member for their organization: no one of them takes it from the others. */
  organization: { quota: 14_400, windowS: 60, per: 'organization' },
  /** Any request to an endpoint that asks for no credential. */
  public: { quota: 600, windowS: 60, per: 'ip' },
  /**
   * A change that has no class of its own. Each leaves an entry in the journal, which is kept: what one person has written in a
   * day is bounded by this.
   */
  change: { quota: 3_600, windowS: 3_600, per: 'person' },
  /** What takes somebody's way in away, such as a key: a key that runs wild, or was stolen, keeps nobody from revoking it. */
  revoke: { quota: 600, windowS: 3_600, per: 'credential' },
  /** Credentials that were refused: above this the address waits before its next one is looked at. */
  refused: { quota: 60, windowS: 60, per: 'ip' },
});

// A type, not an interface: headers are taken as a record.
export type LimitHeaders = {
  'ratelimit-policy': string;
  ratelimit: string;
};

/** Headers of the limit that an error ran into, or used up a part of. */
export const limitHeadersOf = new WeakMap<Error, LimitHeaders>();
