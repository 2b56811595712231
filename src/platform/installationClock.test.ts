import { describe, expect, it } from 'vitest';
import { type Doubt, judge } from './installationClock.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const known = Date.UTC(2026, 0, 1);

/** Looks at a clock every minute by the steady one; gives after how many it is believed, at most `longest`. */
function believedAfter(ahead: number, longest: number, knownAt = (_minutes: number) => known): number {
  let doubt: Doubt | null = null;
  for (let minutes = 0; minutes <= longest; minutes += 1) {
    const steadyMs = minutes * minute;
    const nowMs = known + ahead + steadyMs;
    doubt = judge(doubt, { knownMs: knownAt(minutes), nowMs, steadyMs });
    if (doubt === null) return minutes;
  }
  return Number.POSITIVE_INFINITY;
}

describe('a clock', () => {
  it('is believed where nobody was ever here, or was within the hour, or later than it says', () => {
    expect(judge(null, { knownMs: null, nowMs: known, steadyMs: 0 })).toBeNull();
    expect(believedAfter(59 * minute, 0)).toBe(0);
    expect(believedAfter(-day, 0)).toBe(0);
  });

  it.each([
    ['two hours', 2 * hour, 15],
    ['a day', day, 60],
    ['a week', 7 * day, 7 * 60],
    ['a year', 365 * day, 12 * 60],
  ])('that is ahead by %s is believed when it has stood for a part of that', (_, ahead, minutes) => {
    expect(believedAfter(ahead, 24 * 60)).toBe(minutes);
  });

  it('is believed at once when it is set', () => {
    const doubt = judge(null, { knownMs: known, nowMs: known + day, steadyMs: 0 });
    expect(judge(doubt, { knownMs: known, nowMs: known + minute, steadyMs: minute })).toBeNull();
  });

  it('that leaps again while it is doubted is doubted anew', () => {
    const first = judge(null, { knownMs: known, nowMs: known + 2 * hour, steadyMs: 0 });
    const again = judge(first, { knownMs: known, nowMs: known + 365 * day, steadyMs: 14 * minute });
    const late = { knownMs: known, nowMs: known + 365 * day + minute, steadyMs: 16 * minute };
    expect(judge(again, late)).not.toBeNull();
  });

  it('is not believed as long as somebody is here whose clock is behind it', () => {
    const another = (minutes: number) => known + minutes * minute;
    expect(believedAfter(day, 3 * 24 * 60, another)).toBe(Number.POSITIVE_INFINITY);
  });
});
