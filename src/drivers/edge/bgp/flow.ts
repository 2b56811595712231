import { protocolsOf } from '../check.ts';
import { type Action, EdgeError, type Match, type Ranges, type Rule, type TcpFlag } from '../contract.ts';
import { type Network, overlaps, parsePrefix } from '../prefix.ts';
import { common, tidyRanges } from '../ranges.ts';

/** What one flow specification says: all of these hold, null is whatever there is. Ranges are in order and apart. */
export interface Flow {
  destination: Network;
  source: Network | null;
  protocols: Ranges | null;
  destinationPorts: Ranges | null;
  sourcePorts: Ranges | null;
  flags: Partial<Record<TcpFlag, boolean>> | null;
  lengths: Ranges | null;
  dscp: Ranges | null;
  fragment: boolean | null;
}

/** What a router does with the packets of a flow: a permit ends its search as a deny does. */
export interface Route {
  flow: Flow;
  action: Action;
}

/** Fields that every packet has, with all that they can be: a match of the whole says nothing. */
const whole = { dscp: 63, ecn: 3, ttl: 255 } as const;
/** A length of two bytes is what routers look at; in IPv4 there is no longer packet. */
const longest = { 4: 65_535, 6: 65_575 } as const;

/** In FlowSpec's words, a flow for each source. Fails with `not_supported` and the reason where it has no such words. */
export function routesOf(rule: Rule, destination: Network): Route[] {
  const { match, action, limit } = rule;
  const refuse = (reason: string) => notSaid(`rule ${rule.id}: ${reason}`);
  if (limit !== null)
    throw refuse(
      'FlowSpec has no limit with a burst, none by source, and each router would hold to one of its own',
    );
  for (const field of ['ttl', 'ecn'] as const) {
    if (!isWhole(match[field], whole[field]))
      throw refuse(`FlowSpec does not look at the ${field.toUpperCase()}`);
  }
  // A whole packet may have a fragment header as well (RFC 6946), which routers do not take for a part.
  if (match.fragment !== undefined && destination.family === 6)
    throw refuse('FlowSpec does not see whether an IPv6 packet that is whole has a fragment header');
  const lengths = lengthsOf(match.lengths, destination.family);
  if (lengths === 'beyond') throw refuse('FlowSpec has lengths up to 65535');
  const flow: Omit<Flow, 'source'> = {
    destination: match.destination === undefined ? destination : parsePrefix(match.destination),
    protocols: protocolsSaid(match),
    destinationPorts: tidy(match.destinationPorts),
    sourcePorts: tidy(match.sourcePorts),
    flags: match.flags ?? null,
    lengths,
    dscp: isWhole(match.dscp, whole.dscp) ? null : tidy(match.dscp),
    fragment: match.fragment ?? null,
  };
  const sources = match.sources?.map(parsePrefix) ?? [null];
  return sources.map((source) => ({ action, flow: { ...flow, source } }));
}

/** Whether some packet is of both. */
export function haveCommon(one: Flow, other: Flow): boolean {
  const ranges = ['destinationPorts', 'sourcePorts', 'lengths', 'dscp'] as const;
  return (
    overlaps(one.destination, other.destination) &&
    (one.source === null || other.source === null || overlaps(one.source, other.source)) &&
    rangesMeet(protocolsMet(one), protocolsMet(other)) &&
    ranges.every((name) => rangesMeet(one[name], other[name])) &&
    (one.fragment === null || other.fragment === null || one.fragment === other.fragment) &&
    flagsMeet(one.flags ?? {}, other.flags ?? {})
  );
}

export function notSaid(message: string, permanent = true): EdgeError {
  return new EdgeError('not_supported', message, { permanent });
}

/** Ports and flags are of their protocols without saying so: only TCP and UDP packets match a flow that names them. */
function protocolsSaid(match: Match): Ranges | null {
  return match.protocols === undefined ? null : tidyRanges(protocolsOf(match) ?? []);
}

function protocolsMet({ protocols, destinationPorts, sourcePorts, flags }: Flow): Ranges | null {
  return protocolsOf({
    ...(protocols === null ? {} : { protocols }),
    ...(destinationPorts === null ? {} : { destinationPorts }),
    ...(sourcePorts === null ? {} : { sourcePorts }),
    ...(flags === null ? {} : { flags }),
  });
}

function rangesMeet(some: Ranges | null, others: Ranges | null): boolean {
  return some === null || others === null || common(some, others).length > 0;
}

function flagsMeet(some: NonNullable<Flow['flags']>, others: NonNullable<Flow['flags']>): boolean {
  return Object.entries(some).every(([flag, isSet]) => (others[flag as TcpFlag] ?? isSet) === isSet);
}

function tidy(ranges: Ranges | undefined): Ranges | null {
  return ranges === undefined ? null : tidyRanges(ranges);
}

function isWhole(ranges: Ranges | undefined, most: number): boolean {
  if (ranges === undefined) return true;
  const [first, ...others] = tidyRanges(ranges);
  return others.length === 0 && first?.[0] === 0 && first[1] >= most;
}

/** Up to the longest there is means from there on. */
function lengthsOf(ranges: Ranges | undefined, family: 4 | 6): Ranges | null | 'beyond' {
  if (isWhole(ranges, longest[family])) return null;
  const most = longest[family];
  const upTo = tidyRanges(ranges ?? []).flatMap(([from, to]): [number, number][] =>
    from > most ? [] : [[from, Math.min(to, most)]],
  );
  const isSaid = ([from, to]: [number, number]) => from <= 65_535 && (to <= 65_535 || to === most);
  return upTo.length > 0 && upTo.every(isSaid) ? upTo : 'beyond';
}
