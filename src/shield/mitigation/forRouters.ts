import type { Match, Measure, Rule } from '../../drivers/edge/index.ts';
import type { Kind } from '../watch/limits.ts';
import type { Announcement, Defence, Mitigation } from './defence.ts';
import { usualAnswers } from './measures.ts';
import { matchesOf } from './rules.ts';

const udp = [[17, 17]] as const;

/**
 * What routers are to drop of a kind, and what of it they are to let through. They know no rates: of a flood they drop the whole kind, but for
 * usual answers to what the machine itself asks. Of connections they could only drop all: then there is nothing that they are told.
 */
function told(
  kind: Kind,
  ports: readonly number[],
  family: 4 | 6,
  allAnswers: boolean,
): { permit: Match[]; deny: Match[] } {
  const nothing = { permit: [], deny: [] };
  if (kind === 'reflection') {
    const answers = allAnswers ? matchesOf('drop_answers', ports) : [];
    return { ...nothing, deny: [...matchesOf('drop_reflection', ports), ...answers] };
  }
  if (kind === 'fragments') return { ...nothing, deny: [{ fragment: true }] };
  if (kind === 'udp') {
    const permit = Object.entries(usualAnswers).map(([port, length]): Match => {
      return { protocols: udp, sourcePorts: [[Number(port), Number(port)]], lengths: [[0, length]] };
    });
    return { permit, deny: [{ protocols: udp }] };
  }
  const icmp = family === 4 ? 1 : 58;
  if (kind === 'icmp') return { ...nothing, deny: [{ protocols: [[icmp, icmp]] }] };
  if (kind === 'other') return { ...nothing, deny: [{ protocols: others(icmp) }] };
  return nothing;
}

/** Every protocol but ICMP, TCP and UDP. */
function others(icmp: number): [number, number][] {
  const taken = [icmp, 6, 17].toSorted((one, other) => one - other);
  const starts = [0, ...taken.map((each) => each + 1)];
  const ends = [...taken.map((each) => each - 1), 255];
  return starts.flatMap((start, nth): [number, number][] => {
    const end = ends[nth] ?? 255;
    return start <= end ? [[start, end]] : [];
  });
}

/** Whether there is anything that routers could be told against a kind. */
export function isForRouters(kind: Kind): boolean {
  const { deny } = told(kind, [1], 4, false);
  return deny.length > 0;
}

/** What the routers of one edge are to be told of an address. Null: nothing. `spared`: from whom nothing is dropped. */
function announcementOf(
  standing: readonly Mitigation[],
  allAnswers: boolean,
  family: 4 | 6,
  spared: readonly string[],
): Measure | null {
  if (standing.some(({ measure }) => measure === 'blackhole')) return { kind: 'blackhole' };
  const all = standing
    .filter(({ measure }) => measure === 'flowspec')
    .map(({ kind, ports }) => told(kind, ports, family, allAnswers));
  if (all.length === 0) return null;
  // First what is let through: a router looks at the narrower one first, whoever comes first here.
  const rule = (action: Rule['action']) => (match: Match, nth: number) => {
    return { id: (action === 'permit' ? 1 : 101) + nth, action, match, limit: null };
  };
  const rules = [
    ...all.flatMap(({ permit }) => permit).map(rule('permit')),
    ...all.flatMap(({ deny }) => deny).map(rule('deny')),
  ];
  return { kind: 'filter', rules, exempt: [...new Set(spared)] };
}

/** With what the routers in front are to be told, in a new generation where that is another than before. */
export function withAnnouncements(
  defence: Defence,
  family: 4 | 6,
  spared: readonly string[],
  at: Date,
): Defence {
  const edges = new Set([
    ...defence.announced.map(({ edgeId }) => edgeId),
    ...defence.standing.flatMap(({ edgeId }) => edgeId ?? []),
  ]);
  const allAnswers = defence.standing.some(({ measure }) => measure === 'drop_answers');
  const announced = [...edges].map((edgeId): Announcement => {
    const known = defence.announced.find((each) => each.edgeId === edgeId);
    const mine = defence.standing.filter((each) => each.edgeId === edgeId);
    const measure = announcementOf(mine, allAnswers, family, spared);
    if (known !== undefined && JSON.stringify(known.measure) === JSON.stringify(measure)) return known;
    return { edgeId, measure, generation: Math.max((known?.generation ?? 0) + 1, at.getTime()) };
  });
  return { ...defence, announced };
}

/** Of what is written down of an announcement: which generation routers have, since when, and what is wrong. */
export interface Announced {
  held: number | null;
  heldSince: Date | null;
  error: string | null;
}

/** So long routers drop before it is looked whether the attack goes on; twice as long after each look that found it. */
const holdMs = 5 * 60_000;
const longestHoldMs = 60 * 60_000;

/** With what is known by now of what routers have. */
export function withAnnounced(
  defence: Defence,
  {
    stateOf,
    isWritten,
  }: { stateOf(edgeId: number): Announced | undefined; isWritten(of: Announcement): boolean },
  at: Date,
): Defence {
  if (defence.announced.length === 0) return defence;
  const hold = Math.min(holdMs * 2 ** defence.looks, longestHoldMs);
  const standing = defence.standing.map((each) => {
    if (each.edgeId === null) return each;
    const wanted = defence.announced.find(({ edgeId }) => edgeId === each.edgeId);
    const state = stateOf(each.edgeId);
    if (wanted === undefined || state === undefined) return each;
    const isThere = state.held === wanted.generation && state.error === null;
    const inForceSince = isThere ? (each.inForceSince ?? state.heldSince ?? at) : each.inForceSince;
    const until = inForceSince === null ? null : (each.until ?? new Date(inForceSince.getTime() + hold));
    const isSame = inForceSince === each.inForceSince && state.error === each.error && until === each.until;
    return isSame ? each : { ...each, inForceSince, until, error: state.error };
  });
  // What is told no more, and of which nothing is left there, is done.
  const announced = defence.announced.filter(
    (each) => each.measure !== null || stateOf(each.edgeId) !== undefined || !isWritten(each),
  );
  return { ...defence, standing, announced };
}

/** Whether routers drop the attack before anybody here sees it, or have let it through only since a moment ago. */
export function isHidden({ standing, lookingUntil }: Defence, at: Date): boolean {
  if (lookingUntil !== null && at < lookingUntil) return true;
  return standing.some(
    ({ edgeId, inForceSince, error }) => edgeId !== null && inForceSince !== null && error === null,
  );
}
