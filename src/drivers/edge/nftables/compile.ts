import { protocolsOf } from '../check.ts';
import type { Limit, Match, Measure, Policy, Ranges, Rule, TcpFlag } from '../contract.ts';
import { flagBits } from '../headers.ts';
import { bytesOfPacket } from '../limit.ts';
import { type Network, parsePrefix, prefixText, shortText, widest } from '../prefix.ts';
import { tidyRanges } from '../ranges.ts';
import { isLaterPart, type TableFamily } from './base.ts';
import { elementsOf, type Part, partsOf } from './merge.ts';

/** What a policy or a measure becomes: a chain of its name, and what that needs. Without the table: it is for each, but for what is for one `only`. */
export interface Text {
  name: string;
  /** In the order in which they are added. */
  objects: { kind: 'set' | 'map' | 'chain'; name: string; spec: string; only?: TableFamily }[];
  rules: { chain: string; text: string; only?: TableFamily }[];
  elements: { map: string; text: string }[];
}

/** A counter of what no rule matched, or of what a blackhole swallows, has this instead of a rule's id. */
export const unmatchedMark = '0';
/** A source that was silent for longer has a full burst again. */
const leastForgetS = 10;
const sourcesAtMost = 16_384;
/**
 * Of all limits of a policy together. Whoever likes to can fill them: each source takes some 200 bytes of the kernel's memory, and nft
 * reads all of them whenever it is asked for a chain of their table.
 */
const sourcesOfPolicy = 4 * sourcesAtMost;

export function policyText(name: string, network: Network, { rules, unmatched }: Policy): Text {
  const text = emptyText(name);
  text.rules.push({ chain: name, text: `jump first${network.family}` });
  const last = unmatched === 'permit' ? 'accept' : 'drop';
  addRules(text, name, network, rules, 'accept', `counter ${last} comment "${unmatchedMark}"`);
  return withRoom(text);
}

/** What is not dropped goes back to where the measure was looked up. */
export function measureText(name: string, network: Network, measure: Measure): Text {
  const text = emptyText(name);
  if (measure.kind === 'blackhole') {
    text.rules.push({ chain: name, text: `counter drop comment "${unmatchedMark}"` });
    return text;
  }
  const exempt = sourcesMatch(network, measure.exempt);
  if (exempt !== null) text.rules.push({ chain: name, text: `${exempt} return` });
  addRules(text, name, network, measure.rules, 'return', null);
  return withRoom(text);
}

/** Gives each set its part of the room that there is for all of them. */
function withRoom(text: Text): Text {
  const sets = text.objects.filter(({ kind }) => kind === 'set').length;
  const size = Math.min(sourcesAtMost, Math.floor(sourcesOfPolicy / Math.max(1, sets)));
  const objects = text.objects.map((each) =>
    each.kind === 'set' ? { ...each, spec: `${each.spec} size ${size};` } : each,
  );
  return { ...text, objects };
}

function emptyText(name: string): Text {
  return { name, objects: [{ kind: 'chain', name, spec: '' }], rules: [], elements: [] };
}

type Permit = 'accept' | 'return';

/** Later parts of packets have a chain of their own, without the rules that look at ports and flags. */
function addRules(
  text: Text,
  name: string,
  network: Network,
  rules: readonly Rule[],
  permit: Permit,
  last: string | null,
): void {
  const end = (chain: string) => {
    if (last !== null) text.rules.push({ chain, text: last });
  };
  const later = rules.filter(({ match }) => !looksAtHead(match));
  if (later.length < rules.length) {
    text.objects.push({ kind: 'chain', name: `${name}_later`, spec: '' });
    text.rules.push({ chain: name, text: `${isLaterPart[network.family]} goto ${name}_later` });
    addParts(text, `${name}_later`, network, later, permit);
    end(`${name}_later`);
  }
  addParts(text, name, network, rules, permit);
  end(name);
}

function looksAtHead({ sourcePorts, destinationPorts, flags }: Match): boolean {
  return sourcePorts !== undefined || destinationPorts !== undefined || flags !== undefined;
}

function addParts(text: Text, chain: string, network: Network, rules: readonly Rule[], permit: Permit): void {
  for (const [nth, part] of partsOf(rules, network).entries()) {
    if (part.shape === 'plain') addRule(text, chain, network, part.rule, permit);
    else addMap(text, `${chain}_m${nth}`, chain, network, part, permit);
  }
}

function addRule(text: Text, chain: string, network: Network, rule: Rule, permit: Permit): void {
  const verdict = rule.action === 'deny' ? 'drop' : permit;
  const end =
    rule.limit === null
      ? verdict
      : `goto ${limitChain(text, `${text.name}_l${rule.id}`, network, rule.limit, permit)}`;
  text.rules.push({
    chain,
    text: [...conditions(rule.match, network), 'counter', end, `comment "${rule.id}"`].join(' '),
  });
}

/** Neighbours that differ only in source and port: one lookup for all, and a counter for each. */
function addMap(
  text: Text,
  map: string,
  chain: string,
  network: Network,
  { shape, rules }: Exclude<Part, { shape: 'plain' }>,
  permit: Permit,
): void {
  const [type, source] = network.family === 4 ? ['ipv4_addr', 'ip saddr'] : ['ipv6_addr', 'ip6 saddr'];
  const port = shape === 'ports' ? ['inet_service', 'th dport'] : null;
  const key = ['inet_proto', type, port?.[0]].filter(Boolean).join(' . ');
  text.objects.push({ kind: 'map', name: map, spec: `type ${key} : verdict; flags interval; counter;` });
  for (const rule of rules) {
    const verdict = rule.action === 'deny' ? 'drop' : permit;
    for (const { protocol, source, port } of elementsOf(rule.match, network)) {
      const parts = [span(protocol), prefixText(source), ...(port === null ? [] : [span(port)])];
      text.elements.push({ map, text: `${parts.join(' . ')} comment "${rule.id}" : ${verdict}` });
    }
  }
  text.rules.push({
    chain,
    text: `${['meta l4proto', source, port?.[1]].filter(Boolean).join(' . ')} vmap @${map}`,
  });
}

/** Drops what is above, and permits the rest; nothing comes back from it. */
function limitChain(text: Text, name: string, { family }: Network, limit: Limit, permit: Permit): string {
  // Its head and its later parts share what a packet's rule lets through.
  if (text.objects.some((each) => each.name === name)) return name;
  const rates: { unit: string; forgetS: number; over: string }[] = [];
  const { packetsPerSecond, bitsPerSecond, burst } = limit;
  if (packetsPerSecond !== undefined) {
    const over = `limit rate over ${packetsPerSecond}/second burst ${burst} packets`;
    rates.push({ unit: 'p', forgetS: burst / packetsPerSecond, over });
  }
  if (bitsPerSecond !== undefined) {
    const [rate, most] = [Math.floor(bitsPerSecond / 8), burst * bytesOfPacket];
    rates.push({
      unit: 'b',
      forgetS: 1 + most / rate,
      over: `limit rate over ${rate} bytes/second burst ${most} bytes`,
    });
  }
  text.objects.push({ kind: 'chain', name, spec: '' });
  const add = (rule: string) => text.rules.push({ chain: name, text: rule });
  for (const { unit, forgetS, over } of rates) {
    if (limit.per === 'rule') {
      add(`${over} counter drop`);
      continue;
    }
    const side = limit.per === 'source' ? 'saddr' : 'daddr';
    const [key, type] = family === 4 ? [`ip ${side}`, 'ipv4_addr'] : [`ip6 ${side}`, 'ipv6_addr'];
    const set = `${name}${unit}`;
    const timeout = Math.min(86_400, Math.max(leastForgetS, Math.ceil(forgetS) + 1));
    text.objects.push({
      kind: 'set',
      name: set,
      spec: `type ${type}; flags dynamic,timeout; timeout ${timeout}s;`,
    });
    add(`update @${set} { ${key} ${over} } counter drop`);
    // Where the set is full, those that found no room share one rate.
    if (limit.beyond !== 'permitted') add(`${key} != @${set} ${over} counter drop`);
  }
  add(permit);
  return name;
}

/** Everything a match says, the narrow and cheap first. */
export function conditions(match: Match, network: Network): string[] {
  const ip = network.family === 4 ? 'ip' : 'ip6';
  const found: string[] = [];
  const range = (left: string, ranges: Ranges | null | undefined, least: number, most: number) => {
    if (ranges == null) return;
    const tidy = tidyRanges(ranges);
    const [first] = tidy;
    if (tidy.length === 1 && first?.[0] === least && first[1] === most) return;
    found.push(`${left} ${oneOf(tidy.map(span))}`);
  };
  if (match.destination !== undefined) {
    const part = parsePrefix(match.destination);
    if (prefixText(part) !== prefixText(network)) found.push(`${ip} daddr ${prefixText(part)}`);
  }
  /** Of what not every packet has: a range of all of them still asks for there being one. */
  const present = (left: string, ranges: Ranges | null | undefined, most: number) => {
    const before = found.length;
    range(left, ranges, 0, most);
    if (ranges != null && found.length === before) found.push(`${left} >= 0`);
  };
  present('meta l4proto', protocolsOf(match), 255);
  present('th sport', match.sourcePorts, 65_535);
  present('th dport', match.destinationPorts, 65_535);
  const sources = match.sources === undefined ? null : sourcesMatch(network, match.sources);
  if (sources !== null) found.push(sources);
  if (match.flags !== undefined) found.push(flagsMatch(match.flags));
  if (match.fragment !== undefined) found.push(fragmentMatch(network.family, match.fragment));
  range(`${ip} dscp`, match.dscp, 0, 63);
  range(`${ip} ecn`, match.ecn, 0, 3);
  range(network.family === 4 ? 'ip ttl' : 'ip6 hoplimit', match.ttl, 0, 255);
  if (match.lengths !== undefined) found.push(lengthsMatch(network.family, match.lengths));
  return found;
}

function flagsMatch(flags: NonNullable<Match['flags']>): string {
  let [mask, value] = [0, 0];
  for (const [flag, isSet] of Object.entries(flags)) {
    mask |= flagBits[flag as TcpFlag];
    if (isSet) value |= flagBits[flag as TcpFlag];
  }
  return `tcp flags & ${mask} == ${value}`;
}

function fragmentMatch(family: 4 | 6, isFragment: boolean): string {
  if (family === 4) return `ip frag-off & 0x3fff ${isFragment ? '!=' : '=='} 0`;
  return `exthdr frag ${isFragment ? 'exists' : 'missing'}`;
}

/** IPv6 says how long what follows the header is. */
function lengthsMatch(family: 4 | 6, lengths: Ranges): string {
  const header = family === 4 ? 0 : 40;
  const said = tidyRanges(lengths)
    .filter(([, to]) => to >= header)
    .map(([from, to]): [number, number] => [Math.max(0, from - header), Math.min(65_535, to - header)])
    .filter(([from]) => from <= 65_535);
  const field = family === 4 ? 'ip length' : 'ip6 length';
  // Shorter than its own header is no packet: then nothing matches.
  if (said.length === 0) return `${field} 0 ${field} 1`;
  return said[0]?.[0] === 0 && said[0][1] === 65_535 ? `${field} >= 0` : `${field} ${oneOf(said.map(span))}`;
}

/** Null where every source is meant, or none is named. */
export function sourcesMatch({ family }: Network, sources: readonly string[]): string | null {
  const networks = widest(sources.map(parsePrefix));
  if (networks.length === 0 || networks[0]?.length === 0) return null;
  return `${family === 4 ? 'ip' : 'ip6'} saddr ${oneOf(networks.map(shortText))}`;
}

function span([from, to]: readonly [number, number]): string {
  return from === to ? String(from) : `${from}-${to}`;
}

function oneOf(texts: readonly string[]): string {
  return texts.length === 1 ? (texts[0] ?? '') : `{ ${texts.join(', ')} }`;
}
