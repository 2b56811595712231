import os from 'node:os';
import type { Concern, ConcernSource } from './attention.ts';
import type { Context } from './context.ts';
import { statement } from './database/index.ts';
import { aheadMs } from './jobs/workers.ts';
import { causesOf } from './log.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Whoever was away for less is believed at once. */
const leapMs = hourMs;
const shortestHoldMs = 15 * minuteMs;
const longestHoldMs = 12 * hourMs;
/** Staff hears of leaps from here on: a shorter one is over before anybody has read of it. */
const tellMs = 24 * hourMs;
const lookEveryMs = 5_000;
const noteEveryMs = minuteMs;

const readKnown = statement<{ at: Date | null }>(
  'installation.clockAt',
  'select (select clock_at from installation) as at',
);
const writeKnown = statement<never, { now: Date }>(
  'installation.setClockAt',
  'update installation set clock_at = :now',
);
const writeLeap = statement<never, { host: string; from: Date; to: Date; believedAt: Date }>(
  'installation.keepLeap',
  `insert into clock_leaps (host, leapt_from, leapt_to, believed_at) values (:host, :from, :to, :believedAt)
   on conflict on constraint clock_leaps_host do update set leapt_from = excluded.leapt_from,
     leapt_to = excluded.leapt_to, believed_at = excluded.believed_at`,
);
const dropLeap = statement<never, { host: string }>(
  'installation.dropLeap',
  'delete from clock_leaps where host = :host',
);

/** A clock that is not believed. Moments are in milliseconds, by the clock or by one that only goes on (`steadyMs`). */
export interface Doubt {
  /** Until when somebody was here whose clock was believed. */
  knownMs: number;
  leaptMs: number;
  sinceSteadyMs: number;
}

/** What is seen of a clock at one moment. `knownMs` is null where nobody was ever here. */
export interface Look {
  knownMs: number | null;
  nowMs: number;
  steadyMs: number;
}

/**
 * The rule: a clock that is over an hour ahead of when somebody was here last is doubted until it has stood for a twenty-fourth part of
 * its leap, a quarter of an hour at least and twelve hours at most: most wrong ones are set within minutes. When somebody else is here
 * meanwhile, whose clock is behind, it is doubted for as long as that lasts. Gives the doubt there is after the look; null for none.
 */
export function judge(doubt: Doubt | null, { knownMs, nowMs, steadyMs }: Look): Doubt | null {
  if (knownMs === null || nowMs - knownMs <= leapMs) return null;
  const leaptMs = nowMs - knownMs;
  const isAnew =
    doubt === null ||
    doubt.knownMs !== knownMs ||
    leaptMs - doubt.leaptMs - (steadyMs - doubt.sinceSteadyMs) > leapMs;
  if (isAnew) return { knownMs, leaptMs, sinceSteadyMs: steadyMs };
  return steadyMs - doubt.sinceSteadyMs < holdMsOf(doubt) ? doubt : null;
}

function holdMsOf({ leaptMs }: Doubt): number {
  return Math.min(longestHoldMs, Math.max(shortestHoldMs, leaptMs / 24));
}

/** Whether the time is believed at the moment. */
export interface ClockWatch {
  isBelieved(): boolean;
  stop(): Promise<void>;
}

/**
 * Watches whether the time is believed, so that what cannot be taken back may be done by it: a host may start with a clock that is a
 * year ahead, and hear the right time a minute later. A clock that is moved on purpose is believed. It looks on its own and not within
 * what others do: all of them would wait for the row in which it notes the time.
 */
export async function watchClock(ctx: Context): Promise<ClockWatch> {
  if (ctx.clock.isDriven) return { isBelieved: () => true, stop: async () => undefined };
  const host = `${ctx.config.nodeName} (${os.hostname()})`;
  let doubt: Doubt | null = null;
  /** When the clock was believed last, and how the steady one stood: a database that was away for hours has heard of neither. */
  let believed: { atMs: number; steadyMs: number } | null = null;
  const expectedMs = () =>
    believed === null ? null : believed.atMs + (performance.now() - believed.steadyMs);

  /** Whether there may be a leap of this host: one of an earlier life, at first. */
  let isToDrop = true;
  /** When it last compared the clock with what others have noted. */
  let readAtMs = Number.NEGATIVE_INFINITY;
  /** A clock that goes on as it did is believed whatever others have noted: that can only be later than what is known here. */
  const goesOn = (): boolean => {
    const here = expectedMs();
    const isEarly = performance.now() - readAtMs < noteEveryMs;
    return isEarly && here !== null && Math.abs(ctx.clock.now().getTime() - here) <= aheadMs;
  };

  const look = async (): Promise<void> => {
    if (goesOn()) return;
    const { at } = await ctx.db.one(readKnown);
    readAtMs = performance.now();
    const [nowMs, steadyMs, here] = [ctx.clock.now().getTime(), performance.now(), expectedMs()];
    const knownMs = at === null ? here : Math.max(at.getTime(), here ?? 0);
    const before = doubt;
    doubt = judge(before, { knownMs, nowMs, steadyMs });
    believed = doubt === null ? { atMs: nowMs, steadyMs } : null;
    if (doubt !== null) return before === null ? tell(ctx, host, doubt) : undefined;
    if (before !== null) ctx.log.info({ host }, 'the clock is believed again');
    const isToNote = at === null || nowMs - at.getTime() >= noteEveryMs || at.getTime() - nowMs > aheadMs;
    if (isToNote) await ctx.db.run(writeKnown, { now: new Date(nowMs) });
    isToDrop ||= before !== null;
    if (isToDrop) await ctx.db.run(dropLeap, { host });
    isToDrop = false;
  };

  await look();
  let turn: Promise<void> | null = null;
  const timer = setInterval(() => {
    turn ??= look()
      .catch((error: Error) => ctx.log.warn({ err: causesOf(error) }, 'the clock could not be looked at'))
      .finally(() => {
        turn = null;
      });
  }, lookEveryMs);
  return {
    // Also before the next look.
    isBelieved: () => doubt === null && ctx.clock.now().getTime() - (expectedMs() ?? 0) <= leapMs,
    stop: async () => {
      clearInterval(timer);
      await turn;
    },
  };
}

async function tell(ctx: Context, host: string, doubt: Doubt): Promise<void> {
  const from = new Date(doubt.knownMs);
  const to = new Date(doubt.knownMs + doubt.leaptMs);
  const believedAt = new Date(to.getTime() + holdMsOf(doubt));
  ctx.log.warn(
    { host, from, to, believedAt },
    'the clock is far ahead of when this product ran last: until it has stood for a while, nothing is ended, charged or forgotten by itself',
  );
  if (doubt.leaptMs >= tellMs) await ctx.db.run(writeLeap, { host, from, to, believedAt });
}

/** A clock that may be wrong by days. */
export const clockConcerns: ConcernSource[] = [
  {
    kind: 'clock.leapt',
    subject: 'host',
    title: 'A clock that is far ahead of when the product ran last',
    find: statement<Concern, { limit: number }>(
      'installation.leaps',
      `select id, null::bigint as organization_id, leapt_to as since,
         'the product ran last on ' || to_char(leapt_from at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ', and the clock of ' || host ||
         ' said ' || to_char(leapt_to at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' (UTC) when it was looked at next: if that is wrong, ' ||
         'set it before ' || to_char(believed_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' by that clock; until then ' ||
         'nothing is suspended, ended, charged or forgotten by itself there' as message
       from clock_leaps order by leapt_to desc, id desc limit :limit`,
    ),
  },
];
