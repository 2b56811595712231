import type { kinds, levels, Thresholds } from '../addresses/sensitivity.ts';

export type Kind = (typeof kinds)[number];
type Level = (typeof levels)[number];

/** From where on a kind of traffic is an attack: packets, or millions of bits, in a second. Null: by none of it. */
export interface Limit {
  pps: number | null;
  mbps: number | null;
}

export type Limits = Readonly<Record<Kind, Limit>>;

/**
 * At `medium`. Well above what one machine is asked by many people, well below what fills its line or its processor.
 * What answers with the sender's consent (SYN, ICMP, fragments, reflection) is rare and has low ones.
 */
const medium: Limits = {
  fragments: { pps: 5_000, mbps: 50 },
  reflection: { pps: 2_500, mbps: 25 },
  syn: { pps: 5_000, mbps: 50 },
  // A guest that sends a gigabit is acknowledged 40,000 times a second.
  ack: { pps: 80_000, mbps: null },
  udp: { pps: 20_000, mbps: 300 },
  icmp: { pps: 2_000, mbps: 20 },
  other: { pps: 20_000, mbps: 300 },
  total: { pps: 200_000, mbps: 2_000 },
};

const shareOf = { low: 4, medium: 1, high: 0.25 } as const satisfies Record<Exclude<Level, 'off'>, number>;

/** What counts for an address. Null: nothing is an attack there. */
export function limitsOf(level: Level, own: Thresholds): Limits | null {
  if (level === 'off') return null;
  const share = shareOf[level];
  const scaled = (value: number | null) => (value === null ? null : value * share);
  return Object.fromEntries(
    Object.entries(medium).map(([kind, { pps, mbps }]) => {
      const set = own[kind as Kind];
      return [kind, { pps: set?.pps ?? scaled(pps), mbps: set?.mbps ?? scaled(mbps) }];
    }),
  ) as Record<Kind, Limit>;
}

/** The same of an address that is watched. */
export function limitsFor({ level, thresholds }: { level: Level; thresholds: Thresholds }): Limits | null {
  return limitsOf(level, thresholds);
}
