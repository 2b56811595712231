import { hash } from 'node:crypto';
import { createGuesses } from './guesses.ts';
import {
  type Asker,
  type Counted,
  type General,
  headersOf,
  type Layer,
  layersAt,
  layersOf,
  quotaOf,
  refuse,
} from './layers.ts';
import { allLimits, type LimitClass, type LimitHeaders } from './limits.ts';
import type { SharedCounts } from './sharedCounts.ts';
import { createCounter, type Window } from './windows.ts';

/** Whose wrong guesses are counted together; `ip` is null where it does not matter from where they come. */
export interface Guesser {
  keys: readonly string[];
  ip: string | null;
}

/** Called once it is known whether a guess was wrong; answers what is left of them when it was. */
export type SettleGuess = (wasWrong: boolean) => Promise<LimitHeaders | null>;

export interface Limiter {
  /**
   * Counts a request; null when limits are off. Throws `rate_limited`, which carries the headers too. Without a promise
   * where this process counts by itself.
   */
  take(asker: Asker, limitClass: LimitClass | undefined): LimitHeaders | null | Promise<LimitHeaders>;
  /**
   * Lets somebody make a guess. Returns whom to tell whether it was wrong; throws `rate_limited` with these words when
   * too many were.
   */
  guess(limitClass: LimitClass, guesser: Guesser, message: string): Promise<SettleGuess>;
  /** Throws `rate_limited` when this address had too many credentials refused, unless this one was good lately. */
  checkRefused(ip: string, credential: string): Promise<void> | undefined;
  /** Counts a credential that was refused, and answers how many more may be. */
  countRefused(ip: string, credential: string): Promise<LimitHeaders | null>;
  noteGood(credential: string): void;
}

const nothing = async () => null;
const unlimited: Limiter = {
  take: () => null,
  guess: async () => nothing,
  checkRefused: () => undefined,
  countRefused: nothing,
  noteGood: () => undefined,
};

/** How long a credential that was good is let through beside others that are refused, and how many are remembered. */
const goodForMs = 24 * 3_600_000;
const goodAtMost = 50_000;
/** How often the other processes are told anew that a credential is good. */
const tellGoodMs = 3_600_000;

/**
 * Counts in fixed windows: together with other processes where `shared` is given and can be reached, in this process's memory
 * otherwise. What is counted together is written down here as well, so that counting goes on from there when the others
 * cannot be reached. See docs/decisions/0019.
 */
export function createLimiter(
  on: boolean,
  shared: SharedCounts | null = null,
  nowMs = () => Math.trunc(performance.now()),
): Limiter {
  if (!on) return unlimited;
  const counted = new Map<string, Counted>();
  for (const [name, limit] of allLimits()) {
    const policy = `"${name}";q=${limit.quota};w=${limit.windowS}`;
    const count = createCounter(limit.windowS * 1_000);
    counted.set(name, { name, limit, policy, count, guesses: createGuesses(count, nowMs) });
  }
  const known = (name: string): Counted => {
    const found = counted.get(name);
    if (found === undefined) throw new Error(`no room that is loaded declares the limit ${name}`);
    return found;
  };
  const general: General = {
    credential: known('default'),
    account: known('account'),
    organization: known('organization'),
    strangers: known('public'),
  };
  const refused = known('refused');
  /** When each was good last, by its hash: whoever else guesses at the same address does not lock them out. */
  const good = new Map<string, { at: number; toldAt: number }>();

  const refusedAt = (ip: string): Layer[] => layersAt(refused, ip);

  return {
    take(asker, limitClass) {
      const layers = layersOf(asker, general, limitClass === undefined ? null : known(limitClass));
      if (shared?.isReached()) return takeTogether(shared, layers, nowMs);
      return takeHere(layers, nowMs());
    },
    async guess(limitClass, { keys, ip }, message) {
      const guessed = known(limitClass);
      const layers = [
        ...(ip === null ? [] : layersAt(guessed, ip)),
        ...keys.map((key) => ({ counted: guessed, key })),
      ];
      const begun =
        (await beginTogether(shared, layers, nowMs)) ?? (await guessed.guesses.begin(boundsOf(layers)));
      if (typeof begun !== 'function') throw refuse({ counted: guessed, key: '' }, begun, nowMs(), message);
      return async (wasWrong) => {
        await begun(wasWrong);
        return wasWrong ? tellFullest(layers, nowMs()) : null;
      };
    },
    checkRefused(ip, credential) {
      const isShared = shared?.isReached() ?? false;
      if (!isShared && refused.count.isEmpty()) return undefined;
      const now = nowMs();
      const key = hashOf(credential);
      if (now - (good.get(key)?.at ?? Number.NEGATIVE_INFINITY) < goodForMs) return undefined;
      const layers = refusedAt(ip);
      if (shared !== null && isShared) return checkTogether(shared, layers, key, nowMs);
      for (const layer of layers) throwWhenFull(layer, now);
      return undefined;
    },
    async countRefused(ip, credential) {
      const key = hashOf(credential);
      good.delete(key);
      shared?.forgetGood(key);
      const layers = refusedAt(ip);
      const windows =
        (await shared?.add(layers, nowMs)) ?? layers.map((layer) => refused.count.add(layer.key, nowMs()));
      return headersOf(layers, windows, nowMs());
    },
    noteGood(credential) {
      const key = hashOf(credential);
      const at = nowMs();
      let toldAt = good.get(key)?.toldAt ?? Number.NEGATIVE_INFINITY;
      if (shared?.isReached() && at - toldAt > tellGoodMs) {
        shared.noteGood(key, goodForMs);
        toldAt = at;
      }
      good.delete(key); // so that insertion order stays order of age
      good.set(key, { at, toldAt });
      if (good.size > goodAtMost) good.delete(good.keys().next().value ?? '');
    },
  };
}

function hashOf(credential: string): string {
  return hash('sha256', credential, 'base64');
}

function boundsOf(layers: readonly Layer[]) {
  return layers.map((layer) => ({ key: layer.key, quota: quotaOf(layer) }));
}

/** Counts by each layer in turn; the first that is full refuses, and takes nothing from those after it. */
function takeHere(layers: readonly Layer[], now: number): LimitHeaders {
  const windows: Window[] = [];
  for (const layer of layers) {
    const window = layer.counted.count.add(layer.key, now);
    if (window.used > quotaOf(layer)) throw refuse(layer, window, now);
    windows.push(window);
  }
  return headersOf(layers, windows, now);
}

async function takeTogether(
  shared: SharedCounts,
  layers: readonly Layer[],
  nowMs: () => number,
): Promise<LimitHeaders> {
  const windows = await shared.add(layers, nowMs);
  const now = nowMs();
  if (windows === null) return takeHere(layers, now);
  for (const [at, window] of windows.entries()) {
    const layer = layers[at];
    if (layer !== undefined && window.used > quotaOf(layer)) throw refuse(layer, window, now);
  }
  return headersOf(layers, windows, now);
}

/** How long somebody waits for others' guesses at the same, and how often it is looked. */
const guessWaitMs = 10_000;
const guessLookMs = 20;

/** Null where guesses are counted here alone. */
async function beginTogether(
  shared: SharedCounts | null,
  layers: readonly Layer[],
  nowMs: () => number,
): Promise<((wasWrong: boolean) => Promise<void>) | Window | null> {
  if (!shared?.isReached()) return null;
  const until = nowMs() + guessWaitMs;
  for (;;) {
    const begun = await shared.beginGuess(layers, nowMs);
    if (begun === null || begun !== 'wait') return begun;
    if (nowMs() > until) return { used: 0, endsAt: nowMs() + 1_000 };
    await new Promise((resolve) => setTimeout(resolve, guessLookMs));
  }
}

async function checkTogether(
  shared: SharedCounts,
  layers: readonly Layer[],
  goodKey: string,
  nowMs: () => number,
): Promise<void> {
  for (const layer of layers) {
    if ((await shared.look(layer, goodKey, nowMs)) === true) return;
    throwWhenFull(layer, nowMs());
  }
}

function throwWhenFull(layer: Layer, now: number): void {
  const window = layer.counted.count.look(layer.key, now);
  if (window !== undefined && window.used >= quotaOf(layer)) throw refuse(layer, window, now);
}

/** What is left where the fewest guesses are. */
function tellFullest(layers: readonly Layer[], now: number): LimitHeaders | null {
  let fullest: { layer: Layer; window: Window } | null = null;
  for (const layer of layers) {
    const window = layer.counted.count.look(layer.key, now);
    if (window === undefined) continue;
    if (fullest === null || leftOf(layer, window) < leftOf(fullest.layer, fullest.window))
      fullest = { layer, window };
  }
  return fullest === null ? null : headersOf([fullest.layer], [fullest.window], now);
}

function leftOf(layer: Layer, { used }: Window): number {
  return quotaOf(layer) - used;
}
