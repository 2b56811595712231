import { newId } from '../../platform/index.ts';
import { type Found, overLimits } from '../watch/detect.ts';
import type { Kind, Limits } from '../watch/limits.ts';
import { nothing, type Seen } from '../watch/seen.ts';
import type { Defence, Mitigation, Reason } from './defence.ts';
import { atRouters, reasonAtRouters, withLooks } from './further.ts';
import { ladders, type MeasureName, usualAnswers } from './measures.ts';
import { busyPorts, figuresOf, type Met, readingsToJudge, type Scene } from './scene.ts';

/** What stands before an address after one more reading: each kind of an attack is met by the next measure only when the one before did not help. */
export function decide(before: Defence, scene: Scene): Defence {
  const kept = released(before, scene);
  const { attackId, limits, owner, seen, seconds } = scene;
  if (attackId === null || limits === null || owner?.mode !== 'enabled') return { ...kept, ...calm };
  const met = { ...scene, attackId, limits };
  const arriving = overLimits({ seen, seconds }, limits);
  const widened = { ...kept, standing: kept.standing.map((each) => widen(each, seen, arriving)) };
  const over = countOver(widened, scene, limits);
  const begun = arriving.flatMap((found) => next(widened, found, over, met));
  for (const { kind } of begun) delete over[kind];
  const further = atRouters(widened, arriving, met);
  const standing = [...widened.standing, ...begun, ...further.begun];
  return { ...widened, over, overLines: further.overLines, standing };
}

const calm = { over: {}, overLines: { flowspec: 0, blackhole: 0 } } as const;

function released(before: Defence, scene: Scene): Defence {
  const { at, owner, attackId, asked } = scene;
  const isTheirs = owner?.service_id === before.serviceId && owner.organization_id === before.organizationId;
  const reasonOf = (each: Mitigation): Reason | null => {
    if (!isTheirs) return 'given_back';
    if (asked.has(each.id)) return asked.get(each.id) ?? null;
    if (owner.mode !== 'enabled') return 'switched_off';
    if (attackId === null && owner.mitigation === 'auto') return 'attack_over';
    return reasonAtRouters(each, scene);
  };
  const leaving: Mitigation[] = [];
  const standing: Mitigation[] = [];
  for (const each of before.standing) {
    const because = reasonOf(each);
    if (because === null) standing.push(each);
    else leaving.push({ ...each, releasedAt: at, because });
  }
  const refused = [...before.refused, ...leaving.filter(isByHand)]
    .filter((each) => each.attackId === attackId)
    .map(({ attackId: of, kind, measure, edgeId }) => ({ attackId: of, kind, measure, edgeId }));
  const looked = withLooks(before, leaving, at);
  return {
    ...looked,
    ...{ standing, refused },
    leaving: [...before.leaving, ...leaving],
    looks: attackId === null ? 0 : looked.looks,
  };
}

function isByHand({ because }: Mitigation): boolean {
  return because === 'released_by_owner' || because === 'released_by_staff';
}

/** Ports from which much is reflected, once they are, stay so. */
function widen(each: Mitigation, seen: Seen, arriving: readonly Found[]): Mitigation {
  if (each.kind !== 'reflection' || !arriving.some(({ kind }) => kind === 'reflection')) return each;
  const more = busyPorts(seen).filter((port) => !each.ports.includes(port));
  return more.length === 0 ? each : { ...each, ports: [...each.ports, ...more] };
}

/** Only readings count of which all came while the newest measure stood. */
function countOver(
  { standing, over }: Defence,
  { at, past }: Scene,
  limits: Limits,
): Partial<Record<Kind, number>> {
  if (past === null) return {};
  const began = at.getTime() - past.seconds * 1_000;
  const counts: Partial<Record<Kind, number>> = {};
  for (const { kind } of overLimits(past, limits)) {
    const newest = standing.findLast((each) => each.kind === kind && each.edgeId === null);
    if (newest?.inForceSince == null || newest.inForceSince.getTime() > began) continue;
    counts[kind] = (over[kind] ?? 0) + 1;
  }
  return counts;
}

function next(
  { standing, refused }: Defence,
  { kind }: Found,
  over: Partial<Record<Kind, number>>,
  scene: Met,
): Mitigation[] {
  const ladder = ladders[kind];
  const mine = standing.filter((each) => each.kind === kind && each.edgeId === null);
  const newest = mine.at(-1);
  if (newest !== undefined && (over[kind] ?? 0) < readingsToJudge) return [];
  const ports = kind === 'reflection' ? busyPorts(scene.seen) : [];
  const from = newest === undefined ? 0 : ladder.indexOf(newest.measure) + 1;
  const measure = ladder
    .slice(from)
    .find(
      (each) =>
        canBe(each, scene, ports) &&
        !mine.some((other) => other.measure === each) &&
        !refused.some((other) => other.kind === kind && other.measure === each),
    );
  if (measure === undefined) return [];
  return [
    {
      ...{ id: newId(), attackId: scene.attackId, kind, measure, ports, why: figuresOf(kind, scene) },
      ...{ edgeId: null, startedAt: scene.at, inForceSince: null, dropped: nothing, error: null },
      ...{ until: null, releasedAt: null, because: null },
    },
  ];
}

function canBe(measure: MeasureName, { can, owner }: Scene, ports: readonly number[]): boolean {
  if (measure === 'limit_sources') return can.includes('limits_by_source');
  // Machines with SYN cookies do best when nobody touches their SYNs: only their owner knows.
  if (measure === 'synproxy') return can.includes('synproxy') && owner?.synproxy === true;
  if (measure === 'drop_answers' && !ports.some((port) => port in usualAnswers)) return false;
  return can.includes('rules');
}
