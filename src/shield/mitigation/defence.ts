import type { Measure } from '../../drivers/edge/index.ts';
import type { Kind, Limit } from '../watch/limits.ts';
import type { Amount } from '../watch/seen.ts';
import type { MeasureName } from './measures.ts';

/** What an edge holds against attacks on an address. */
export type Filter = Extract<Measure, { kind: 'filter' }>;

/** In a second. */
export interface Rate {
  pps: number;
  mbps: number;
}

/** Why something was begun: what came of the kind, what of it went past that which was done already, and what its limit is. */
export interface Figures {
  arrived: Rate;
  /** Null: nothing was done yet. */
  past: Rate | null;
  limit: Limit;
}

/** Why something stands no more. */
export const reasons = [
  'attack_over',
  'switched_off',
  'released_by_owner',
  'released_by_staff',
  'given_back',
  // Of routers: nothing is seen of what they drop, so now and then they are to let it through.
  'to_look',
  'not_allowed',
  'routers_gone',
] as const;
export type Reason = (typeof reasons)[number];

/** One measure against one kind of an attack. */
export interface Mitigation {
  readonly id: number;
  readonly attackId: number;
  readonly kind: Kind;
  readonly measure: MeasureName;
  /** Of what is reflected: the ports that it comes from. */
  readonly ports: readonly number[];
  readonly why: Figures;
  /** The routers that are told; null: what filters before the machine. */
  readonly edgeId: number | null;
  readonly startedAt: Date;
  /** Null until the edge has it. */
  readonly inForceSince: Date | null;
  readonly dropped: Amount;
  readonly error: string | null;
  /** Of routers: then they are to let it through for a look. */
  readonly until: Date | null;
  readonly releasedAt: Date | null;
  readonly because: Reason | null;
}

/** What routers are to be told of an address; null: nothing any more. */
export interface Announcement {
  readonly edgeId: number;
  readonly generation: number;
  readonly measure: Measure | null;
}

/** What each rule of each writing of a filter had counted: packets and bytes, and those of them above its limit. */
export type Tally = Readonly<Record<string, readonly [number, number, number, number]>>;

/** What stands before one address against attacks. */
export interface Defence {
  readonly address: string;
  readonly organizationId: number;
  readonly serviceId: number;
  readonly standing: readonly Mitigation[];
  /** Released, with their last counts still to come or to be written down. */
  readonly leaving: readonly Mitigation[];
  /** What somebody released by hand while the attack goes on is not begun again in it. */
  readonly refused: readonly Refused[];
  /** The edge is to have this filter, in this generation; null: none. */
  readonly filter: Filter | null;
  readonly generation: number;
  /** The generation that it has; null: none, or it has lost it. */
  readonly held: number | null;
  /** When it was told last and would not. */
  readonly failedAt: Date | null;
  readonly tally: Tally;
  readonly readAt: Date | null;
  /** Until then it is read each second. */
  readonly closeUntil: Date | null;
  /** Writings that are over, of which everything is counted. */
  readonly spent: readonly string[];
  /** By routers. */
  readonly announced: readonly Announcement[];
  /** How often in this attack routers were to let it through for a look. */
  readonly looks: number;
  /** Until then it is not known whether the attack is over: routers have let it through only since a moment ago. */
  readonly lookingUntil: Date | null;
  /** How many readings in a row more came than is for what filters here alone, and than a line bears. */
  readonly overLines: { flowspec: number; blackhole: number };
  /** Another node looks after the address, and goes on with it. */
  readonly isElsewhere: boolean;
  /** By kind, how many readings in a row had too much of it go past. */
  readonly over: Partial<Record<Kind, number>>;
}

export interface Refused {
  attackId: number;
  kind: Kind;
  measure: MeasureName;
  edgeId: number | null;
}

export type Defences = ReadonlyMap<string, Defence>;

export function newDefence(of: Pick<Defence, 'address' | 'organizationId' | 'serviceId'>): Defence {
  return {
    ...of,
    ...{ standing: [], leaving: [], refused: [], filter: null, generation: 0, held: null, failedAt: null },
    ...{ tally: {}, readAt: null, closeUntil: null, spent: [], over: {}, isElsewhere: false },
    ...{ announced: [], looks: 0, lookingUntil: null, overLines: { flowspec: 0, blackhole: 0 } },
  };
}

/** Whether the edge has what it is to have, and all that it has counted before is known. */
export function isSettled({ filter, held, generation, spent }: Defence): boolean {
  return spent.length === 0 && (filter === null ? held === null : held === generation);
}
