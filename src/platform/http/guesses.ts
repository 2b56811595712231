import type { CountWindow, Window } from './windows.ts';

/** A guess that is being looked at. Called once, when it is known whether it was wrong. */
export type Settle = (wasWrong: boolean) => void;

export interface Guesses {
  /**
   * Lets a guess be looked at, or answers with the window that is full of wrong ones. As long as those that are being
   * looked at could fill it, the next ones wait until that is known: many at once are no more guesses than one after
   * another, and right ones take nothing from each other.
   */
  begin(bounds: readonly Bound[]): Promise<Settle | Window>;
}

/** What guesses are counted by, and how many may be wrong there. */
export interface Bound {
  key: string;
  quota: number;
}

/** Counts wrong guesses by each of their keys, up to its quota. */
export function createGuesses(wrong: CountWindow, nowMs: () => number): Guesses {
  /** How many of each key are being looked at. */
  const open = new Map<string, number>();
  let settled = Promise.withResolvers<void>();

  const count = (keys: readonly string[], change: 1 | -1): void => {
    for (const key of keys) {
      const now = (open.get(key) ?? 0) + change;
      if (now === 0) open.delete(key);
      else open.set(key, now);
    }
  };

  return {
    async begin(bounds) {
      const keys = bounds.map(({ key }) => key);
      for (;;) {
        const now = nowMs();
        const counted = bounds.map(({ key, quota }) => ({
          ...{ window: wrong.look(key, now), looked: open.get(key) ?? 0, quota },
        }));
        const full = counted.find(
          ({ window, quota }) => window !== undefined && window.used >= quota,
        )?.window;
        if (full !== undefined) return full;
        if (counted.every(({ window, looked, quota }) => (window?.used ?? 0) + looked < quota)) break;
        await settled.promise;
      }
      count(keys, 1);
      return (wasWrong) => {
        count(keys, -1);
        if (wasWrong) for (const key of keys) wrong.add(key, nowMs());
        settled.resolve();
        settled = Promise.withResolvers();
      };
    },
  };
}
