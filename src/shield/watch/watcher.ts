import { type Edge, EdgeError } from '../../drivers/edge/index.ts';
import { type Context, causesOf, type Drivers } from '../../platform/index.ts';
import { tellRouters } from '../edges/announcer.ts';
import { filterNoter } from '../edges/health.ts';
import type { EdgeOf } from '../enforce/turn.ts';
import type { Turn } from '../mitigation/turn.ts';
import { begin } from './begin.ts';
import { besideWith, type Known } from './known.ts';
import { compareEveryMs } from './refresh.ts';
import { sampleReader } from './samples.ts';
import { turn } from './turn.ts';

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
