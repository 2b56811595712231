import { protocolsOf } from '../check.ts';
import type { Match, Ranges, Rule } from '../contract.ts';
import { type Network, overlaps, parsePrefix, widest } from '../prefix.ts';
import { tidyRanges } from '../ranges.ts';

/** Rules that stand next to each other, as they are written down: one by one, or together in one map. */
export type Part = { shape: 'plain'; rule: Rule } | { shape: Shape; rules: Rule[] };
/** What the map is looked up by: protocol and source, and the port asked for. */
type Shape = 'sources' | 'ports';

export interface Element {
  protocol: readonly [number, number];
  source: Network;
  port: readonly [number, number] | null;
}

/** Fewer are as quick one after another. */
const worthwhile = 4;
/** One rule of many networks and ports is better off with two sets. */
const elementsAtMost = 16;

/**
 * Neighbours that differ only in source and port become one map, as long as no packet could match two of them: then their
 * order says nothing, and each keeps its counter and its verdict.
 */
export function partsOf(rules: readonly Rule[], network: Network): Part[] {
  const runs: Run[] = [];
  for (const rule of rules) {
    const shape = shapeOf(rule, network);
    const elements = shape === null ? [] : elementsOf(rule.match, network);
    const before = runs.at(-1);
    const fits =
      shape !== null &&
      before?.shape === shape &&
      !elements.some((each) => before.elements.some((other) => meets(each, other)));
    if (fits) {
      before.rules.push(rule);
      before.elements.push(...elements);
    } else runs.push({ shape, rules: [rule], elements });
  }
  return runs.flatMap(({ shape, rules }): Part[] =>
    shape !== null && rules.length >= worthwhile
      ? [{ shape, rules }]
      : rules.map((rule) => ({ shape: 'plain', rule })),
  );
}

interface Run {
  shape: Shape | null;
  rules: Rule[];
  elements: Element[];
}

function shapeOf({ match, limit }: Rule, network: Network): Shape | null {
  const { sources: _, protocols, destinationPorts, ...others } = match;
  if (limit !== null || Object.values(others).some((each) => each !== undefined)) return null;
  if (protocols === undefined && destinationPorts === undefined) return null;
  if (elementsOf(match, network).length > elementsAtMost) return null;
  return destinationPorts === undefined ? 'sources' : 'ports';
}

/** Its protocols, sources and ports, each with each. They are disjoint, so that a packet finds one of them. */
export function elementsOf(match: Match, { family }: Network): Element[] {
  const all = parsePrefix(family === 4 ? '0.0.0.0/0' : '::/0');
  const sources = match.sources === undefined ? [all] : widest(match.sources.map(parsePrefix));
  const protocols: Ranges = tidyRanges(protocolsOf(match) ?? []);
  const ports = match.destinationPorts === undefined ? [null] : tidyRanges(match.destinationPorts);
  return protocols.flatMap((protocol) =>
    sources.flatMap((source) => ports.map((port): Element => ({ protocol, source, port }))),
  );
}

function meets(one: Element, other: Element): boolean {
  const touch = ([from, to]: readonly [number, number], [begin, end]: readonly [number, number]) =>
    from <= end && begin <= to;
  return (
    touch(one.protocol, other.protocol) &&
    overlaps(one.source, other.source) &&
    (one.port === null || other.port === null || touch(one.port, other.port))
  );
}
