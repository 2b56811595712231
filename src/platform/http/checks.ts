import type { HealthCheck } from '../attention.ts';
import type { Context } from '../context.ts';
import { causesOf } from '../log.ts';

const freshForMs = 2_000;
const answersWithinMs = 1_000;

/** What one check found. */
export interface Checked {
  name: string;
  ok: boolean;
  /** What is wrong and what to do; only when it is not in order. */
  message?: string;
}

/**
 * Looks at every check, at most once in two seconds however often it is asked, and answers within a second: what is
 * not known by then counts as out of order, and is not asked again before it has answered.
 */
export function rememberChecks(ctx: Context, checks: readonly HealthCheck[]): () => Promise<Checked[]> {
  const looks = checks.map((check) => onceAtATime(ctx, check));
  let known: Promise<Checked[]> | null = null;
  let askedAtMs = 0;
  return () => {
    const nowMs = performance.now();
    if (known === null || nowMs - askedAtMs > freshForMs) {
      askedAtMs = nowMs;
      known = Promise.all(looks.map((look) => look()));
    }
    return known;
  };
}

function onceAtATime(ctx: Context, { name, look }: HealthCheck): () => Promise<Checked> {
  let asking: Promise<string | null> | null = null;
  return async () => {
    asking ??= look(ctx)
      .catch((error: unknown) => `Not known: ${causesOf(error)}.`)
      .finally(() => {
        asking = null;
      });
    const late = Promise.withResolvers<string>();
    const timer = setTimeout(() => late.resolve('Not known: the database is slow.'), answersWithinMs);
    const message = await Promise.race([asking, late.promise]).finally(() => clearTimeout(timer));
    return message === null ? { name, ok: true } : { name, ok: false, message };
  };
}
