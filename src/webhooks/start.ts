import { type Context, type Database, type Leading, type PeriodicJob, statement } from '../platform/index.ts';
import { drain } from './drain.ts';
import { createPoster } from './post.ts';
import type { Resolve } from './resolve.ts';
import { spread } from './spread.ts';

/** Has one process of the product make and send webhooks, from when it may on. Returns how to stop. */
export function startWebhooks(
  ctx: Context & { readonly db: Database },
  leading: Leading,
  mayWork: () => Promise<boolean>,
  resolve?: Resolve,
): () => Promise<void> {
  const work = async (signal: AbortSignal) => {
    const poster = createPoster(ctx.config.webhookAllow, resolve);
    await Promise.all([spread(ctx, signal), drain(ctx, poster, signal)]);
  };
  return leading.start('webhooks', work, mayWork);
}

const keptMs = 30 * 24 * 3_600_000;
const batch = 1_000;

const purge = statement<{ id: number }, { before: Date; limit: number }>(
  'webhooks.purge',
  `delete from webhook_deliveries where id in
     (select id from webhook_deliveries where finished_at < :before order by finished_at, id limit :limit) returning id`,
);
const giveUp = statement<{ id: number }, { before: Date; limit: number; now: Date; error: string }>(
  'webhooks.giveUp',
  `with given as (
     update webhook_deliveries set state = 'failed', next_try_at = null, finished_at = :now where id in (
       select d.id from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id
       where d.created_at < :before and d.state = 'waiting' and e.status = 'paused' order by d.created_at, d.id limit :limit)
     returning id, organization_id),
   said as (
     insert into webhook_attempts (delivery_id, organization_id, tried_at, duration_ms, error)
     select id, organization_id, :now, 0, :error from given)
   select id from given`,
);

/**
 * Deliveries are kept for thirty days after they came to their end. One that waits is no end, but that its endpoint is paused for
 * longer than that: it can still be sent again.
 */
export const purgeDeliveries: PeriodicJob = {
  name: 'webhooks.purge',
  intervalMs: 600_000,
  work: async (tx) => {
    const now = tx.clock.now();
    const before = new Date(now.getTime() - keptMs);
    const error = 'Not sent: the endpoint was paused for thirty days';
    const given = (await tx.db.many(giveUp, { before, limit: batch, now, error })).length;
    const purged = (await tx.db.many(purge, { before, limit: batch })).length;
    return given === batch || purged === batch ? 'more' : 'done';
  },
};
