import { protocolsOf } from './check.ts';
import type { Action, Match, Packet, Policy, Ranges, Rule } from './contract.ts';
import { flagBits } from './headers.ts';
import { addressNumber, parsePrefix } from './prefix.ts';
import { inRanges } from './ranges.ts';

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

/** From and to, of protocol, destination port, source port and source. */
const boundsEach = 8;

/**
 * The same for many that are numbers already. Most rules fail by their bounds, which stand side by side: this is done millions
 * of times in a row.
 */
export function judgeHeadsOf({
  rules,
  unmatched,
}: Pick<Policy, 'rules' | 'unmatched'>): (head: Head) => Verdict {
  const bounds = Float64Array.from(rules.flatMap(({ match }) => boundsOf(match)));
  const tests = rules.map(({ match }) => testsOf(match));
  const verdicts = rules.map((rule): Verdict => ({ action: rule.action, rule }));
  const otherwise: Verdict = { action: unmatched, rule: null };
  const isOutside = (at: number, value: number) =>
    value < (bounds[at] as number) || value > (bounds[at + 1] as number);
  return (head) => {
    const source = Number(head.source);
    for (let nth = 0, at = 0; nth < tests.length; nth += 1, at += boundsEach) {
      if (isOutside(at, head.protocol) || isOutside(at + 2, head.destinationPort)) continue;
      if (isOutside(at + 4, head.sourcePort) || isOutside(at + 6, source)) continue;
      if ((tests[nth] as Test[]).every((test) => test(head))) return verdicts[nth] as Verdict;
    }
    return otherwise;
  };
}

/** No packet outside of them matches. Rounded addresses stay in order, so this holds for those of IPv6 as well. */
function boundsOf(match: Match): number[] {
  const around = (ranges: readonly (readonly [number | bigint, number | bigint])[] | null | undefined) =>
    ranges == null
      ? [-Infinity, Infinity]
      : [
          ranges.reduce((least, [from]) => Math.min(least, Number(from)), Infinity),
          ranges.reduce((most, [, to]) => Math.max(most, Number(to)), -Infinity),
        ];
  return [
    ...around(protocolsOf(match)),
    ...around(match.destinationPorts),
    ...around(match.sourcePorts),
    ...around(match.sources?.map(parsePrefix).map(({ first, last }) => [first, last] as const)),
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

/** What bounds do not settle. */
function testsOf(match: Match): Test[] {
  const tests: Test[] = [];
  const range = (ranges: Ranges | null | undefined, of: (head: Head) => number, isBound = false) => {
    if (ranges == null || (isBound && ranges.length === 1)) return;
    tests.push((head) => inRanges(ranges, of(head)));
  };
  range(protocolsOf(match), (head) => head.protocol, true);
  range(match.destinationPorts, (head) => head.destinationPort, true);
  range(match.sourcePorts, (head) => head.sourcePort, true);
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
