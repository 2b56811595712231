import { protocolsOf } from './check.ts';
import type { Action, Match, Packet, Policy, Ranges, Rule } from './contract.ts';
import { flagBits } from './headers.ts';
import { addressNumber, parsePrefix } from './prefix.ts';
import { inRanges, memberOf } from './ranges.ts';

export interface Verdict {
  action: Action;
  /** The rule that decides; null when none matches. */
  rule: Rule | null;
}

/**
 * A packet as numbers, for whoever judges many. What there is none of is -1, which is in no range. Addresses of IPv4 are
 * numbers, those of IPv6 bigints; flags are the bits of the TCP header.
 */
export interface Head {
  source: number | bigint;
  destination: number | bigint;
  protocol: number;
  sourcePort: number;
  destinationPort: number;
  flags: number;
  dscp: number;
  ecn: number;
  ttl: number;
  length: number;
  fragment: boolean;
}

type Test = (head: Head) => boolean;

/**
 * Judges a packet to the policy's destination, as the kernel does; a test holds the two against each other. A limit is for
 * whoever counts: the verdict names the rule that has it.
 */
export function judge(policy: Pick<Policy, 'rules' | 'unmatched'>, packet: Packet): Verdict {
  return judgeOf(policy)(packet);
}

/** The same for many packets: what can be worked out beforehand is. */
export function judgeOf(policy: Pick<Policy, 'rules' | 'unmatched'>): (packet: Packet) => Verdict {
  const judgeHead = judgeHeadsOf(policy);
  return (packet) => judgeHead(headOf(packet));
}

/**
 * The same for many that are numbers already, some millions of times in a row: of rules those are looked at that have to do with the
 * packet's protocol and port, and of these mostly the source alone.
 */
export function judgeHeadsOf({
  rules,
  unmatched,
}: Pick<Policy, 'rules' | 'unmatched'>): (head: Head) => Verdict {
  const sources = Float64Array.from(rules.flatMap(({ match }) => boundsOf(match)));
  const tests = rules.map(({ match }) => testsOf(match));
  const verdicts = rules.map((rule): Verdict => ({ action: rule.action, rule }));
  const otherwise: Verdict = { action: unmatched, rule: null };
  const byProtocol = new Map<number, (port: number) => number[]>();
  return (head) => {
    let nearby = byProtocol.get(head.protocol);
    if (nearby === undefined) {
      nearby = byPort(rules, head.protocol);
      byProtocol.set(head.protocol, nearby);
    }
    const source = Number(head.source);
    for (const nth of nearby(head.destinationPort)) {
      if (source < (sources[2 * nth] as number) || source > (sources[2 * nth + 1] as number)) continue;
      if ((tests[nth] as Test[]).every((test) => test(head))) return verdicts[nth] as Verdict;
    }
    return otherwise;
  };
}

/** Which of the rules, in their order, may match a packet of this protocol to a port. */
function byPort(rules: readonly Rule[], protocol: number): (port: number) => number[] {
  const there = rules.flatMap(({ match }, nth) => {
    const protocols = protocolsOf(match);
    return protocols === null || inRanges(protocols, protocol)
      ? [{ nth, ports: match.destinationPorts }]
      : [];
  });
  // From each of these ports to the next one the same rules are meant.
  const edges = there.flatMap(({ ports = [] }) => ports.flatMap(([from, to]) => [from, to + 1]));
  const starts = [...new Set([-1, 0, ...edges])].sort((one, other) => one - other);
  const meant: (number[] | undefined)[] = [];
  return (port) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= port) low = middle;
      else high = middle - 1;
    }
    const known = meant[low];
    if (known !== undefined) return known;
    const start = starts[low] as number;
    const found = there.flatMap(({ nth, ports }) =>
      ports === undefined || inRanges(ports, start) ? nth : [],
    );
    meant[low] = found;
    return found;
  };
}

/** No source outside of them matches. Rounded addresses stay in order, so this holds for those of IPv6 as well. */
function boundsOf({ sources }: Match): [number, number] {
  if (sources === undefined) return [-Infinity, Infinity];
  const networks = sources.map(parsePrefix);
  return [
    networks.reduce((least, { first }) => Math.min(least, Number(first)), Infinity),
    networks.reduce((most, { last }) => Math.max(most, Number(last)), -Infinity),
  ];
}

export function headOf(packet: Packet): Head {
  const { protocol, ports, flags, dscp, ecn, ttl, length, fragment } = packet;
  return {
    ...{ source: numberOf(packet.source), destination: numberOf(packet.destination) },
    protocol: protocol ?? -1,
    sourcePort: ports === null ? -1 : ports.source,
    destinationPort: ports === null ? -1 : ports.destination,
    flags: flags === null ? -1 : flags.reduce((bits, flag) => bits | flagBits[flag], 0),
    ...{ dscp, ecn, ttl, length, fragment },
  };
}

function numberOf(address: string): number | bigint {
  const value = addressNumber(address);
  return address.includes(':') ? value : Number(value);
}

/** Beyond protocol and destination port. */
function testsOf(match: Match): Test[] {
  const tests: Test[] = [];
  const range = (ranges: Ranges | undefined, of: (head: Head) => number) => {
    if (ranges === undefined) return;
    const isOne = memberOf(ranges);
    tests.push((head) => isOne(of(head)));
  };
  range(match.sourcePorts, (head) => head.sourcePort);
  range(match.dscp, (head) => head.dscp);
  range(match.ecn, (head) => head.ecn);
  range(match.ttl, (head) => head.ttl);
  range(match.lengths, (head) => head.length);
  if (match.fragment !== undefined) tests.push((head) => head.fragment === match.fragment);
  if (match.flags !== undefined) tests.push(flagsTest(match.flags));
  if (match.destination !== undefined)
    tests.push(networkTest([match.destination], (head) => head.destination));
  if (match.sources !== undefined) tests.push(networkTest(match.sources, (head) => head.source));
  return tests;
}

function networkTest(networks: readonly string[], of: (head: Head) => number | bigint): Test {
  const parsed = networks.map(parsePrefix);
  return (head) => {
    const address = of(head);
    return parsed.some(({ first, last }) => first <= address && address <= last);
  };
}

function flagsTest(wanted: NonNullable<Match['flags']>): Test {
  let [named, set] = [0, 0];
  for (const [flag, isSet] of Object.entries(wanted)) {
    const bit = flagBits[flag as keyof typeof flagBits];
    named |= bit;
    if (isSet) set |= bit;
  }
  return ({ flags }) => flags >= 0 && (flags & named) === set;
}
