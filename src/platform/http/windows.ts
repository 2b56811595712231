/** How often something happened since its window began. */
export interface Window {
  used: number;
  /** When it begins anew, on the clock of whoever counts. */
  endsAt: number;
}

/** Counts by key in fixed windows; a key's window begins with its first use. */
export interface CountWindow {
  add(key: string, nowMs: number): Window;
  look(key: string, nowMs: number): Window | undefined;
  /** Takes over what was counted elsewhere, so that counting goes on from there. */
  put(key: string, window: Window, nowMs: number): void;
  isEmpty(): boolean;
}

/**
 * Windows in memory. They lie in two maps that change places once a window's length: what lies in the older one
 * by then has ended, so it is dropped whole, and no timer or search is needed to forget.
 */
export function createCounter(windowMs: number): CountWindow {
  let young = new Map<string, Window>();
  let old = new Map<string, Window>();
  let turnAt = 0;

  const look = (key: string, nowMs: number): Window | undefined => {
    if (nowMs >= turnAt) {
      old = nowMs >= turnAt + windowMs ? new Map() : young;
      young = new Map();
      turnAt = nowMs + windowMs;
    }
    const window = young.get(key) ?? old.get(key);
    return window !== undefined && window.endsAt > nowMs ? window : undefined;
  };

  return {
    look,
    add(key, nowMs) {
      let window = look(key, nowMs);
      if (window === undefined) {
        window = { used: 0, endsAt: nowMs + windowMs };
        young.set(key, window);
      }
      window.used += 1;
      return window;
    },
    put(key, window, nowMs) {
      look(key, nowMs);
      young.set(key, window);
    },
    isEmpty: () => young.size === 0 && old.size === 0,
  };
}
