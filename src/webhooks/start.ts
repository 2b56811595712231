import { type Context, type Database, type PeriodicJob, startLeading, statement } from '../platform/index.ts';
import { drain } from './drain.ts';
import { createPoster, type Resolve } from './post.ts';
import { spread } from './spread.ts';

/** Has one process of the product make and send webhooks. Returns how to stop. */
export function startWebhooks(
  ctx: Context & { readonly db: Database },
  url: string,
  resolve?: Resolve,
): () => Promise<void> {
  const work = async (signal: AbortSignal) => {
    const poster = createPoster(ctx.config.webhookAllow, resolve);
    await Promise.all([spread(ctx, signal), drain(ctx, poster, signal)]);
  };
  return startLeading(url, 'webhooks', work, ctx.log);
}

const keptMs = 30 * 24 * 3_600_000;
const batch = 1_000;

const purge = statement<{ id: number }, { before: Date; limit: number }>(
  'webhooks.purge',
  `delete from webhook_deliveries where id in
     (select id from webhook_deliveries where created_at < :before order by created_at, id limit :limit) returning id`,
);

/** Deliveries are kept for thirty days. */
export const purgeDeliveries: PeriodicJob = {
  name: 'webhooks.purge',
  intervalMs: 600_000,
  work: async (tx) => {
    const before = new Date(tx.clock.now().getTime() - keptMs);
    return (await tx.db.many(purge, { before, limit: batch })).length === batch ? 'more' : 'done';
  },
};
