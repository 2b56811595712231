import type { Match, Ranges } from '../../drivers/edge/index.ts';
import { holds, prefixFrom } from '../prefix.ts';

const withPorts: Ranges = [
  [6, 6],
  [17, 17],
];
const onlyTcp: Ranges = [[6, 6]];

const numbers = ['sourcePorts', 'destinationPorts', 'dscp', 'ecn', 'ttl', 'lengths'] as const;

/** Whether each packet that `inner` matches is one that `outer` matches: never said where it is not so. */
export function covers(outer: Match, inner: Match): boolean {
  // Networks come last: reading them takes long, and there are many pairs.
  if (!rangesCover(outer.protocols, protocolsOf(inner))) return false;
  if (!numbers.every((name) => rangesCover(outer[name], inner[name]))) return false;
  if (outer.fragment !== undefined && outer.fragment !== inner.fragment) return false;
  const flagsCover = Object.entries(outer.flags ?? {}).every(([flag, isSet]) =>
    Object.entries(inner.flags ?? {}).some(([name, value]) => name === flag && value === isSet),
  );
  if (!flagsCover) return false;
  if (outer.destination !== undefined && !networksCover([outer.destination], listed(inner.destination)))
    return false;
  return networksCover(outer.sources, inner.sources);
}

function listed<T>(value: T | undefined): T[] | undefined {
  return value === undefined ? undefined : [value];
}

/** What `inner` says of protocols, also by speaking of ports and flags. */
function protocolsOf({ protocols, sourcePorts, destinationPorts, flags }: Match): Ranges | undefined {
  if (protocols !== undefined) return protocols;
  if (flags !== undefined) return onlyTcp;
  return sourcePorts !== undefined || destinationPorts !== undefined ? withPorts : undefined;
}

function networksCover(outer: readonly string[] | undefined, inner: readonly string[] | undefined): boolean {
  if (outer === undefined) return true;
  if (inner === undefined) return false;
  const wide = outer.map(prefixFrom);
  return inner.map(prefixFrom).every((network) => wide.some((each) => holds(each, network)));
}

function rangesCover(outer: Ranges | undefined, inner: Ranges | undefined): boolean {
  if (outer === undefined) return true;
  if (inner === undefined) return false;
  return inner.every(([from, to]) => {
    // Ranges that touch are one.
    let next = from;
    for (const [begin, end] of outer.toSorted((one, other) => one[0] - other[0])) {
      if (begin <= next && next <= end) next = end + 1;
    }
    return next > to;
  });
}
