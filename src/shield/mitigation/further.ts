import { newId } from '../../platform/index.ts';
import type { Found } from '../watch/detect.ts';
import { nothing } from '../watch/seen.ts';
import type { Defence, Figures, Mitigation, Rate, Reason } from './defence.ts';
import { isForRouters } from './forRouters.ts';
import type { RouterMeasure } from './measures.ts';
import { busyPorts, type Front, figuresOf, type Met, readingsToJudge, type Scene, wholeOf } from './scene.ts';

/** So long after routers have let it through an attack is not over, however quiet it is. */
const lookMs = 30_000;

/** Why what routers do is to end; null: it goes on. */
export function reasonAtRouters(each: Mitigation, { at, owner, fronts }: Scene): Reason | null {
  if (each.edgeId === null) return null;
  const front = fronts.find(({ edgeId }) => edgeId === each.edgeId);
  if (front === undefined) return 'routers_gone';
  if (each.measure === 'blackhole' && !mayBlackhole(front, owner)) return 'not_allowed';
  return owner?.mitigation === 'auto' && each.until !== null && each.until <= at ? 'to_look' : null;
}

function mayBlackhole({ blackholes }: Front, owner: Scene['owner']): boolean {
  return blackholes && owner?.may_blackhole === true;
}

/** With what was let through for a look. */
export function withLooks(defence: Defence, released: readonly Mitigation[], at: Date): Defence {
  const looked = released.filter(({ because }) => because === 'to_look');
  if (looked.length === 0) return defence;
  return { ...defence, looks: defence.looks + 1, lookingUntil: new Date(at.getTime() + lookMs) };
}

/**
 * What routers in front are told next: FlowSpec where more comes than what filters here is to bear alone, a way to nowhere where
 * FlowSpec has nothing to say or did not help, more comes than the line bears, and it is allowed.
 */
export function atRouters(
  defence: Defence,
  arriving: readonly Found[],
  scene: Met,
): Pick<Defence, 'overLines'> & { begun: Mitigation[] } {
  const { lines, fronts, owner } = scene;
  const whole = wholeOf(scene);
  const overLines = { flowspec: count(defence, 'flowspec', whole, lines.flowspec), blackhole: 0 };
  if (fronts.length === 0) return { overLines, begun: [] };
  const sayable = arriving.filter(({ kind }) => isForRouters(kind));
  const missing = fronts.flatMap((front) =>
    sayable
      .filter(({ kind }) => !isTried(defence, kind, 'flowspec', front))
      .map(({ kind }) => ({ kind, front })),
  );
  if (overLines.flowspec >= readingsToJudge && missing.length > 0)
    return {
      overLines: { ...overLines, flowspec: 0 },
      begun: missing.map(({ kind, front }) => begin(kind, 'flowspec', front, scene, lines.flowspec)),
    };
  // What was told a moment ago has to show first whether it helps.
  if (missing.length === 0) overLines.blackhole = count(defence, 'blackhole', whole, lines.blackhole);
  const [worst] = arriving.toSorted((one, other) => other.ratio - one.ratio);
  if (overLines.blackhole < readingsToJudge || worst === undefined) return { overLines, begun: [] };
  const begun = fronts
    .filter((front) => mayBlackhole(front, owner) && !isTried(defence, null, 'blackhole', front))
    .map((front) => begin(worst.kind, 'blackhole', front, scene, lines.blackhole));
  return { overLines: begun.length === 0 ? overLines : { ...overLines, blackhole: 0 }, begun };
}

function count({ overLines }: Defence, of: RouterMeasure, whole: Rate, line: Rate): number {
  return whole.pps >= line.pps || whole.mbps >= line.mbps ? overLines[of] + 1 : 0;
}

/** Whether it stands, or somebody has released it by hand. */
function isTried(
  { standing, refused }: Defence,
  kind: Mitigation['kind'] | null,
  measure: RouterMeasure,
  { edgeId }: Front,
): boolean {
  return [...standing, ...refused].some(
    (each) => each.edgeId === edgeId && each.measure === measure && (kind === null || each.kind === kind),
  );
}

function begin(
  kind: Mitigation['kind'],
  measure: RouterMeasure,
  { edgeId }: Front,
  scene: Met,
  line: Rate,
): Mitigation {
  const { past } = figuresOf(kind, scene);
  const why: Figures = { arrived: wholeOf(scene), past, limit: line };
  return {
    ...{ id: newId(), attackId: scene.attackId, kind, measure, edgeId, why },
    ports: kind === 'reflection' ? busyPorts(scene.seen) : [],
    ...{ startedAt: scene.at, inForceSince: null, dropped: nothing, error: null, until: null },
    ...{ releasedAt: null, because: null },
  };
}
