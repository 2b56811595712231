import { randomUUID } from 'node:crypto';
import { Gauge, type Registry } from 'prom-client';
import type { HealthCheck } from '../attention.ts';
import { type Layer, quotaOf } from './layers.ts';
import { openValkey, type Script, script, type ValkeyLog } from './valkey.ts';
import type { Window } from './windows.ts';

/**
 * Counts that several processes share, in Valkey. Null answers mean that it could not be asked, and that whoever asked counts
 * by itself. What is answered is also put into the layers' own windows.
 */
export interface SharedCounts {
  isReached(): boolean;
  /** Counts one by each layer, up to the first that is full; the windows of those. */
  add(layers: readonly Layer[], nowMs: () => number): Promise<Window[] | null>;
  /** Lets a guess be looked at, or answers with the window that is full; `wait` while those being looked at could fill it. */
  beginGuess(
    layers: readonly Layer[],
    nowMs: () => number,
  ): Promise<((wasWrong: boolean) => Promise<void>) | Window | 'wait' | null>;
  /** Looks at a window without counting, and whether a credential was good lately. */
  look(layer: Layer, goodKey: string, nowMs: () => number): Promise<boolean | null>;
  noteGood(key: string, forMs: number): void;
  forgetGood(key: string): void;
  close(): Promise<void>;
}

/** A guess that its process never settled, since it died, counts no longer than this. */
const openForMs = 60_000;

const counting = `
local function count(key, windowMs)
  local used = redis.call('INCR', key)
  local left = redis.call('PTTL', key)
  if left < 0 then
    redis.call('PEXPIRE', key, windowMs)
    left = tonumber(windowMs)
  end
  return used, left
end
`;

// KEYS: one a layer. ARGV: of each the length of its window and its quota. Answers used and left of each, up to one that is full.
const addScript = script(`${counting}
local answer = {}
for at, key in ipairs(KEYS) do
  local used, left = count(key, ARGV[at * 2 - 1])
  answer[at * 2 - 1] = used
  answer[at * 2] = left
  if used > tonumber(ARGV[at * 2]) then break end
end
return answer`);

// KEYS: of each layer wrong ones, and those being looked at by the time until which they count. ARGV: name, how long, then of each its quota.
const beginScript = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local isWaiting = false
for at = 1, #KEYS, 2 do
  local wrong = tonumber(redis.call('GET', KEYS[at]) or '0')
  local quota = tonumber(ARGV[2 + (at + 1) / 2])
  if wrong >= quota then return {2, (at + 1) / 2, wrong, redis.call('PTTL', KEYS[at])} end
  redis.call('ZREMRANGEBYSCORE', KEYS[at + 1], '-inf', now)
  if wrong + redis.call('ZCARD', KEYS[at + 1]) >= quota then isWaiting = true end
end
if isWaiting then return {1} end
for at = 2, #KEYS, 2 do
  redis.call('ZADD', KEYS[at], now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[at], ARGV[2])
end
return {0}`);

// KEYS: as above. ARGV: the window's length, name, 1 when it was wrong. Answers used and left of each when it was.
const settleScript = script(`${counting}
local answer = {}
for at = 1, #KEYS, 2 do
  redis.call('ZREM', KEYS[at + 1], ARGV[2])
  if ARGV[3] == '1' then
    local used, left = count(KEYS[at], ARGV[1])
    answer[at] = used
    answer[at + 1] = left
  end
end
return answer`);

const lookScript = script(`
return {tonumber(redis.call('GET', KEYS[1]) or '0'), redis.call('PTTL', KEYS[1]), redis.call('EXISTS', KEYS[2])}`);

/** Connects, and goes on trying while it is away. */
export async function openSharedCounts(url: string, log: ValkeyLog): Promise<SharedCounts> {
  const valkey = await openValkey(url, log);

  const numbers = async (which: Script, keys: string[], args: string[]): Promise<number[] | null> =>
    (await valkey.run(which, keys, args)) as number[] | null;

  /** What was answered, on our clock, and in our own windows. */
  const takeOver = (layers: readonly Layer[], answer: readonly number[], now: number): Window[] => {
    const windows: Window[] = [];
    for (let at = 0; at * 2 < answer.length; at += 1) {
      const window = { used: answer[at * 2] ?? 0, endsAt: now + Math.max(0, answer[at * 2 + 1] ?? 0) };
      const layer = layers[at];
      layer?.counted.count.put(layer.key, window, now);
      windows.push(window);
    }
    return windows;
  };

  return {
    isReached: () => valkey.isReached(),
    async add(layers, nowMs) {
      const args: string[] = [];
      for (const layer of layers)
        args.push(String(layer.counted.limit.windowS * 1_000), String(quotaOf(layer)));
      const answer = await numbers(addScript, layers.map(nameOf), args);
      return answer === null ? null : takeOver(layers, answer, nowMs());
    },
    async beginGuess(layers, nowMs) {
      const limit = layers[0]?.counted.limit;
      if (limit === undefined) return async () => undefined;
      const keys = layers.flatMap((layer) => [nameOf(layer), `${nameOf(layer)}:open`]);
      const name = randomUUID();
      const answer = await numbers(beginScript, keys, [
        ...[name, String(openForMs)],
        ...layers.map((layer) => String(quotaOf(layer))),
      ]);
      if (answer === null) return null;
      const [state, at = 1, used = 0, left = 0] = answer;
      if (state === 1) return 'wait';
      const full = layers[at - 1];
      if (state === 2 && full !== undefined) return takeOver([full], [used, left], nowMs())[0] ?? null;
      return async (wasWrong) => {
        const args = [String(limit.windowS * 1_000), name, wasWrong ? '1' : '0'];
        const settled = await numbers(settleScript, keys, args);
        if (settled !== null) takeOver(layers, settled, nowMs());
        else if (wasWrong) for (const { counted, key } of layers) counted.count.add(key, nowMs());
      };
    },
    async look(layer, goodKey, nowMs) {
      const answer = await numbers(lookScript, [nameOf(layer), goodName(goodKey)], []);
      if (answer === null) return null;
      const [used = 0, left = 0, isGood] = answer;
      if (used > 0) takeOver([layer], [used, left], nowMs());
      return isGood === 1;
    },
    noteGood: (key, forMs) => valkey.tell(['SET', goodName(key), '1', 'PX', String(forMs)]),
    forgetGood: (key) => valkey.tell(['DEL', goodName(key)]),
    close: () => valkey.close(),
  };
}

/** Says in `/metrics` whether counts are shared, and in `/readyz` what to do when they are not. */
export function watchSharedCounts(shared: SharedCounts, registry: Registry): HealthCheck {
  new Gauge({
    name: 'innkeeper_limits_shared',
    help: 'Whether limits are counted together with the other processes, in Valkey (1), or by this one alone (0).',
    registers: [registry],
    collect() {
      this.set(shared.isReached() ? 1 : 0);
    },
  });
  const message =
    'Valkey cannot be reached, so each process counts limits by itself. Look at the server that VALKEY_URL names.';
  return { name: 'limits', look: async () => (shared.isReached() ? null : message) };
}

const prefix = 'innkeeper:limit:';

function nameOf({ counted, key }: Layer): string {
  return `${prefix}${counted.name}:${key}`;
}

function goodName(key: string): string {
  return `${prefix}good:${key}`;
}
