import type { EdgeCapability } from '../../drivers/edge/index.ts';
import { newId } from '../../platform/index.ts';
import { type Found, overLimits, partsOf, reflected } from '../watch/detect.ts';
import type { Kind, Limits } from '../watch/limits.ts';
import { type Amount, nothing, type Seen, sum } from '../watch/seen.ts';
import type { Watched } from '../watch/watched.ts';
import type { Defence, Figures, Mitigation, Rate, Reason } from './defence.ts';
import { ladders, type MeasureName, usualAnswers } from './measures.ts';

/** What a decision goes by. */
export interface Scene {
  at: Date;
  /** Since the reading before. */
  seconds: number;
  /** Who has the address now; undefined: nobody whom the edge looks after. */
  owner: Watched | undefined;
  limits: Limits | null;
  /** The attack that goes on; null: none does. */
  attackId: number | null;
  seen: Seen;
  /** What went past all that stands, and in how long a time; null: not counted. */
  past: { seen: Seen; seconds: number } | null;
  can: readonly EdgeCapability[];
  /** What is to be released because somebody asked for it, by mitigation. */
  asked: ReadonlyMap<number, Reason>;
}

/** So many readings in a row have to show that something did not help. */
const readingsToJudge = 3;

/** What stands before an address after one more reading: each kind of an attack is met by the next measure only when the one before did not help. */
export function decide(before: Defence, scene: Scene): Defence {
  const kept = released(before, scene);
  const { attackId, limits, owner, seen, seconds } = scene;
  if (attackId === null || limits === null || owner?.mode !== 'enabled') return { ...kept, over: {} };
  const arriving = overLimits({ seen, seconds }, limits);
  const widened = { ...kept, standing: kept.standing.map((each) => widen(each, seen, arriving)) };
  const over = countOver(widened, scene, limits);
  const begun = arriving.flatMap((found) => next(widened, found, over, { ...scene, attackId, limits }));
  for (const { kind } of begun) delete over[kind];
  return { ...widened, over, standing: [...widened.standing, ...begun] };
}

function released(before: Defence, { at, owner, attackId, asked }: Scene): Defence {
  const isTheirs = owner?.service_id === before.serviceId && owner.organization_id === before.organizationId;
  const reasonOf = ({ id }: Mitigation): Reason | null => {
    if (!isTheirs) return 'given_back';
    if (asked.has(id)) return asked.get(id) ?? null;
    if (owner.mode !== 'enabled') return 'switched_off';
    return attackId === null && owner.mitigation === 'auto' ? 'attack_over' : null;
  };
  const leaving: Mitigation[] = [];
  const standing: Mitigation[] = [];
  for (const each of before.standing) {
    const because = reasonOf(each);
    if (because === null) standing.push(each);
    else leaving.push({ ...each, releasedAt: at, because });
  }
  const refused = [...before.refused, ...leaving.filter(isByHand)].filter(
    (each) => each.attackId === attackId,
  );
  return {
    ...before,
    standing,
    leaving: [...before.leaving, ...leaving],
    refused: refused.map(({ attackId: of, kind, measure }) => ({ attackId: of, kind, measure })),
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

const busyShare = 0.05;

function busyPorts(seen: Seen): number[] {
  const all = reflected(seen);
  const most = all.map(([, amount]) => amount).reduce(sum, nothing).packets;
  return all.filter(([, { packets }]) => packets >= most * busyShare).map(([port]) => port);
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
    const newest = standing.findLast((each) => each.kind === kind);
    if (newest?.inForceSince == null || newest.inForceSince.getTime() > began) continue;
    counts[kind] = (over[kind] ?? 0) + 1;
  }
  return counts;
}

function next(
  { standing, refused }: Defence,
  { kind }: Found,
  over: Partial<Record<Kind, number>>,
  scene: Scene & { attackId: number; limits: Limits },
): Mitigation[] {
  const ladder = ladders[kind];
  const mine = standing.filter((each) => each.kind === kind);
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
      ...{ startedAt: scene.at, inForceSince: null, dropped: nothing, error: null },
      ...{ releasedAt: null, because: null },
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

function figuresOf(kind: Kind, { seen, past, seconds, limits }: Scene & { limits: Limits }): Figures {
  return {
    arrived: rateOf(partsOf(seen)[kind], seconds),
    past: past === null ? null : rateOf(partsOf(past.seen)[kind], past.seconds),
    limit: limits[kind],
  };
}

function rateOf({ packets, bytes }: Amount, seconds: number): Rate {
  return { pps: Math.round(packets / seconds), mbps: Math.round(((bytes * 8) / 1e6 / seconds) * 10) / 10 };
}
