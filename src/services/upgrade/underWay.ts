import { upgradeIsUnderWay } from '../../billing/index.ts';
import { type Context, dayOf, fail, findHeldRestore } from '../../platform/index.ts';

/** Refuses to price a service whose upgrade was paid and does not count yet: it is about to cost something else. `conflict`. */
export async function requireNoneUnderWay(ctx: Context, serviceId: number): Promise<void> {
  if (await upgradeIsUnderWay(ctx, serviceId)) throw underWay();
}

export function underWay() {
  return fail('conflict', { message: 'An upgrade of this service was paid and is being carried out' });
}

/**
 * What keeps a change whose day is over, or has come, and does not count yet; null while its day is ahead. After a restore it waits for
 * staff, and nobody can say how long.
 */
export async function whatKeeps(ctx: Context, effectiveOn: string | null): Promise<string | null> {
  if (effectiveOn === null || effectiveOn > dayOf(ctx.clock.now())) return null;
  const was = `The service was to become another product on ${effectiveOn}`;
  return (await findHeldRestore(ctx)) === null
    ? `${was}, which is about to be done; try again in a few minutes, or write to us`
    : `${was}, which waits until our staff has looked through what was restored from a backup; write to us`;
}
