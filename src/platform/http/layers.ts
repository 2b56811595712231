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
  /** Whether it is of a whole site's network, an IPv6 /48, which has {@link siteTimes} the quota of one address. */
  isSite?: boolean;
}

/** Who is given a /48 has 65,536 of the networks that single addresses are counted by. */
const siteTimes = 16;

/** How much of a layer there is in a window. */
export function quotaOf({ counted, isSite }: Layer): number {
  return counted.limit.quota * (isSite === true ? siteTimes : 1);
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
    layers.push(...ofStranger(general.strangers, asker));
  } else {
    layers.push({ counted: general.credential, key: keyFor('credential', principal, organizationId) });
    if (principal.impersonation === undefined) {
      layers.push({ counted: general.account, key: keyFor('person', principal, organizationId) });
      if (organizationId !== null && principal.permissions !== null)
        layers.push({
          counted: general.organization,
          key: keyFor('organization', principal, organizationId),
        });
    }
  }
  if (own === null) return layers;
  const ofOwn =
    principal === null
      ? ofStranger(own, asker)
      : [{ counted: own, key: keyFor(own.limit.per, principal, organizationId) }];
  return [...layers, ...ofOwn];
}

function ofStranger(counted: Counted, { ip, budget }: Asker): Layer[] {
  return budget === null ? layersAt(counted, ip) : [{ counted, key: budget }];
}

/** What counts at an address: its own network, and the site's that this is a part of. */
export function layersAt(counted: Counted, ip: string): Layer[] {
  const site = siteOf(ip);
  const own = { counted, key: networkOf(ip) };
  return site === null ? [own] : [own, { counted, key: site, isSite: true }];
}

function keyFor(per: Limit['per'], principal: Principal, organizationId: number | null): string {
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
  for (const [at, layer] of layers.entries()) {
    const window = windows[at];
    if (window === undefined) continue;
    const comma = at === 0 ? '' : ', ';
    policies += comma + policyOf(layer);
    const remaining = Math.max(0, quotaOf(layer) - window.used);
    left += `${comma}"${nameOf(layer)}";r=${remaining};t=${Math.ceil((window.endsAt - nowMs) / 1_000)}`;
  }
  return { 'ratelimit-policy': policies, ratelimit: left };
}

/** As the headers call it: a site's part of a class has a name of its own. */
function nameOf({ counted, isSite }: Layer): string {
  return isSite === true ? `${counted.name}-site` : counted.name;
}

function policyOf(layer: Layer): string {
  const { counted, isSite } = layer;
  return isSite === true
    ? `"${nameOf(layer)}";q=${quotaOf(layer)};w=${counted.limit.windowS}`
    : counted.policy;
}

/** `rate_limited`, with the headers that say when to come back. */
export function refuse(layer: Layer, window: Window, nowMs: number, message?: string): Error {
  const retryAfterS = Math.max(1, Math.ceil((window.endsAt - nowMs) / 1_000));
  const error = fail('rate_limited', { retryAfterS, ...(message !== undefined && { message }) });
  limitHeadersOf.set(error, {
    'ratelimit-policy': policyOf(layer),
    ratelimit: `"${nameOf(layer)}";r=0;t=${retryAfterS}`,
  });
  return error;
}

/**
 * What an address is counted by. Whoever has one IPv6 address has the /64 around it; IPv4 counts as such also where a socket of
 * both families writes it as IPv6.
 */
export function networkOf(ip: string): string {
  return partsOf(ip, 4) ?? (ip.includes(':') && ipaddr.isValid(ip) ? ipaddr.process(ip).toString() : ip);
}

/** The /48 around an IPv6 address, which one customer of a network may have; null for IPv4. */
function siteOf(ip: string): string | null {
  return partsOf(ip, 3);
}

function partsOf(ip: string, count: number): string | null {
  if (!ip.includes(':') || !ipaddr.isValid(ip)) return null;
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return null;
  return (address as ipaddr.IPv6).parts
    .slice(0, count)
    .map((part) => part.toString(16))
    .join(':');
}
