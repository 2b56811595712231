import type { AnySaga, Queue } from './saga.ts';

export const queues: readonly Queue[] = [
  ...(['quick', 'charges', 'links', 'mails', 'names'] as const),
  ...(['machine', 'bulk', 'incoming'] as const),
];

/** How many jobs of each queue one worker runs side by side. */
export type Slots = Record<Queue, number>;

export const defaultSlots: Slots = {
  ...{ quick: 16, charges: 64 },
  ...{ links: 4, mails: 4, names: 8 },
  ...{ machine: 12, bulk: 4, incoming: 2 },
};

export function queueOf({ queue }: AnySaga): Queue {
  return queue ?? 'quick';
}

/** What may be claimed at once for a queue. */
export interface Openings {
  atMost: number;
  /** Organizations that get nothing now. */
  full: number[];
}

/**
 * One organization gets at most half of a queue, rounded up. `atMost` is so small that this holds whoever the
 * next jobs belong to, so a queue is filled by asking again. `running` names the organization of each job that
 * runs in it; null is the provider, who is not limited.
 */
export function openingsIn(slots: number, running: readonly (number | null)[]): Openings {
  const share = Math.ceil(slots / 2);
  const held = new Map<number, number>();
  for (const id of running) if (id !== null) held.set(id, (held.get(id) ?? 0) + 1);
  const full = [...held.keys()].filter((id) => (held.get(id) ?? 0) >= share);
  const mostHeld = Math.max(0, ...[...held.values()].filter((count) => count < share));
  return { atMost: Math.min(slots - running.length, share - mostHeld), full };
}
