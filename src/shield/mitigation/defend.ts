import type { Edge, RuleCount } from '../../drivers/edge/index.ts';
import { noteCounts } from '../analytics/drops.ts';
import { wordsOf } from '../enforce/apply.ts';
import { single } from '../prefix.ts';
import type { Limits } from '../watch/limits.ts';
import { type Defence, type Defences, type Filter, isSettled } from './defence.ts';
import { filterOf, ruleFor } from './rules.ts';
import { type Counted, countedOf } from './tally.ts';

/** An edge reads the counters of a few addresses one by one quicker than all of them. */
const readAtOnce = 6;
const retryMs = 5_000;

/** How often it is read what stands where nothing happens. */
const calmMs = 10_000;

/**
 * What the filters of these addresses have counted since the reading before; where nothing happens they are read less often. Of those who spare
 * somebody it is asked whether what came is that: from then on it is known of each second.
 */
export async function readFilters(
  edge: Edge,
  defences: Defences,
  attacked: ReadonlySet<string>,
  isTooMuch: (address: string) => boolean,
  at: Date,
): Promise<Map<string, Counted>> {
  const isDue = (each: Defence) =>
    attacked.has(each.address) ||
    (each.closeUntil !== null && at < each.closeUntil) ||
    each.leaving.length > 0 ||
    !isSettled(each) ||
    at.getTime() - (each.readAt?.getTime() ?? 0) >= calmMs;
  const all = [...defences.values()].filter(hasCounters);
  const due = all.filter(isDue);
  const close = all.filter((each) => spares(each) && !isDue(each) && isTooMuch(each.address));
  const closeUntil = new Date(at.getTime() + calmMs);
  return new Map([
    ...(await readThese(edge, due, at)),
    ...(await readThese(
      edge,
      close.map((each) => ({ ...each, closeUntil })),
      at,
    )),
  ]);
}

async function readThese(edge: Edge, all: readonly Defence[], at: Date): Promise<Map<string, Counted>> {
  const found = new Map<string, Counted>();
  for (let nth = 0; nth < all.length; nth += readAtOnce) {
    const some = all.slice(nth, nth + readAtOnce);
    const counts = (await edge.readRules(some.map(({ address }) => single(address).text))).filter(
      isOfMeasure,
    );
    noteCounts(edge, counts);
    const byPlace = Map.groupBy(counts, ({ destination }) => destination);
    for (const each of some)
      found.set(each.address, countedOf(each, byPlace.get(single(each.address).text) ?? [], at));
  }
  return found;
}

function spares({ filter }: Defence): boolean {
  return filter?.rules.some(({ id }) => ruleFor(id).is === 'spared') ?? false;
}

function hasCounters({ filter, tally }: Defence): boolean {
  return filter !== null || Object.keys(tally).length > 0;
}

function isOfMeasure({ of }: RuleCount): boolean {
  return of === 'mitigation';
}

/** What a filter is made for. */
export interface Terms {
  /** Null where nothing stands that goes by them. */
  limits: Limits | null;
  exempt: readonly string[];
  spared: readonly string[];
}

/** With the filter that what stands there makes, in a generation of its own where that is another than before. */
export function withFilter(defence: Defence, terms: Terms, at: Date): Defence {
  const filter = filterOf(defence.standing, { family: single(defence.address).family, ...terms });
  if (JSON.stringify(filter) === JSON.stringify(defence.filter)) return defence;
  return {
    ...defence,
    ...{ filter, failedAt: null },
    generation: Math.max(defence.generation + 1, at.getTime()),
  };
}

/** Has the edge hold what it is to hold; why it does not is said with what is not in force. */
export async function tellEdge(edge: Edge, defence: Defence, at: Date): Promise<Defence> {
  const { filter, generation, held, failedAt, address } = defence;
  const isDone = filter === null ? held === null : held === generation;
  if (isDone || (failedAt !== null && at.getTime() - failedAt.getTime() < retryMs)) return defence;
  try {
    await hold(edge, single(address).text, filter, generation);
  } catch (error) {
    const words = wordsOf(error);
    const standing = defence.standing.map((each) =>
      each.inForceSince === null ? { ...each, error: words } : each,
    );
    return { ...defence, standing, failedAt: at };
  }
  const standing = defence.standing.map((each) =>
    each.inForceSince !== null && each.error === null
      ? each
      : { ...each, inForceSince: each.inForceSince ?? at, error: null },
  );
  // Counting begins with what was written just now.
  return {
    ...defence,
    standing,
    held: filter === null ? null : generation,
    failedAt: null,
    readAt: defence.readAt ?? at,
  };
}

function hold(edge: Edge, destination: string, measure: Filter | null, generation: number): Promise<void> {
  if (measure === null) return edge.release([{ destination, generation }]);
  return edge.mitigate({ destination, generation, measure });
}
