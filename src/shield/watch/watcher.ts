import { type AddressTraffic, type Edge, EdgeError, type Traffic } from '../../drivers/edge/index.ts';
import { type Context, newId, transaction } from '../../platform/index.ts';
import { inheritCounts } from '../analytics/drops.ts';
import { addSeen, type Minute, minuteOf, turnMinute } from '../analytics/minutes.ts';
import {
  type AttackRow,
  type CountedThere,
  type Followed,
  findOpenAttacks,
  followedOf,
  writeAttack,
} from '../attacks/rows.ts';
import { isNews, tellOfAttack } from '../attacks/tell.ts';
import type { EdgeOf } from '../enforce/turn.ts';
import { single } from '../prefix.ts';
import { type Attack, follow, isAttack } from './detect.ts';
import { limitsOf } from './limits.ts';
import { type Counted, countedOf, nothingSeen, type Seen, seenSince } from './seen.ts';
import { findWatched, holdWatched, type Watched } from './watched.ts';

const refreshEveryMs = 2_000;
const compareEveryMs = 60_000;
/** Readings that follow each other more quickly tell nothing of a second. */
const leastMs = 500;

/** What is known of a node between two turns; all of it can be found again. */
interface Known {
  watched: Map<string, Watched>;
  refreshedAt: number;
  /** What the edge counts for. */
  held: Set<string>;
  comparedAt: number;
  counted: Counted;
  readAt: Date;
  /** By address: what may become an attack, and what is one. */
  courses: Map<string, Course>;
  full: string;
  minute: Minute;
}

interface Course {
  followed: Followed;
  /** As it was last told of; null: nobody was told yet. */
  told: Attack | null;
}

/**
 * Watches what is sent to the addresses of a node: each turn reads what its edge has counted for all of them at once, and follows
 * what is an attack. Begins with what is written down, so that whoever comes after one that died goes on where that
 * stopped. A turn that fails changes nothing, and the next one sees all that came meanwhile.
 */
export function createWatcher(ctx: Context, nodeId: number, edgeOf: EdgeOf): () => Promise<void> {
  let known: Known | null = null;
  let failed: { words: string; at: number } | null = null;
  return async () => {
    try {
      const edge = readable(nodeId, edgeOf);
      if (edge === null) return;
      known = known === null ? await begin(ctx, nodeId, edge) : await turn(ctx, nodeId, edge, known);
      failed = null;
    } catch (error) {
      // A turn comes every second: the log says the same once a minute.
      const words = error instanceof Error ? error.message : String(error);
      const at = ctx.clock.now().getTime();
      if (failed !== null && failed.words === words && at - failed.at < compareEveryMs) return;
      failed = { words, at };
      throw error;
    }
  };
}

/** Null where nothing filters, or nothing is counted. */
function readable(nodeId: number, edgeOf: EdgeOf): Edge | null {
  try {
    const edge = edgeOf(nodeId);
    return edge.capabilities.includes('traffic') ? edge : null;
  } catch (error) {
    if (error instanceof EdgeError && error.permanent) return null;
    throw error;
  }
}

async function begin(ctx: Context, nodeId: number, edge: Edge): Promise<Known> {
  const open = await findOpenAttacks(ctx, nodeId);
  const watched = await findWatched(ctx, nodeId);
  const held = await holdWatched(nodeId, edge, watched);
  const traffic = await edge.readTraffic();
  const now = ctx.clock.now();
  const counted = countedOf(traffic);
  inheritCounts(
    edge,
    [...held].map((address) => single(address).text),
  );
  const courses = new Map(
    open.map((row): [string, Course] => [row.address, resumed(row, watched.get(row.address), counted, now)]),
  );
  const at = now.getTime();
  return {
    watched,
    refreshedAt: at,
    held,
    comparedAt: at,
    counted,
    readAt: now,
    courses,
    full: '',
    minute: minuteOf(now),
  };
}

/** An attack that somebody before us has followed: what came since is one long reading, and time without a reading is not quiet. */
function resumed(row: AttackRow, owner: Watched | undefined, counted: Counted, now: Date): Course {
  const followed = followedOf(row);
  const there = [...counted].filter(([, { address }]) => address === row.address);
  const before = there.flatMap(([key, count]): [string, AddressTraffic][] => {
    const amount = row.counted[key];
    return amount === undefined ? [] : [[key, { ...count, ...amount }]];
  });
  const seen = seenSince(new Map(before), new Map(there)).get(row.address) ?? nothingSeen;
  const seconds = Math.max(1, (now.getTime() - row.updated_at.getTime()) / 1_000);
  const going = { ...followed.attack, lastOverAt: now };
  const limits = owner === undefined ? null : limitsOf(owner.level, owner.thresholds);
  const attack = follow(going, { at: now, seconds, seen }, limits) ?? going;
  return { followed: { ...followed, attack }, told: followed.attack };
}

async function turn(ctx: Context, nodeId: number, edge: Edge, before: Known): Promise<Known> {
  const at = ctx.clock.now();
  const seconds = (at.getTime() - before.readAt.getTime()) / 1_000;
  // A clock that went back starts over.
  if (seconds < 0) return { ...before, readAt: at };
  if (seconds * 1_000 < leastMs) return before;
  const minute = await turnMinute(ctx, edge, before.minute, at);
  const { watched, held, ...times } = await refreshed(ctx, nodeId, edge, before, at.getTime());
  const traffic = await edge.readTraffic();
  const counted = countedOf(traffic);
  const seen = seenSince(before.counted, counted);
  const courses = coursesAfter(before.courses, watched, seen, { at, seconds });
  const full = reportFull(ctx, nodeId, traffic, before.full);
  await writeCourses(ctx, nodeId, before.courses, courses, counted);
  const going = [...courses].filter(([, { followed }]) => followed.attack.endedAt === null);
  return {
    watched,
    held,
    ...times,
    counted,
    readAt: at,
    courses: new Map(going),
    full,
    minute: addSeen(minute, seen, watched),
  };
}

async function refreshed(
  ctx: Context,
  nodeId: number,
  edge: Edge,
  { watched: known, held, refreshedAt, comparedAt }: Known,
  now: number,
): Promise<Pick<Known, 'watched' | 'held' | 'refreshedAt' | 'comparedAt'>> {
  if (now - refreshedAt < refreshEveryMs) return { watched: known, held, refreshedAt, comparedAt };
  const watched = await findWatched(ctx, nodeId);
  const isNew = [...watched.values()].some(
    ({ address, generation }) => generation === 0 && !held.has(address),
  );
  if (!isNew && now - comparedAt < compareEveryMs) return { watched, held, refreshedAt: now, comparedAt };
  const holds = await holdWatched(nodeId, edge, watched);
  return { watched, held: holds, refreshedAt: now, comparedAt: now };
}

/** A full set of the edge misses traffic of others: staff has to know. */
function reportFull(ctx: Context, nodeId: number, { full }: Traffic, before: string): string {
  const now = full.toSorted().join(' ');
  if (now !== before && now !== '')
    ctx.log.warn(
      { node: nodeId, kinds: full },
      'an edge counts more than it has room for: some traffic is not seen',
    );
  return now;
}

function coursesAfter(
  before: ReadonlyMap<string, Course>,
  watched: ReadonlyMap<string, Watched>,
  seen: ReadonlyMap<string, Seen>,
  { at, seconds }: { at: Date; seconds: number },
): Map<string, Course> {
  const courses = new Map<string, Course>();
  for (const address of new Set([...before.keys(), ...seen.keys()])) {
    const course = before.get(address) ?? null;
    const owner = watched.get(address);
    const going = course?.followed.attack ?? null;
    // Whoever has the address no more is attacked no more.
    const isTheirs =
      owner !== undefined && (course === null || owner.service_id === course.followed.serviceId);
    const limits = isTheirs ? limitsOf(owner.level, owner.thresholds) : null;
    const reading = { at, seconds, seen: seen.get(address) ?? nothingSeen };
    const attack = isTheirs ? follow(going, reading, limits) : given(going);
    if (attack === null) continue;
    const followed = course?.followed ?? newFollowed(address, owner);
    if (followed !== null)
      courses.set(address, { followed: { ...followed, attack }, told: course?.told ?? null });
  }
  return courses;
}

function given(going: Attack | null): Attack | null {
  return going === null || !isAttack(going) ? null : { ...going, endedAt: going.lastOverAt };
}

function newFollowed(address: string, owner: Watched | undefined): Omit<Followed, 'attack'> | null {
  if (owner === undefined) return null;
  return { id: newId(), organizationId: owner.organization_id, serviceId: owner.service_id, address };
}

/** Writes down what has changed of attacks, and what is told of it, together. */
async function writeCourses(
  ctx: Context,
  nodeId: number,
  before: ReadonlyMap<string, Course>,
  courses: Map<string, Course>,
  counted: Counted,
): Promise<void> {
  const changed = [...courses].filter(([address, { followed }]) => {
    return isAttack(followed.attack) && followed.attack !== before.get(address)?.followed.attack;
  });
  if (changed.length === 0) return;
  await transaction(ctx, 'shield.writeAttacks', async (tx) => {
    for (const [address, { followed, told }] of changed) {
      await writeAttack(tx, nodeId, followed, countedThere(counted, address));
      await tellOfAttack(tx, told, followed);
    }
  });
  for (const [address, course] of changed) {
    const { attack } = course.followed;
    if (course.told === null || isNews(course.told, attack))
      courses.set(address, { ...course, told: attack });
  }
}

function countedThere(counted: Counted, address: string): CountedThere {
  return Object.fromEntries(
    [...counted]
      .filter(([, count]) => count.address === address)
      .map(([key, { packets, bytes }]) => [key, { packets, bytes }]),
  );
}
