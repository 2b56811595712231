import type { EdgeCapability } from '../../drivers/edge/index.ts';
import { partsOf, reflected } from '../watch/detect.ts';
import type { Kind, Limits } from '../watch/limits.ts';
import { type Amount, allOf, nothing, type Seen, sum } from '../watch/seen.ts';
import type { Watched } from '../watch/watched.ts';
import type { Figures, Rate, Reason } from './defence.ts';

/** What a decision goes by. */
export interface Scene {
  at: Date;
  /** Since the reading before. */
  seconds: number;
  /** Who has the address now; undefined: nobody whom the edge looks after. */
  owner: Watched | undefined;
  limits: Limits | null;
  /** The attack that goes on; null: none does. */
  attackId: number | null;
  seen: Seen;
  /** What went past all that stands, and in how long a time; null: not counted. */
  past: { seen: Seen; seconds: number } | null;
  can: readonly EdgeCapability[];
  /** What is to be released because somebody asked for it, by mitigation. */
  asked: ReadonlyMap<number, Reason>;
  /** The routers in front of the address. */
  fronts: readonly Front[];
  lines: Lines;
}

/** Routers that may be told of an address. */
export interface Front {
  edgeId: number;
  /** Whose process speaks to them. */
  nodeId: number;
  /** Whether they may send packets to nowhere. */
  blackholes: boolean;
}

/** From how much on, of all that comes to an address, more than what filters before its machine has to help. */
export interface Lines {
  flowspec: Rate;
  blackhole: Rate;
}

/** An attack that goes on at an address where it is to be met. */
export interface Met extends Scene {
  attackId: number;
  limits: Limits;
}

/** So many readings in a row have to show that something did not help. */
export const readingsToJudge = 3;

export function figuresOf(kind: Kind, { seen, past, seconds, limits }: Met): Figures {
  return {
    arrived: rateOf(partsOf(seen)[kind], seconds),
    past: past === null ? null : rateOf(partsOf(past.seen)[kind], past.seconds),
    limit: limits[kind],
  };
}

/** Of all that came. */
export function wholeOf({ seen, seconds }: Scene): Rate {
  return rateOf(allOf(seen), seconds);
}

export function rateOf({ packets, bytes }: Amount, seconds: number): Rate {
  return { pps: Math.round(packets / seconds), mbps: Math.round(((bytes * 8) / 1e6 / seconds) * 10) / 10 };
}

const busyShare = 0.05;

/** From where much of what is reflected comes. */
export function busyPorts(seen: Seen): number[] {
  const all = reflected(seen);
  const most = all.map(([, amount]) => amount).reduce(sum, nothing).packets;
  return all.filter(([, { packets }]) => packets >= most * busyShare).map(([port]) => port);
}
