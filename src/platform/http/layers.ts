import ipaddr from 'ipaddr.js';
import { fail } from '../errors.ts';
import type { Guesses } from './guesses.ts';
import { type Limit, type LimitHeaders, limitHeadersOf } from './limits.ts';
import type { Principal } from './principal.ts';
import type { CountWindow, Window } from './windows.ts';

/** A class of limits, and what this process counted of it. */
export interface Counted {
  name: string;
  limit: Limit;
  policy: string;
  count: CountWindow;
  guesses: Guesses;
}

/** What one request is counted by: a class, and whose window of it. */
export interface Layer {
  counted: Counted;
  key: string;
}

/** Who asks, as far as counting goes. */
export interface Asker {
  /** Null for a stranger. */
  principal: Principal | null;
  organizationId: number | null;
  ip: string;
  /** Of a stranger: whose the budget is instead of the address's; null where it is the address's. */
  budget: string | null;
}

/** Layers that every request with a good credential is counted by. */
export interface General {
  credential: Counted;
  account: Counted;
  organization: Counted;
  strangers: Counted;
}

/**
 * What a request is counted by, its own class last. Staff that acts as a customer takes nothing from the customer, and
 * whoever names an organization that is not theirs nothing from that.
 */
export function layersOf(asker: Asker, general: General, own: Counted | null): Layer[] {
  const { principal, organizationId } = asker;
  const layers: Layer[] = [];
  if (principal === null) {
    layers.push({ counted: general.strangers, key: keyFor('ip', asker) });
  } else {
    layers.push({ counted: general.credential, key: keyFor('credential', asker) });
    if (principal.impersonation === undefined) {
      layers.push({ counted: general.account, key: keyFor('person', asker) });
      if (organizationId !== null && principal.permissions !== null)
        layers.push({ counted: general.organization, key: keyFor('organization', asker) });
    }
  }
  if (own !== null) layers.push({ counted: own, key: keyFor(own.limit.per, asker) });
  return layers;
}

function keyFor(per: Limit['per'], { principal, organizationId, ip, budget }: Asker): string {
  if (principal === null) return budget ?? networkOf(ip);
  // Whoever is known takes nothing from others at the same address.
  if (principal.impersonation !== undefined || per === 'credential' || per === 'ip')
    return credentialKey(principal);
  if (per === 'organization' && organizationId !== null && principal.permissions !== null)
    return `o${organizationId}`;
  return `u${principal.actor.userId}`;
}

function credentialKey({ actor, sessionId }: Principal): string {
  return actor.apiKeyId !== null ? `k${actor.apiKeyId}` : `s${sessionId ?? actor.userId}`;
}

/** What is left by each layer, for who asks: whoever minds all of it is never refused. */
export function headersOf(layers: readonly Layer[], windows: readonly Window[], nowMs: number): LimitHeaders {
  let policies = '';
  let left = '';
  for (const [at, { counted }] of layers.entries()) {
    const window = windows[at];
    if (window === undefined) continue;
    const comma = at === 0 ? '' : ', ';
    policies += comma + counted.policy;
    const remaining = Math.max(0, counted.limit.quota - window.used);
    left += `${comma}"${counted.name}";r=${remaining};t=${Math.ceil((window.endsAt - nowMs) / 1_000)}`;
  }
  return { 'ratelimit-policy': policies, ratelimit: left };
}

/** `rate_limited`, with the headers that say when to come back. */
export function refuse({ name, policy }: Counted, window: Window, nowMs: number, message?: string): Error {
  const retryAfterS = Math.max(1, Math.ceil((window.endsAt - nowMs) / 1_000));
  const error = fail('rate_limited', { retryAfterS, ...(message !== undefined && { message }) });
  limitHeadersOf.set(error, { 'ratelimit-policy': policy, ratelimit: `"${name}";r=0;t=${retryAfterS}` });
  return error;
}

/**
 * What an address is counted by. Whoever has one IPv6 address has the /64 around it; IPv4 counts as such also where a socket of
 * both families writes it as IPv6.
 */
export function networkOf(ip: string): string {
  if (!ip.includes(':')) return ip;
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  return (address as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}
