import type { Context } from '../context.ts';
import type { AnySaga, Queue } from './saga.ts';

export const queues: readonly Queue[] = [
  ...(['quick', 'charges', 'links', 'mails', 'names'] as const),
  ...(['machine', 'racks', 'bulk', 'answers', 'incoming'] as const),
];

/** How many jobs of each queue one worker runs side by side. */
export type Slots = Record<Queue, number>;

export const defaultSlots: Slots = {
  ...{ quick: 16, charges: 64 },
  ...{ links: 4, mails: 4, names: 8 },
  ...{ machine: 12, racks: 16, bulk: 4, answers: 2, incoming: 2 },
};

export function queueOf({ queue }: AnySaga): Queue {
  return queue ?? 'quick';
}

/** Who owns an organization, and which others are theirs as well: an account may have many. */
export interface Owned {
  ownerId: number;
  /** All that count as one with it, itself among them. */
  organizationIds: readonly number[];
}

/** Says of each organization that has an owner who that is; the room of organizations knows. */
export type OwnersReader = (
  ctx: Context,
  organizationIds: readonly number[],
) => Promise<ReadonlyMap<number, Owned>>;

/** What may be claimed at once for a queue. */
export interface Openings {
  atMost: number;
  /** Owners that get nothing now. */
  full: number[];
}

/**
 * One owner gets at most half of the places that others leave, rounded up: half of an empty queue, a quarter beside
 * somebody who has half, so that there is a place for whoever comes next. `atMost` is so small that this holds whoever the
 * next jobs belong to, so a queue is filled by asking again. `running` names the owner of each job that
 * runs in it; null is the provider, who is not limited.
 */
export function openingsIn(slots: number, running: readonly (number | null)[]): Openings {
  const free = slots - running.length;
  const held = new Map<number, number>();
  for (const id of running) if (id !== null) held.set(id, (held.get(id) ?? 0) + 1);
  const full = [...held.keys()].filter((id) => (held.get(id) ?? 0) >= free);
  const mostHeld = Math.max(0, ...[...held.values()].filter((count) => count < free));
  return { atMost: Math.ceil((free - mostHeld) / 2), full };
}

/** The same by organizations, of which `full` names all that are an owner's. */
export type Claimable = (
  ctx: Context,
  slots: number,
  running: readonly (number | null)[],
) => Promise<Openings>;

/** How long it is believed who owns what. */
const believedMs = 60_000;
const mostRemembered = 10_000;

/** Asks who owns organizations, and remembers it for a while. Whoever has no owner counts alone. */
export function claimableBy(read: OwnersReader): Claimable {
  const known = new Map<number, { owned: Owned; atMs: number }>();

  const ownersOf = async (ctx: Context, ids: readonly number[]): Promise<void> => {
    const nowMs = performance.now();
    const asked = [...new Set(ids)].filter(
      (id) => (known.get(id)?.atMs ?? -believedMs) <= nowMs - believedMs,
    );
    if (asked.length === 0) return;
    const found = await read(ctx, asked);
    if (known.size > mostRemembered) known.clear();
    // Ids of organizations are above zero, so are those of people: below it they do not meet.
    for (const id of asked)
      known.set(id, { owned: found.get(id) ?? { ownerId: -id, organizationIds: [id] }, atMs: nowMs });
  };

  return async (ctx, slots, running) => {
    const ids = running.filter((id) => id !== null);
    const free = slots - running.length;
    // While there is room for all of them to be one owner's, nobody need be asked.
    if (ids.length < free)
      return openingsIn(
        slots,
        running.map((id) => (id === null ? null : 0)),
      );
    await ownersOf(ctx, ids);
    const ownedOf = (id: number): Owned => known.get(id)?.owned ?? { ownerId: -id, organizationIds: [id] };
    const { atMost, full } = openingsIn(
      slots,
      running.map((id) => (id === null ? null : ownedOf(id).ownerId)),
    );
    const theirs = ids.map(ownedOf).filter(({ ownerId }) => full.includes(ownerId));
    return { atMost, full: [...new Set(theirs.flatMap(({ organizationIds }) => organizationIds))] };
  };
}
