/** Where the product gets the time from. Rules never ask the machine or the database, so tests can travel. */
export interface Clock {
  now(): Date;
  /** It moves on purpose, as in tests: where it leaps, it is believed. */
  readonly isDriven?: true;
}

export const systemClock: Clock = { now: () => new Date() };

/** A clock that stands still until a test moves it. */
export interface TravellingClock extends Clock {
  travel(ms: number): void;
  set(to: Date): void;
}

export function travellingClock(start = new Date()): TravellingClock {
  let offsetMs = start.getTime() - Date.now();
  return {
    isDriven: true,
    now: () => new Date(Date.now() + offsetMs),
    travel: (ms) => {
      offsetMs += ms;
    },
    set: (to) => {
      offsetMs = to.getTime() - Date.now();
    },
  };
}
