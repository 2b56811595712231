import type { Limit, Match, Policy, Rule } from '../../drivers/edge/index.ts';
import { single } from '../prefix.ts';
import {
  flagNames,
  largestPort,
  type NumberField,
  numberFields,
  type OtherMatch,
  type Rate,
  rangesOf,
} from '../rules/match.ts';
import type { RuleRow } from '../rules/rows.ts';

/** What an edge has to know of a rate limiter. */
export interface LimiterRow extends Rate {
  id: number;
}

/** What an edge has to know of a rule. */
export type Said = Pick<
  RuleRow,
  'id' | 'destination' | 'source' | 'action' | 'protocol' | 'source_port' | 'destination_port' | 'matches'
> & { limiter_id: number | null; rate?: Rate | null };

const icmp = 1;
const icmp6 = 58;

/** The policy of an address, in an edge's words. `rules` are those that are about it and active, in their order. */
export function policyOf(
  address: string,
  generation: number,
  unmatched: Policy['unmatched'],
  rules: readonly Said[],
  limiters: ReadonlyMap<number, LimiterRow>,
): Policy {
  const { text: destination, family } = single(address);
  return { destination, generation, unmatched, rules: rules.map((rule) => ruleOf(rule, family, limiters)) };
}

function ruleOf(rule: Said, family: 4 | 6, limiters: ReadonlyMap<number, LimiterRow>): Rule {
  const limiter = rule.limiter_id === null ? undefined : limiters.get(rule.limiter_id);
  return {
    id: rule.id,
    action: rule.action,
    match: matchOf(rule, family),
    limit: limiter === undefined ? limitOf(rule.rate ?? null) : limitOf(limiter),
  };
}

function limitOf(rate: Rate | null): Limit | null {
  if (rate === null) return null;
  const { packets_per_second, bits_per_second, per, burst } = rate;
  return {
    ...(packets_per_second !== null && { packetsPerSecond: packets_per_second }),
    ...(bits_per_second !== null && { bitsPerSecond: bits_per_second }),
    per,
    burst,
  };
}

/** What of all packets to an address a rule is about. The address is the policy's, so it is not said again. */
export function matchOf(rule: Omit<Said, 'id' | 'action' | 'limiter_id' | 'rate'>, family: 4 | 6): Match {
  const protocol = rule.protocol === icmp && family === 6 ? icmp6 : rule.protocol;
  const match: Match = { protocols: [[protocol, protocol]] };
  if (rule.source !== null) match.sources = [rule.source];
  if (rule.source_port !== null) match.sourcePorts = rangesOf(rule.source_port, largestPort);
  if (rule.destination_port !== null) match.destinationPorts = rangesOf(rule.destination_port, largestPort);
  for (const each of rule.matches) add(match, each);
  return match;
}

// What `proto` leaves is the rule's own protocol, as was checked when it was read.
function add(match: Match, each: OtherMatch): void {
  const flag = flagNames.find((name) => name === each.match);
  if (flag !== undefined) match.flags = { ...match.flags, [flag]: 'match_value' in each && each.match_value };
  else if (each.match === 'fragments') match.fragment = each.match_value;
  else setNumber(match, each as Extract<OtherMatch, { match: NumberField }>);
}

function setNumber(match: Match, each: Extract<OtherMatch, { match: NumberField }>): void {
  const ranges = rangesOf(each, numberFields[each.match]);
  if (each.match === 'dscp') match.dscp = ranges;
  if (each.match === 'ecn') match.ecn = ranges;
  if (each.match === 'ttl') match.ttl = ranges;
  if (each.match === 'length') match.lengths = ranges;
}
