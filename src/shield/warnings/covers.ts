import { type Match, type Network, type Ranges, tidyRanges } from '../../drivers/edge/index.ts';
import { holds, prefixFrom } from '../prefix.ts';

const withPorts: Ranges = [
  [6, 6],
  [17, 17],
];
const onlyTcp: Ranges = [[6, 6]];

const numbers = ['sourcePorts', 'destinationPorts', 'dscp', 'ecn', 'ttl', 'lengths'] as const;

/** A match as it is compared: networks read, ranges in order. What is undefined holds always. */
export interface Reach {
  protocols: Ranges | undefined;
  numbers: (Ranges | undefined)[];
  fragment: boolean | undefined;
  flags: [name: string, isSet: boolean][];
  destination: Network[] | undefined;
  sources: Network[] | undefined;
}

/** Worked out once for each rule: of two hundred rules there are twenty thousand pairs. */
export function reachOf(match: Match): Reach {
  const { destination, sources, flags, fragment } = match;
  return {
    protocols: tidy(protocolsOf(match)),
    numbers: numbers.map((name) => tidy(match[name])),
    fragment,
    flags: Object.entries(flags ?? {}),
    destination: destination === undefined ? undefined : [prefixFrom(destination)],
    sources: sources?.map(prefixFrom),
  };
}

/** Whether each packet that `inner` matches is one that `outer` matches: never said where it is not so. */
export function covers(outer: Reach, inner: Reach): boolean {
  if (!rangesCover(outer.protocols, inner.protocols)) return false;
  if (outer.fragment !== undefined && outer.fragment !== inner.fragment) return false;
  const flagsCover = outer.flags.every(([flag, isSet]) =>
    inner.flags.some(([name, value]) => name === flag && value === isSet),
  );
  if (!flagsCover) return false;
  if (!networksCover(outer.destination, inner.destination)) return false;
  if (!networksCover(outer.sources, inner.sources)) return false;
  return outer.numbers.every((ranges, nth) => rangesCover(ranges, inner.numbers[nth]));
}

function tidy(ranges: Ranges | undefined): Ranges | undefined {
  return ranges === undefined ? undefined : tidyRanges(ranges);
}

/** What it says of protocols, also by speaking of ports and flags. */
function protocolsOf({ protocols, sourcePorts, destinationPorts, flags }: Match): Ranges | undefined {
  if (protocols !== undefined) return protocols;
  if (flags !== undefined) return onlyTcp;
  return sourcePorts !== undefined || destinationPorts !== undefined ? withPorts : undefined;
}

function networksCover(
  outer: readonly Network[] | undefined,
  inner: readonly Network[] | undefined,
): boolean {
  if (outer === undefined) return true;
  if (inner === undefined) return false;
  return inner.every((network) => outer.some((each) => holds(each, network)));
}

/** Both in order, and nothing in them touches: each range of the one lies within one of the other. */
function rangesCover(outer: Ranges | undefined, inner: Ranges | undefined): boolean {
  if (outer === undefined) return true;
  if (inner === undefined) return false;
  let nth = 0;
  return inner.every(([from, to]) => {
    while ((outer[nth]?.[1] ?? Number.POSITIVE_INFINITY) < from) nth += 1;
    const around = outer[nth];
    return around !== undefined && around[0] <= from && to <= around[1];
  });
}
