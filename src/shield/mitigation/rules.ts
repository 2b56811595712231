import {
  holds,
  type Limit,
  type Match,
  type Ranges,
  type Rule,
  type TcpFlag,
} from '../../drivers/edge/index.ts';
import { kinds } from '../addresses/words.ts';
import { limitsFrom } from '../analytics/drops.ts';
import { prefixFrom } from '../prefix.ts';
import { transferBytes } from '../watch/lengths.ts';
import type { Kind, Limits } from '../watch/limits.ts';
import type { Filter, Mitigation } from './defence.ts';
import { type MeasureName, reflecting, shareOfSource, usualAnswers } from './measures.ts';

/** Kinds by which packets are told apart, each packet of the first that fits. */
export const parts = [
  'fragments',
  'reflection',
  'syn',
  'ack',
  'udp',
  'icmp',
  'other',
] as const satisfies Kind[];
export type PartOf = (typeof parts)[number];

const tcp: Ranges = [[6, 6]];
const udp: Ranges = [[17, 17]];
const oneOf = (numbers: readonly number[]): Ranges => numbers.map((each) => [each, each] as const);

function matchOf(part: PartOf, family: 4 | 6): Match {
  const icmp = family === 4 ? 1 : 58;
  const matches: Record<PartOf, Match> = {
    fragments: { fragment: true },
    reflection: { protocols: udp, sourcePorts: oneOf(reflecting) },
    syn: { flags: { syn: true, ack: false } },
    ack: { protocols: tcp },
    udp: { protocols: udp },
    icmp: { protocols: [[icmp, icmp]] },
    other: {},
  };
  return matches[part];
}

// Ids say what a rule is for, so that whoever reads counters knows it without asking what was written.
const dropping: readonly MeasureName[] = [
  ...(['drop_reflection', 'drop_answers', 'drop_fragments', 'drop_malformed'] as const),
];
const [perKind, perMeasure] = [100, 10];
const first = { limit: limitsFrom, limitOfTotal: 1_100, past: 2_000, spared: 3_000, exempt: 4_000 } as const;

/** What a rule of a filter is for. */
export type RuleFor =
  | { is: 'drop' | 'limit'; kind: Kind; measure: MeasureName }
  /** Counts what goes past all that is done. */
  | { is: 'past'; kind: PartOf }
  /** Counts what comes from senders whose traffic is no attack. */
  | { is: 'spared'; kind: PartOf }
  /** Lets those past whom a rule of the owner permits by name. */
  | { is: 'exempt' };

/** A rule of a limit that stands against a kind counts what it lets through as well: of which part, says `part`. */
export function ruleFor(id: number): RuleFor & { part: PartOf | null } {
  const at = (from: number) => parts[id - from] ?? 'other';
  if (id >= first.exempt) return { is: 'exempt', part: null };
  if (id >= first.spared) return { is: 'spared', kind: at(first.spared), part: null };
  if (id >= first.past) return { is: 'past', kind: at(first.past), part: at(first.past) };
  if (id >= first.limitOfTotal)
    return { is: 'limit', kind: 'total', measure: 'limit_sources', part: at(first.limitOfTotal) };
  if (id >= first.limit)
    return { is: 'limit', kind: at(first.limit), measure: 'limit_sources', part: at(first.limit) };
  const [kind, measure] = [
    kinds[Math.floor((id - 1) / perKind)],
    dropping[Math.floor(((id - 1) % perKind) / perMeasure)],
  ];
  return { is: 'drop', kind: kind ?? 'total', measure: measure ?? 'drop_malformed', part: null };
}

interface FilterTerms {
  family: 4 | 6;
  limits: Limits | null;
  exempt: readonly string[];
  spared: readonly string[];
}

/** What stands against attacks on an address, as the edge of its machine is to have it. Null: nothing. */
export function filterOf(
  standing: readonly Mitigation[],
  { family, limits, exempt, spared }: FilterTerms,
): Filter | null {
  const here = standing.filter(({ edgeId }) => edgeId === null);
  if (here.length === 0 && spared.length === 0) return null;
  const uncounted = amongSpared(exempt, spared);
  const rules = [
    ...(spared.length === 0 ? [] : counting(first.spared, family, spared)),
    ...(uncounted.length === 0 ? [] : [permit(first.exempt, { sources: uncounted })]),
    ...here.flatMap(drops),
    ...(limits === null || here.length === 0 ? [] : limited(here, family, limits)),
  ];
  const answers = here.some(({ measure }) => measure === 'synproxy');
  return {
    ...{ kind: 'filter', rules, exempt: exempt.filter((each) => !uncounted.includes(each)) },
    ...(answers && { synproxy: [[1, 65_535]] as const }),
  };
}

/** Who is exempt meets no rule of the measure, so it would not be counted how much of it is spared. */
function amongSpared(exempt: readonly string[], spared: readonly string[]): string[] {
  const networks = spared.map(prefixFrom);
  return exempt.filter((each) => {
    const network = prefixFrom(each);
    return networks.some((other) => holds(other, network) || holds(network, other));
  });
}

function counting(from: number, family: 4 | 6, sources: readonly string[]): Rule[] {
  return parts.map((part, nth) => permit(from + nth, { ...matchOf(part, family), sources: [...sources] }));
}

function drops({ kind, measure, ports }: Mitigation): Rule[] {
  const nth = dropping.indexOf(measure);
  if (nth < 0) return [];
  const id = 1 + kinds.indexOf(kind) * perKind + nth * perMeasure;
  return matchesOf(measure, ports).map((match, at) => ({ id: id + at, action: 'deny', match, limit: null }));
}

/** What is dropped of what. Every packet that one of them matches is. */
export function matchesOf(measure: MeasureName, ports: readonly number[]): Match[] {
  const answering = ports.filter((port) => port in usualAnswers);
  const others = ports.filter((port) => !(port in usualAnswers));
  if (measure === 'drop_fragments') return [{ fragment: true }];
  if (measure === 'drop_answers')
    return answering.length === 0 ? [] : [{ protocols: udp, sourcePorts: oneOf(answering) }];
  if (measure === 'drop_malformed') return malformed;
  if (measure !== 'drop_reflection') return [];
  return [
    ...(others.length === 0 ? [] : [{ protocols: udp, sourcePorts: oneOf(others) }]),
    ...answering.map((port): Match => {
      const usual = usualAnswers[port] ?? 0;
      return { protocols: udp, sourcePorts: oneOf([port]), lengths: [[usual + 1, longest]] };
    }),
  ];
}

const longest = 65_575;
const flags = (...set: TcpFlag[]): Match => ({ flags: Object.fromEntries(set.map((flag) => [flag, true])) });
const none = { fin: false, syn: false, rst: false, psh: false, ack: false, urg: false };
/** TCP that no sender of good faith makes: RFC 9293 has no use for any of these. */
const malformed: Match[] = [
  flags('syn', 'fin'),
  flags('syn', 'rst'),
  flags('fin', 'rst'),
  { flags: none },
  { flags: { fin: true, ack: false } },
  { protocols: tcp, sourcePorts: [[0, 0]] },
  { protocols: tcp, destinationPorts: [[0, 0]] },
];

/** Each packet meets one of these: a limit, or what counts that it goes past. */
function limited(standing: readonly Mitigation[], family: 4 | 6, limits: Limits): Rule[] {
  const limits_sources = (kind: Kind) =>
    standing.some((each) => each.measure === 'limit_sources' && each.kind === kind);
  const ofTotal = limits_sources('total');
  return parts.flatMap((part, nth) => {
    const past = permit(first.past + nth, matchOf(part, family));
    const own = limits_sources(part);
    if (!own && !ofTotal) return [past];
    const id = (own ? first.limit : first.limitOfTotal) + nth;
    const limit = limitOf(part, limits[own ? part : 'total']);
    if (limit === null) return [past];
    // Long packets of a connection bring what the guest asks for.
    const match =
      part === 'ack'
        ? { ...matchOf(part, family), lengths: [[0, transferBytes - 1] as const] }
        : matchOf(part, family);
    const rule: Rule = { id, action: 'permit', match, limit };
    return part === 'ack' ? [rule, past] : [rule];
  });
}

/** Null where nothing is limited. */
function limitOf(part: PartOf, { pps, mbps }: Limits[Kind]): Limit | null {
  if (pps === null && mbps === null) return null;
  const packetsPerSecond = pps === null ? undefined : Math.max(1, Math.ceil(pps / shareOfSource));
  const bitsPerSecond = mbps === null ? undefined : Math.max(8_000, Math.ceil((mbps * 1e6) / shareOfSource));
  return {
    ...(packetsPerSecond !== undefined && { packetsPerSecond: Math.min(1_000_000_000, packetsPerSecond) }),
    ...(bitsPerSecond !== undefined && { bitsPerSecond: Math.min(10 ** 13, bitsPerSecond) }),
    per: 'source',
    burst: Math.min(1_000_000, Math.max(10, packetsPerSecond ?? 1_000)),
    // False senders fill all the room there is. Who opens a connection then must not share one rate with them.
    ...(part === 'syn' && { beyond: 'permitted' as const }),
  };
}

function permit(id: number, match: Match): Rule {
  return { id, action: 'permit', match, limit: null };
}
