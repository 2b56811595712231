import type { kinds, levels, Thresholds } from '../addresses/words.ts';

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

/** What usually comes to an address: the busiest of its hours but for one in a hundred, by the mean of each, without those of attacks. */
export interface Usual {
  /** So many hours with traffic, within the last four weeks. */
  hours: number;
  /** Of the first of them, as ISO. */
  since: string;
  pps: number;
  mbps: number;
}

/** Two weeks of hours: with fewer nothing is learned. */
export const hoursToLearn = 336;
/** A moment may have so many times what its hour has on average. */
const peakOfHour = 5;
/** How far own weeks move a limit, as a share of the level's. */
const [lowest, highest] = [0.25, 10];

/** What an address's limits go by. */
export interface Terms {
  level: Level;
  /** The owner's own; they go before all else. */
  thresholds: Thresholds;
  product_thresholds: Thresholds;
  usual: Usual | null;
}

/** Whose word a limit is. */
export const sources = ['own', 'product', 'usual', 'level'] as const;
export type Source = (typeof sources)[number];

/** A limit, and whose word it is. */
export interface Explained {
  pps: { value: number | null; by: Source };
  mbps: { value: number | null; by: Source };
}

/** What counts for an address, and why. Null: nothing is an attack there. */
export function explainLimits({
  level,
  thresholds,
  product_thresholds,
  usual,
}: Terms): Record<Kind, Explained> | null {
  if (level === 'off') return null;
  const share = shareOf[level];
  const one = (kind: Kind, unit: 'pps' | 'mbps'): Explained['pps'] => {
    const own = thresholds[kind]?.[unit];
    if (own != null) return { value: own, by: 'own' };
    const product = product_thresholds[kind]?.[unit];
    if (product != null) return { value: product, by: 'product' };
    const fixed = medium[kind][unit];
    if (fixed === null) return { value: null, by: 'level' };
    const learned = learnedLimit(kind, fixed * share, usual?.[unit], usual?.hours ?? 0);
    return learned === null ? { value: fixed * share, by: 'level' } : { value: learned, by: 'usual' };
  };
  return Object.fromEntries(
    (Object.keys(medium) as Kind[]).map((kind) => [kind, { pps: one(kind, 'pps'), mbps: one(kind, 'mbps') }]),
  ) as Record<Kind, Explained>;
}

/**
 * Hours are counted as a whole: so they say what all together may be, and that one kind may be all of it. Of what is rare they say nothing.
 * Null: the level's limit is the one.
 */
function learnedLimit(kind: Kind, fixed: number, usual: number | undefined, hours: number): number | null {
  if (usual === undefined || hours < hoursToLearn) return null;
  if (!['total', 'udp', 'ack', 'other'].includes(kind)) return null;
  const least = kind === 'total' ? fixed * lowest : fixed;
  const value = Math.ceil(Math.min(Math.max(usual * peakOfHour, least), fixed * highest));
  return value === fixed ? null : value;
}

/** The same without the reasons. */
export function limitsFor(terms: Terms): Limits | null {
  const explained = explainLimits(terms);
  if (explained === null) return null;
  return Object.fromEntries(
    Object.entries(explained).map(([kind, { pps, mbps }]) => [kind, { pps: pps.value, mbps: mbps.value }]),
  ) as Record<Kind, Limit>;
}

/** By the level, and by limits of one's own. */
export function limitsOf(level: Level, thresholds: Thresholds): Limits | null {
  return limitsFor({ level, thresholds, product_thresholds: {}, usual: null });
}
