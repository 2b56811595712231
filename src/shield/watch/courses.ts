import type { AddressTraffic } from '../../drivers/edge/index.ts';
import { type Context, newId } from '../../platform/index.ts';
import { type Followed, followedOf, type WholeAttack } from '../attacks/rows.ts';
import { addSamples, nameSources, noAttackTops } from '../attacks/tops.ts';
import { sourceNames } from '../names/names.ts';
import { type Attack, follow, isAttack, judgeReading } from './detect.ts';
import { limitsFor } from './limits.ts';
import type { Looked } from './samples.ts';
import { type Counted, nothingSeen, type Seen, seenSince } from './seen.ts';
import type { Watched } from './watched.ts';

export interface Course {
  followed: Followed;
}

/** An attack that somebody before us has followed: what came since is one long reading, and time without a reading is not quiet. */
export function resumed(row: WholeAttack, owner: Watched | undefined, counted: Counted, now: Date): Course {
  const followed = followedOf(row);
  const there = [...counted].filter(([, { address }]) => address === row.address);
  const before = there.flatMap(([key, count]): [string, AddressTraffic][] => {
    const amount = row.counted[key];
    return amount === undefined ? [] : [[key, { ...count, ...amount }]];
  });
  const seen = seenSince(new Map(before), new Map(there)).get(row.address) ?? nothingSeen;
  const seconds = Math.max(1, (now.getTime() - row.updated_at.getTime()) / 1_000);
  const going = { ...followed.attack, lastOverAt: now };
  const limits = owner === undefined ? null : limitsFor(owner);
  const attack = follow(going, { at: now, seconds, seen }, limits) ?? going;
  return { followed: { ...followed, attack } };
}

export function isOver(owner: Watched | undefined, seen: Seen | undefined, seconds: number): boolean {
  const limits = owner === undefined ? null : limitsFor(owner);
  return limits !== null && seen !== undefined && judgeReading({ seen, seconds }, limits) !== null;
}

export function goingOf(courses: ReadonlyMap<string, Course>): Followed[] {
  return [...courses.values()]
    .map(({ followed }) => followed)
    .filter(({ attack }) => attack.endedAt === null);
}

interface Looking {
  at: Date;
  seconds: number;
  elsewhere: ReadonlyMap<string, boolean>;
  /** Whether an attack would go on without being seen. */
  isUnseen(address: string): boolean;
}

export function coursesAfter(
  before: ReadonlyMap<string, Course>,
  watched: ReadonlyMap<string, Watched>,
  seen: ReadonlyMap<string, Seen>,
  { at, seconds, elsewhere, isUnseen }: Looking,
): Map<string, Course> {
  const courses = new Map<string, Course>();
  for (const address of new Set([...before.keys(), ...seen.keys()])) {
    // Whoever has the machine now follows it.
    if (elsewhere.has(address)) continue;
    const course = before.get(address) ?? null;
    const owner = watched.get(address);
    const going = course?.followed.attack ?? null;
    // Whoever has the address no more is attacked no more.
    const isTheirs =
      owner !== undefined &&
      (course === null ||
        (owner.service_id === course.followed.serviceId &&
          owner.organization_id === course.followed.organizationId));
    const limits = isTheirs ? limitsFor(owner) : null;
    const reading = { at, seconds, seen: seen.get(address) ?? nothingSeen };
    const next = isTheirs ? follow(going, reading, limits) : given(going);
    // What routers drop nobody here sees: that is no end.
    const attack = next?.endedAt != null && isTheirs && isUnseen(address) ? going : next;
    if (attack === null) continue;
    const followed = course?.followed ?? newFollowed(address, owner);
    if (followed !== null) courses.set(address, { followed: { ...followed, attack } });
  }
  return courses;
}

function given(going: Attack | null): Attack | null {
  return going === null || !isAttack(going) ? null : { ...going, endedAt: going.lastOverAt };
}

function newFollowed(address: string, owner: Watched | undefined): Omit<Followed, 'attack'> | null {
  if (owner === undefined) return null;
  const tops = noAttackTops();
  return { id: newId(), organizationId: owner.organization_id, serviceId: owner.service_id, address, tops };
}

/** What samples show of those that are above a limit at this reading; names come a moment later, when there are any. */
export function addTops(
  ctx: Context,
  courses: ReadonlyMap<string, Course>,
  samples: readonly Looked[],
  watched: ReadonlyMap<string, Watched>,
  at: Date,
): void {
  if (courses.size === 0) return;
  const byAddress = Map.groupBy(samples, (each) => each.address);
  const names = sourceNames(ctx);
  for (const { followed } of courses.values()) {
    const { address, attack, tops } = followed;
    const ofIt = attack.lastOverAt === at ? (byAddress.get(address) ?? []) : [];
    addSamples(tops, ofIt, attack, watched.get(address)?.whitelist ?? []);
    nameSources(tops, names);
  }
}
