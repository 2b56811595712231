import type { AnySaga, Lane } from './saga.ts';

export const lanes: readonly Lane[] = ['quick', 'machine', 'bulk'];

/** How many jobs of each lane one worker runs side by side. */
export type Slots = Record<Lane, number>;

export const defaultSlots: Slots = { quick: 16, machine: 12, bulk: 4 };

export function laneOf({ lane }: AnySaga): Lane {
  return lane ?? 'quick';
}

/** What may be claimed at once for a lane. */
export interface Room {
  atMost: number;
  /** Organizations that get nothing now. */
  full: number[];
}

/**
 * One organization gets at most half of a lane, rounded up. `atMost` is so small that this holds whoever the
 * next jobs belong to, so a lane is filled by asking again. `running` names the organization of each job that
 * runs in it; null is the provider, who is not limited.
 */
export function roomIn(slots: number, running: readonly (number | null)[]): Room {
  const share = Math.ceil(slots / 2);
  const held = new Map<number, number>();
  for (const id of running) if (id !== null) held.set(id, (held.get(id) ?? 0) + 1);
  const full = [...held.keys()].filter((id) => (held.get(id) ?? 0) >= share);
  const mostHeld = Math.max(0, ...[...held.values()].filter((count) => count < share));
  return { atMost: Math.min(slots - running.length, share - mostHeld), full };
}
