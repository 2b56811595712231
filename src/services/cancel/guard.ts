import { type Context, fail } from '../../platform/index.ts';
import { kindOf } from '../kinds/table.ts';
import type { Terms } from '../terms.ts';

/** Why what a service runs on is not to be deleted, and what to do about it; null when nothing is against it. */
export type EndingGuard = (ctx: Context, serviceId: number) => Promise<string | null>;

/** By the type of the service; the rooms above hand theirs over. */
export type EndingGuards = Partial<Record<string, EndingGuard>>;

/** Why a service is not to be cancelled while all is as it is; null when nothing is against it. */
export async function reasonAgainstEnding(
  ctx: Context,
  { id, moduleId }: Pick<Terms, 'id' | 'moduleId'>,
  guards: EndingGuards,
): Promise<string | null> {
  return (await guards[kindOf(moduleId).type]?.(ctx, id)) ?? null;
}

/** `conflict` for a service that is not to be cancelled while all is as it is. */
export async function requireUnguarded(ctx: Context, service: Terms, guards: EndingGuards): Promise<void> {
  const message = await reasonAgainstEnding(ctx, service, guards);
  if (message !== null) throw fail('conflict', { message });
}
