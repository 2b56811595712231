import type { Edge } from '../../drivers/edge/index.ts';
import type { Context } from '../../platform/index.ts';
import { inheritCounts } from '../analytics/drops.ts';
import { minuteOf } from '../analytics/minutes.ts';
import { findOpenAttacks, followedOf } from '../attacks/rows.ts';
import { findDefences } from '../mitigation/record.ts';
import { compareFilters, readShelf, shelve } from '../mitigation/turn.ts';
import { single } from '../prefix.ts';
import { type Course, resumed } from './courses.ts';
import type { Beside, Known } from './known.ts';
import { elsewhereOf } from './refresh.ts';
import type { SampleReader } from './samples.ts';
import { countedOf } from './seen.ts';
import { findWatched, holdWatched } from './watched.ts';

export async function begin(
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
  beside.elsewhere = await elsewhereOf(ctx, nodeId, { watched, courses, defences });
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
