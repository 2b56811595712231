/** What a rule says of packets, in the words of the API, read and checked. */
export interface RuleWords {
  destination: string;
  source: string | null;
  action: 'permit' | 'deny';
  protocol: Protocol;
  order: number;
  note: string | null;
  source_port: PortMatch | null;
  destination_port: PortMatch | null;
  matches: OtherMatch[];
  rate_limiter_id: number | null;
  /** Of its own; what comes above it is dropped. Not beside a limiter. */
  rate: Rate | null;
  expires_at: Date | null;
}

/** At least one of the two. */
export interface Rate {
  packets_per_second: number | null;
  bits_per_second: number | null;
  /** What has the rate for itself. */
  per: (typeof ratesPer)[number];
  /** Packets that may come at once. */
  burst: number;
}

export const ratesPer = ['rule', 'source', 'destination'] as const;

export const protocols = [1, 4, 6, 17, 47, 50] as const;
export type Protocol = (typeof protocols)[number];

export const matchTypes = ['eq', 'neq', 'gt', 'lt', 'range'] as const;
export type MatchType = (typeof matchTypes)[number];

export interface Span {
  start: number;
  end: number;
}

export type PortMatch =
  | { match_type: Exclude<MatchType, 'range'>; match_value: number[] }
  | { match_type: 'range'; range: Span };

export const flagNames = ['ack', 'fin', 'psh', 'rst', 'syn', 'urg'] as const;
export type FlagName = (typeof flagNames)[number];

/** Fields of a packet that are numbers, with the largest of each. `length` is ours, in bytes of the whole packet with its IP header. */
export const numberFields = { dscp: 63, ecn: 3, proto: 255, ttl: 255, length: 65_575 } as const;
export type NumberField = keyof typeof numberFields;

export type OtherMatch =
  | { match: FlagName | 'fragments'; match_type: 'eq'; match_value: boolean }
  | { match: NumberField; match_type: Exclude<MatchType, 'range'>; match_value: number }
  | { match: NumberField; match_type: 'range'; range: Span };

export const largestPort = 65_535;

/** The numbers from 0 to `largest` that are meant; none where nothing is left. */
export function rangesOf(
  match:
    | { match_type: Exclude<MatchType, 'range'>; match_value: number | readonly number[] }
    | { match_type: 'range'; range: Span },
  largest: number,
): [number, number][] {
  if (match.match_type === 'range') return [[match.range.start, match.range.end]];
  const values = [match.match_value].flat().toSorted((one, other) => one - other);
  const [first = 0] = values;
  switch (match.match_type) {
    case 'eq':
      return [...new Set(values)].map((value) => [value, value]);
    case 'neq':
      return without(values, largest);
    case 'gt':
      return first < largest ? [[first + 1, largest]] : [];
    case 'lt':
      return first > 0 ? [[0, first - 1]] : [];
  }
}

function without(values: readonly number[], largest: number): [number, number][] {
  const kept: [number, number][] = [];
  let from = 0;
  for (const value of values) {
    if (from <= value - 1) kept.push([from, value - 1]);
    from = Math.max(from, value + 1);
  }
  if (from <= largest) kept.push([from, largest]);
  return kept;
}
