import {
  type AddressTraffic,
  type Edge,
  EdgeError,
  type Traffic,
  type TrafficKind,
} from '../../drivers/edge/index.ts';
import { type Context, causesOf, type Drivers, newId, transaction } from '../../platform/index.ts';
import { inheritCounts } from '../analytics/drops.ts';
import {
  addSeen,
  type Minute,
  type MinuteOver,
  minuteOf,
  turnMinute,
  writeMinute,
} from '../analytics/minutes.ts';
import {
  type CountedThere,
  type Followed,
  findOpenAttacks,
  followedOf,
  type WholeAttack,
  writeAttack,
} from '../attacks/rows.ts';
import { isNews, tellOfAttack } from '../attacks/tell.ts';
import { addSamples, nameSources, noAttackTops } from '../attacks/tops.ts';
import { tellRouters } from '../edges/announcer.ts';
import { filterNoter } from '../edges/health.ts';
import type { EdgeOf } from '../enforce/turn.ts';
import type { Defences } from '../mitigation/defence.ts';
import { readFilters } from '../mitigation/defend.ts';
import { isHidden } from '../mitigation/forRouters.ts';
import { findDefences } from '../mitigation/record.ts';
import {
  compareFilters,
  defend,
  forgetSpent,
  keepDefences,
  newShelf,
  noteWritten,
  readShelf,
  type Shelf,
  seenWithout,
  shelve,
  type Turn,
  unwritten,
} from '../mitigation/turn.ts';
import { sourceNames } from '../names/names.ts';
import { single } from '../prefix.ts';
import { type Aside, aside } from './aside.ts';
import { type Attack, follow, isAttack, judgeReading } from './detect.ts';
import { limitsFor } from './limits.ts';
import { type Looked, type SampleReader, sampleReader } from './samples.ts';
import { type Counted, countedOf, nothingSeen, type Seen, seenSince } from './seen.ts';
import { withTransfers } from './transfers.ts';
import { type Elsewhere, findElsewhere, findWatched, holdWatched, type Watched } from './watched.ts';

const refreshEveryMs = 2_000;
const compareEveryMs = 60_000;
/** Readings that follow each other more quickly tell nothing of a second. */
const leastMs = 500;

/** So many minutes wait at most for a database that is away. */
const minutesAtMost = 120;

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
  /** Attacks that are over, and not written down as that yet. */
  over: readonly Followed[];
  /** By address: what stands before it against attacks. */
  defences: Defences;
  full: readonly TrafficKind[];
  minute: Minute;
  minutesOver: readonly MinuteOver[];
}

interface Course {
  followed: Followed;
}

/** What goes to the database and comes from it, beside the turns: packets are watched also while it is away. */
interface Beside {
  /** Who has which addresses, once that has been read anew. */
  watched: Map<string, Watched> | null;
  /** Of those that are the node's no more: whose machine moved to another. */
  elsewhere: readonly Elsewhere[];
  /** What was written down of addresses whose machine has come here. */
  arrived: { attacks: WholeAttack[]; defences: Defences } | null;
  shelf: Shelf;
  /** By attack: as it was last written down, and as it was last told of. */
  written: Map<number, Attack>;
  told: Map<number, Attack>;
  /** Minutes that are written down. */
  minutes: Set<number>;
  reading: Aside;
  writing: Aside;
  counting: Aside;
  noting: Aside;
  /** Tells routers that this process speaks to. */
  tell: Turn['tell'];
  /** Does what the database may refuse, which is said at the end of the turn. */
  attempt(work: () => Promise<void>): Promise<void>;
}

/**
 * Watches what is sent to the addresses of a node: each turn reads what its edge has counted for all of them at once, and follows
 * what is an attack. Begins with what is written down, so that whoever comes after one that died goes on where that
 * stopped. A turn that an edge fails changes nothing, and the next one sees all that came meanwhile; without the database a turn does the
 * same, and what it has to write down is written once that is back.
 */
export function createWatcher(
  ctx: Context,
  nodeId: number,
  edgeOf: EdgeOf,
  routersOf: Drivers['routers'],
): () => Promise<void> {
  let known: Known | null = null;
  let failed: { words: string; at: number } | null = null;
  const failures: unknown[] = [];
  const samples = sampleReader(ctx);
  const note = filterNoter(ctx, nodeId);
  const tell: Turn['tell'] = (at, wanted) => {
    // What they answer is read from what is written down of it; what fails is tried again by who looks after them.
    tellRouters(at, wanted, routersOf).catch((error: Error) =>
      ctx.log.warn({ err: causesOf(error), edge: at.edgeId }, 'routers could not be told'),
    );
  };
  const beside = besideWith(failures, tell);
  return async () => {
    try {
      const edge = readable(nodeId, edgeOf);
      if (edge === null) return;
      known =
        known === null
          ? await begin(ctx, nodeId, edge, beside, samples)
          : await turn(ctx, nodeId, edge, known, beside, samples);
      const { full } = known;
      await beside.attempt(() => beside.noting.take(() => note(null, full)));
      if (failures.length > 0) throw failures[0];
      failed = null;
    } catch (error) {
      failures.length = 0;
      if (error instanceof EdgeError)
        await beside.noting.take(() => note(error, known?.full ?? [])).catch(() => undefined);
      // A turn comes every second: the log says the same once a minute.
      const words = error instanceof Error ? error.message : String(error);
      const at = ctx.clock.now().getTime();
      if (failed !== null && failed.words === words && at - failed.at < compareEveryMs) return;
      failed = { words, at };
      throw error;
    }
  };
}

function besideWith(failures: unknown[], tell: Turn['tell']): Beside {
  return {
    ...{ watched: null, elsewhere: [], arrived: null, shelf: newShelf() },
    ...{ written: new Map(), told: new Map(), minutes: new Set() },
    ...{ reading: aside(), writing: aside(), counting: aside(), noting: aside(), tell },
    attempt: (work) => work().catch((error: unknown) => void failures.push(error)),
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

async function begin(
  ctx: Context,
  nodeId: number,
  edge: Edge,
  beside: Beside,
  readSamples: SampleReader,
): Promise<Known> {
  const open = await findOpenAttacks(ctx, nodeId);
  const watched = await findWatched(ctx, nodeId);
  const held = await holdWatched(nodeId, edge, watched);
  const traffic = await edge.readTraffic();
  await readSamples(edge);
  const now = ctx.clock.now();
  const counted = countedOf(traffic);
  inheritCounts(
    edge,
    [...held].map((address) => single(address).text),
  );
  const courses = new Map(
    open.map((row): [string, Course] => [row.address, resumed(row, watched.get(row.address), counted, now)]),
  );
  for (const { id, attack } of open.map(followedOf))
    for (const map of [beside.written, beside.told]) map.set(id, attack);
  const defences = await compareFilters(edge, nodeId, await findDefences(ctx, nodeId));
  shelve(beside.shelf, defences);
  await readShelf(ctx, beside.shelf, watched, { defences, attacked: [], all: true });
  const at = now.getTime();
  return {
    watched,
    refreshedAt: at,
    held,
    comparedAt: at,
    counted,
    readAt: now,
    courses,
    over: [],
    defences,
    full: [],
    minute: minuteOf(now),
    minutesOver: [],
  };
}

/** An attack that somebody before us has followed: what came since is one long reading, and time without a reading is not quiet. */
function resumed(row: WholeAttack, owner: Watched | undefined, counted: Counted, now: Date): Course {
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

async function turn(
  ctx: Context,
  nodeId: number,
  edge: Edge,
  last: Known,
  beside: Beside,
  readSamples: SampleReader,
): Promise<Known> {
  const at = ctx.clock.now();
  const seconds = (at.getTime() - last.readAt.getTime()) / 1_000;
  // A clock that went back starts over.
  if (seconds < 0) return { ...last, readAt: at };
  if (seconds * 1_000 < leastMs) return last;
  const before = await refreshed(ctx, nodeId, edge, last, at, beside);
  const { watched } = before;
  const traffic = await edge.readTraffic();
  const samples = await readSamples(edge);
  const counted = countedOf(traffic);
  const arrived = withTransfers(seenSince(before.counted, counted), samples, watched);
  const isTooMuch = (address: string) => isOver(watched.get(address), arrived.get(address), seconds);
  const attacked = new Set(before.courses.keys());
  const filtered = await readFilters(edge, before.defences, attacked, isTooMuch, at);
  const seen = seenWithout(arrived, filtered);
  const { minute, over: minutes } = turnMinute(edge, before.minute, at);
  const elsewhere = new Set(beside.elsewhere.map(({ address }) => address));
  const isUnseen = (address: string) => {
    const defence = before.defences.get(address);
    return defence !== undefined && watched.get(address)?.mitigation === 'auto' && isHidden(defence, at);
  };
  const courses = coursesAfter(before.courses, watched, seen, { at, seconds, elsewhere, isUnseen });
  addTops(ctx, courses, samples, watched, at);
  const full = reportFull(ctx, nodeId, traffic, before.full);
  const ended = [...courses.values()].filter(({ followed }) => followed.attack.endedAt !== null);
  const over = [...before.over, ...ended.map(({ followed }) => followed)];
  const going = goingOf(courses);
  const attacks = new Map(
    going.filter(({ attack }) => isAttack(attack)).map(({ address, id }) => [address, id]),
  );
  const { tell, shelf } = beside;
  const now = { edge, nodeId, at, seconds, watched, seen, attacks, counted: filtered, elsewhere, tell };
  const defences = await defend(before.defences, now, shelf);
  await beside.attempt(() => writeDown(ctx, nodeId, beside, [...over, ...going], defences, counted));
  await forgetSpent(edge, defences, shelf);
  const minutesOver = [...before.minutesOver, ...minutes].slice(-minutesAtMost);
  await beside.attempt(() => writeMinutes(ctx, beside, minutesOver));
  return {
    ...before,
    counted,
    readAt: at,
    courses: new Map(
      [...courses].filter(
        ([address, { followed }]) => followed.attack.endedAt === null && !elsewhere.has(address),
      ),
    ),
    over: over.filter((followed) => !isDone(followed, beside)),
    defences,
    full,
    minute: addSeen(minute, arrived, watched, samples),
    minutesOver: minutesOver.filter(({ time }) => !beside.minutes.delete(time)),
  };
}

function isOver(owner: Watched | undefined, seen: Seen | undefined, seconds: number): boolean {
  const limits = owner === undefined ? null : limitsFor(owner);
  return limits !== null && seen !== undefined && judgeReading({ seen, seconds }, limits) !== null;
}

/** Whether there is nothing left to be written of one that is over; then it is forgotten. */
function isDone({ id, attack }: Followed, { written, told }: Beside): boolean {
  if (isAttack(attack) && written.get(id) !== attack) return false;
  for (const map of [written, told]) map.delete(id);
  return true;
}

function goingOf(courses: ReadonlyMap<string, Course>): Followed[] {
  return [...courses.values()]
    .map(({ followed }) => followed)
    .filter(({ attack }) => attack.endedAt === null);
}

function writeMinutes(
  ctx: Context,
  { counting, minutes }: Beside,
  over: readonly MinuteOver[],
): Promise<void> {
  if (over.length === 0) return Promise.resolve();
  return counting.take(async () => {
    for (const minute of over) {
      await writeMinute(ctx, minute);
      minutes.add(minute.time);
    }
  });
}

/** With what the database says by now, as far as it answers, and what the edge holds. */
async function refreshed(
  ctx: Context,
  nodeId: number,
  edge: Edge,
  known: Known,
  at: Date,
  beside: Beside,
): Promise<Known> {
  const now = at.getTime();
  const isAttacked = [...known.courses.keys()].some((address) => !beside.shelf.attacked.has(address));
  if (now - known.refreshedAt < refreshEveryMs && !isAttacked) return known;
  const isLate = now - known.comparedAt >= compareEveryMs;
  await beside.attempt(() => beside.reading.take(() => readAnew(ctx, nodeId, known, isLate, beside)));
  const { courses, defences } = withArrived(known, beside, at);
  const watched = beside.watched ?? known.watched;
  const isNew = [...watched.values()].some(
    ({ address, generation }) => generation === 0 && !known.held.has(address),
  );
  const fresh = { ...known, watched, courses, defences, refreshedAt: now };
  if (!isNew && !isLate) return fresh;
  const held = await holdWatched(nodeId, edge, watched);
  return { ...fresh, held, comparedAt: now, defences: await compareFilters(edge, nodeId, defences) };
}

async function readAnew(
  ctx: Context,
  nodeId: number,
  { watched: before, courses, defences }: Known,
  all: boolean,
  beside: Beside,
): Promise<void> {
  const watched = await findWatched(ctx, nodeId);
  const attacked = [...courses.keys()];
  const gone = [...attacked, ...defences.keys()].filter((address) => !watched.has(address));
  const elsewhere = (await findElsewhere(ctx, nodeId, gone)).filter(({ address, service_id }) => {
    return (defences.get(address)?.serviceId ?? courses.get(address)?.followed.serviceId) === service_id;
  });
  const isNew = (address: string) => watched.has(address) && !before.has(address);
  if ([...watched.keys()].some(isNew)) {
    const [attacks, found] = [await findOpenAttacks(ctx, nodeId), await findDefences(ctx, nodeId)];
    beside.arrived = {
      attacks: attacks.filter(({ address }) => isNew(address)),
      defences: new Map([...found].filter(([address]) => isNew(address))),
    };
  }
  await readShelf(ctx, beside.shelf, watched, { defences, attacked, all });
  Object.assign(beside, { watched, elsewhere });
}

/** What was under way at addresses whose machine has come here goes on. */
function withArrived({ courses, defences, counted }: Known, beside: Beside, at: Date) {
  const { arrived, shelf, watched } = beside;
  if (arrived === null) return { courses, defences };
  beside.arrived = null;
  shelve(shelf, arrived.defences);
  const resumedHere = arrived.attacks.map((row): [string, Course] => {
    const { id, attack } = followedOf(row);
    for (const map of [beside.written, beside.told]) map.set(id, attack);
    return [row.address, resumed(row, watched?.get(row.address), counted, at)];
  });
  return {
    courses: new Map([...resumedHere, ...courses]),
    defences: new Map([...arrived.defences, ...defences]),
  };
}

/** A full set of the edge misses traffic of others: staff has to know. */
function reportFull(
  ctx: Context,
  nodeId: number,
  { full }: Traffic,
  before: readonly TrafficKind[],
): readonly TrafficKind[] {
  if (full.some((kind) => !before.includes(kind)))
    ctx.log.warn(
      { node: nodeId, kinds: full },
      'an edge counts more than it has room for: some traffic is not seen',
    );
  return full;
}

interface Looking {
  at: Date;
  seconds: number;
  elsewhere: ReadonlySet<string>;
  /** Whether an attack would go on without being seen. */
  isUnseen(address: string): boolean;
}

function coursesAfter(
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
function addTops(
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

/** Writes down what has changed of attacks and what is done about them, and what is told of it, together. */
function writeDown(
  ctx: Context,
  nodeId: number,
  { written, told, writing, shelf }: Beside,
  attacks: readonly Followed[],
  defences: Defences,
  counted: Counted,
): Promise<void> {
  const changed = attacks.filter(({ id, attack }) => isAttack(attack) && written.get(id) !== attack);
  const others = unwritten(defences, shelf);
  if (changed.length === 0 && others.length === 0) return Promise.resolve();
  return writing.take(async () => {
    await transaction(ctx, 'shield.writeAttacks', async (tx) => {
      for (const followed of changed) {
        await writeAttack(tx, nodeId, followed, countedThere(counted, followed.address));
        await tellOfAttack(tx, told.get(followed.id) ?? null, followed);
      }
      await keepDefences(tx, nodeId, others, shelf);
    });
    noteWritten(others, shelf);
    for (const { id, attack } of changed) {
      const before = told.get(id);
      if (before === undefined || isNews(before, attack)) told.set(id, attack);
      written.set(id, attack);
    }
  });
}

function countedThere(counted: Counted, address: string): CountedThere {
  return Object.fromEntries(
    [...counted]
      .filter(([, count]) => count.address === address)
      .map(([key, { packets, bytes }]) => [key, { packets, bytes }]),
  );
}
