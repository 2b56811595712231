import { upgradeIsUnderWay } from '../../billing/index.ts';
import { type Context, fail } from '../../platform/index.ts';

/** Refuses to price a service whose upgrade was paid and does not count yet: it is about to cost something else. `conflict`. */
export async function requireNoneUnderWay(ctx: Context, serviceId: number): Promise<void> {
  if (await upgradeIsUnderWay(ctx, serviceId)) throw underWay();
}

export function underWay() {
  return fail('conflict', { message: 'An upgrade of this service was paid and is being carried out' });
}
