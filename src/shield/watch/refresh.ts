import type { Edge } from '../../drivers/edge/index.ts';
import type { Context } from '../../platform/index.ts';
import { findOpenAttacks, followedOf } from '../attacks/rows.ts';
import { findDefences } from '../mitigation/record.ts';
import { compareFilters, readShelf, shelve } from '../mitigation/turn.ts';
import { type Course, resumed } from './courses.ts';
import type { Beside, Known } from './known.ts';
import { type Elsewhere, findElsewhere, findWatched, holdWatched } from './watched.ts';

const refreshEveryMs = 2_000;
/** As long as no machine is behind the edge. */
const refreshFirstEveryMs = 30_000;

export const compareEveryMs = 60_000;

/** With what the database says by now, as far as it answers, and what the edge holds. */
export async function refreshed(
  ctx: Context,
  nodeId: number,
  edge: Edge,
  known: Known,
  at: Date,
  beside: Beside,
): Promise<Known> {
  const now = at.getTime();
  const isAttacked = [...known.courses.keys()].some((address) => !beside.shelf.attacked.has(address));
  const everyMs = known.watched.size > 0 || ctx.clock.isDriven ? refreshEveryMs : refreshFirstEveryMs;
  if (now - known.refreshedAt < everyMs && !isAttacked) return known;
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
  const elsewhere = await elsewhereOf(ctx, nodeId, { watched, courses, defences });
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

/** What another node looks after of what was followed here. */
export async function elsewhereOf(
  ctx: Context,
  nodeId: number,
  { watched, courses, defences }: Pick<Known, 'watched' | 'courses' | 'defences'>,
): Promise<Elsewhere[]> {
  const gone = [...courses.keys(), ...defences.keys()].filter((address) => !watched.has(address));
  return (await findElsewhere(ctx, nodeId, gone)).filter(({ address, service_id }) => {
    return (defences.get(address)?.serviceId ?? courses.get(address)?.followed.serviceId) === service_id;
  });
}

/** What was under way at addresses that are looked after here since a moment ago goes on. */
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
  // What was only kept for another that was to have it is taken up again as it is written down.
  const ours = [...defences].filter(
    ([address, { isElsewhere }]) => !(isElsewhere && arrived.defences.has(address)),
  );
  return {
    courses: new Map([...resumedHere, ...courses]),
    defences: new Map([...arrived.defences, ...ours]),
  };
}
