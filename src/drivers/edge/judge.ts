import { protocolsOf } from './check.ts';
import type { Action, Match, Packet, Policy, Ranges, Rule } from './contract.ts';
import { addressNumber, isIn, parsePrefix } from './prefix.ts';
import { inRanges } from './ranges.ts';

export interface Verdict {
  action: Action;
  /** The rule that decides; null when none matches. */
  rule: Rule | null;
}

type Test = (packet: Packet, source: bigint, destination: bigint) => boolean;

/**
 * Judges a packet to the policy's destination, as the kernel does; a test holds the two against each other. A limit is for
 * whoever counts: the verdict names the rule that has it.
 */
export function judge(policy: Pick<Policy, 'rules' | 'unmatched'>, packet: Packet): Verdict {
  return judgeOf(policy)(packet);
}

/** The same for many packets: what can be worked out beforehand is. */
export function judgeOf({
  rules,
  unmatched,
}: Pick<Policy, 'rules' | 'unmatched'>): (packet: Packet) => Verdict {
  const tests = rules.map((rule) => ({ verdict: { action: rule.action, rule }, test: testOf(rule.match) }));
  const otherwise: Verdict = { action: unmatched, rule: null };
  return (packet) => {
    const [source, destination] = [addressNumber(packet.source), addressNumber(packet.destination)];
    return tests.find(({ test }) => test(packet, source, destination))?.verdict ?? otherwise;
  };
}

function testOf(match: Match): Test {
  const tests: Test[] = [];
  const range = (ranges: Ranges | null | undefined, of: (packet: Packet) => number | null | undefined) => {
    if (ranges == null) return;
    tests.push((packet) => {
      const value = of(packet);
      return value != null && inRanges(ranges, value);
    });
  };
  if (match.sources !== undefined) {
    const networks = match.sources.map(parsePrefix);
    tests.push((_, source) => networks.some((network) => isIn(network, source)));
  }
  if (match.destination !== undefined) {
    const network = parsePrefix(match.destination);
    tests.push((_, __, destination) => isIn(network, destination));
  }
  range(protocolsOf(match), (packet) => packet.protocol);
  range(match.sourcePorts, (packet) => packet.ports?.source);
  range(match.destinationPorts, (packet) => packet.ports?.destination);
  range(match.dscp, (packet) => packet.dscp);
  range(match.ecn, (packet) => packet.ecn);
  range(match.ttl, (packet) => packet.ttl);
  range(match.lengths, (packet) => packet.length);
  if (match.fragment !== undefined) tests.push((packet) => packet.fragment === match.fragment);
  if (match.flags !== undefined) tests.push(flagsTest(match.flags));
  return (packet, source, destination) => tests.every((test) => test(packet, source, destination));
}

function flagsTest(wanted: NonNullable<Match['flags']>): Test {
  const pairs = Object.entries(wanted);
  return ({ flags }) =>
    flags !== null && pairs.every(([flag, isSet]) => flags.some((each) => each === flag) === isSet);
}
