import type { Edge, Traffic, TrafficKind } from '../../drivers/edge/index.ts';
import type { Context } from '../../platform/index.ts';
import { addSeen, turnMinute } from '../analytics/minutes.ts';
import { readFilters } from '../mitigation/defend.ts';
import { isHidden } from '../mitigation/forRouters.ts';
import { defend, forgetSpent, seenWithout } from '../mitigation/turn.ts';
import { addTops, coursesAfter, goingOf, isOver } from './courses.ts';
import { isAttack } from './detect.ts';
import type { Beside, Known } from './known.ts';
import { refreshed } from './refresh.ts';
import type { SampleReader } from './samples.ts';
import { countedOf, seenSince } from './seen.ts';
import { withTransfers } from './transfers.ts';
import { isDone, writeDown, writeMinutes } from './writeDown.ts';

/** Readings that follow each other more quickly tell nothing of a second. */
const leastMs = 500;

/** So many minutes wait at most for a database that is away. */
const minutesAtMost = 120;

export async function turn(
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
  const elsewhere = new Map(beside.elsewhere.map((each) => [each.address, each.is_met]));
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
