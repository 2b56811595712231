import type {
  Limit,
  Match,
  Measure,
  Mitigation,
  PacketKind,
  Policy,
  Ranges,
  Rule,
  TraceBounds,
  Version,
} from './contract.ts';
import { holds, invalid, type Network, parsePrefix } from './prefix.ts';
import { common } from './ranges.ts';

export const tcp = 6;
export const udp = 17;
const withPorts: Ranges = [
  [tcp, tcp],
  [udp, udp],
];
const largestId = 2 ** 31 - 1;

/** Above this a kernel's own arithmetic of rates would run over. */
const most = { packetsPerSecond: 1_000_000_000, bitsPerSecond: 10 ** 13, burst: 1_000_000 };

const domains = {
  protocols: [0, 255],
  sourcePorts: [0, 65_535],
  destinationPorts: [0, 65_535],
  dscp: [0, 63],
  ecn: [0, 3],
  ttl: [0, 255],
  lengths: [0, 65_575],
} as const satisfies Partial<Record<keyof Match, readonly [number, number]>>;

/** Fails with `policy_invalid`, so that no engine is asked for what cannot be. */
export function checkPolicy({ destination, generation, rules, unmatched }: Policy): Network {
  const network = checkVersion({ destination, generation });
  if (unmatched !== 'permit' && unmatched !== 'deny') throw invalid('unmatched is neither permit nor deny');
  checkRules(rules, network);
  return network;
}

export function checkMitigation({ destination, generation, measure }: Mitigation): Network {
  const network = checkVersion({ destination, generation });
  if (measure.kind === 'filter') checkFilter(measure, network);
  return network;
}

export function checkVersion({ destination, generation }: Version): Network {
  if (!Number.isSafeInteger(generation) || generation < 0) throw invalid(`not a generation: ${generation}`);
  return parsePrefix(destination);
}

/** Of all destinations of one call. */
export function checkOnce(destinations: readonly string[]): void {
  if (new Set(destinations).size < destinations.length) throw invalid('a destination is named twice');
}

export function checkSeconds(seconds: number): void {
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 86_400)
    throw invalid(`not a time to try out: ${seconds}`);
}

export function checkTrace({ destination, match }: PacketKind, { packets, seconds }: TraceBounds): void {
  checkMatch(match, parsePrefix(destination));
  checkNumber('packets to trace', packets, 1, 20);
  checkNumber('seconds to trace', seconds, 1, 10);
}

function checkFilter(measure: Extract<Measure, { kind: 'filter' }>, network: Network): void {
  checkRules(measure.rules, network);
  checkSources(measure.exempt, network);
  if (measure.synproxy !== undefined) checkMatch({ destinationPorts: measure.synproxy }, network);
}

function checkRules(rules: readonly Rule[], network: Network): void {
  const ids = new Set<number>();
  for (const rule of rules) {
    if (!Number.isInteger(rule.id) || rule.id < 1 || rule.id > largestId)
      throw invalid(`not an id: ${rule.id}`);
    if (ids.has(rule.id)) throw invalid(`rule ${rule.id} is there twice`);
    ids.add(rule.id);
    if (rule.action !== 'permit' && rule.action !== 'deny') throw invalid(`rule ${rule.id} does nothing`);
    naming(rule.id, () => checkMatch(rule.match, network));
    if (rule.limit !== null) naming(rule.id, () => checkLimit(rule, rule.limit as Limit));
  }
}

function naming(id: number, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw invalid(`rule ${id}: ${(error as Error).message}`);
  }
}

function checkMatch(match: Match, network: Network): void {
  if (match.sources !== undefined) {
    if (match.sources.length === 0) throw invalid('no sources');
    checkSources(match.sources, network);
  }
  if (match.destination !== undefined && !holds(network, parsePrefix(match.destination)))
    throw invalid('its destination is no part of the policy’s');
  for (const [name, [least, most]] of Object.entries(domains)) checkRanges(name, match, least, most);
  if (match.flags !== undefined && Object.keys(match.flags).length === 0) throw invalid('no flags');
  const protocols = protocolsOf(match);
  if (protocols !== null && protocols.length === 0) throw invalid('ports or flags of a protocol without');
}

/** Ports are those of TCP and UDP, and flags those of TCP: what a match says of protocols without saying it. Null: all. */
export function protocolsOf(match: Match): Ranges | null {
  const asked: Ranges[] = [];
  if (match.protocols !== undefined) asked.push(match.protocols);
  if (match.sourcePorts !== undefined || match.destinationPorts !== undefined) asked.push(withPorts);
  if (match.flags !== undefined) asked.push([[tcp, tcp]]);
  const [first, ...others] = asked;
  return first === undefined ? null : others.reduce(common, first);
}

function checkRanges(name: string, match: Match, least: number, most: number): void {
  const ranges = match[name as keyof typeof domains];
  if (ranges === undefined) return;
  if (ranges.length === 0) throw invalid(`no ${name}`);
  for (const [from, to] of ranges) {
    const isRange =
      Number.isInteger(from) && Number.isInteger(to) && least <= from && from <= to && to <= most;
    if (!isRange) throw invalid(`not a range of ${name}: ${from} to ${to}`);
  }
}

function checkSources(sources: readonly string[], network: Network): void {
  for (const source of sources) {
    if (parsePrefix(source).family !== network.family) throw invalid(`${source} is of another family`);
  }
}

function checkLimit(rule: Rule, limit: Limit): void {
  if (rule.action !== 'permit') throw invalid('what is denied has no limit');
  const { packetsPerSecond, bitsPerSecond, burst } = limit;
  if (packetsPerSecond === undefined && bitsPerSecond === undefined) throw invalid('a limit without a rate');
  checkNumber('packets a second', packetsPerSecond ?? 1, 1, most.packetsPerSecond);
  checkNumber('bits a second', bitsPerSecond ?? 8, 8, most.bitsPerSecond);
  checkNumber('burst', burst, 1, most.burst);
  if (!['rule', 'source', 'destination'].includes(limit.per)) throw invalid('a limit of nothing');
  if (limit.beyond !== undefined && limit.per !== 'source')
    throw invalid('only of sources there are more than there is room for');
}

function checkNumber(name: string, value: number, least: number, largest: number): void {
  if (!Number.isInteger(value) || value < least || value > largest)
    throw invalid(`${name} cannot be ${value}`);
}
