import { isSingle, type Network, shortText } from '../prefix.ts';
import { type Kind, maps, measured, type TableFamily, table } from './base.ts';
import type { Text } from './compile.ts';
import type { Named } from './names.ts';
import type { State } from './state.ts';
import { notProxying, proxying, synproxyOf } from './synproxy.ts';

/** What a destination leads to from now on; null: to nothing. */
export interface Change {
  kind: Kind;
  destination: string;
  network: Network;
  to: Named | null;
  /** Of a trial. */
  seconds: number | null;
}

/** The same for every table; each says it of itself. */
export function everywhere({ layout }: State, lines: (of: TableFamily, at: string) => string[]): string {
  return [...layout.keys()]
    .flatMap((of) => lines(of, `${of} ${table}`))
    .map((line) => `${line}\n`)
    .join('');
}

export function additions(of: TableFamily, at: string, { objects, rules, elements }: Text): string[] {
  const isHere = ({ only = of }: { only?: TableFamily }) => only === of;
  return [
    ...objects
      .filter(isHere)
      .map(({ kind, name, spec }) => `add ${kind} ${at} ${name}${spec === '' ? '' : ` { ${spec} }`}`),
    ...elements.map(({ map, text }) => `add element ${at} ${map} { ${text} }`),
    ...rules.filter(isHere).map(({ chain, text }) => `add rule ${at} ${chain} ${text}`),
  ];
}

/** A table that lacks what it shall lead to keeps what it has, until all is written anew. */
export function leading(now: State, of: TableFamily, at: string, change: Change): string[] {
  const { kind, destination, network, to, seconds } = change;
  if (to !== null && !now.there.get(of)?.has(to.name)) return [];
  const map = `${at} ${maps[kind][isSingle(network) ? 0 : 1]}${network.family}`;
  const until = seconds === null ? '' : ` timeout ${seconds}s`;
  // A measure comes back to where it was looked up; a policy has the last word.
  const verdict = kind === 'mitigations' ? 'jump' : 'goto';
  const key = shortText(network);
  const counting = `${at} ${measured}${network.family}`;
  const count = `add element ${counting} { ${key} : goto first${network.family} }`;
  const before = now.book[kind].get(destination);
  const synproxy = to === null || of !== 'inet' ? null : synproxyOf(now, to.name);
  return [
    ...(before?.isProxied && of === 'inet' ? notProxying(at, network) : []),
    ...(synproxy === null ? [] : proxying(at, network, synproxy)),
    ...(before?.at.includes(of) ? [`delete element ${map} { ${key} }`] : []),
    ...(to === null ? [] : [`add element ${map} { ${key}${until} : ${verdict} ${to.name} }`]),
    ...(kind === 'mitigations' ? [count] : []),
    ...(kind === 'mitigations' && to === null ? [`delete element ${counting} { ${key} }`] : []),
  ];
}

/** What rules use goes after the rules. */
export function removals(now: State, of: TableFamily, at: string, name: string): string[] {
  const isThere = (object: string) => now.there.get(of)?.has(object) ?? false;
  const parts = (now.parts.get(name) ?? []).filter((part) => isThere(part.name));
  const chains = [
    ...parts.filter(({ kind }) => kind === 'chain').map((part) => part.name),
    ...(isThere(name) ? [name] : []),
  ];
  return [
    ...chains.toReversed().map((chain) => `flush chain ${at} ${chain}`),
    ...parts.filter(({ kind }) => kind !== 'chain').map((part) => `delete ${part.kind} ${at} ${part.name}`),
    ...chains.map((chain) => `delete chain ${at} ${chain}`),
  ];
}
