import { setTimeout as pause } from 'node:timers/promises';
import { AppError, type Context, causesOf, statement } from '../platform/index.ts';
import { messageIdOf } from './deliveries.ts';
import { createLane } from './lane.ts';
import type { Outcome, Poster } from './post.ts';
import { type Due, type Ended, settle } from './settle.ts';
import { signedHeaders } from './sign.ts';
import { onWake } from './wake.ts';

// One probe of each endpoint, however many there are: what waits at one that is full or fails is not looked at.
const dueNow = statement<
  Due,
  {
    now: Date;
    busy: number[];
    fullOrganizations: number[];
    fullEndpoints: number[];
    used: number[];
    limit: number;
  }
>(
  'webhooks.due',
  `select d.id, e.organization_id, e.id as endpoint_id, e.url, d.body, d.tries, d.begun, e.secret, e.previous_secret,
     e.previous_until, e.failing_since is not null as "isFailing"
   from webhook_endpoints e cross join lateral (
     select id, body, tries, begun, next_try_at from webhook_deliveries
     where endpoint_id = e.id and state = 'waiting' and next_try_at <= :now and id <> all(:busy::bigint[])
     order by next_try_at, id limit case when e.failing_since is null then :limit::bigint else 1 end) d
   where e.status = 'enabled' and e.organization_id <> all(:fullOrganizations::bigint[])
     and e.id <> all(:fullEndpoints::bigint[])
     and (e.failing_since is null or e.id <> all(:used::bigint[]))
   order by d.next_try_at, d.id limit :limit`,
);
const pollMs = 1_000;
const fullPollMs = 100;
/** How many tries may wait for being written down: nothing more begins. */
const mostUnwritten = 512;
/** The same, with those that are set aside. */
const mostHeld = 10_000;
const gatherMs = 5;
/** How long answers are waited for when the process stops. */
const endMs = 2_000;
/** What cannot be written down by itself either is tried again after this, and not sent meanwhile. */
const asideMs = 60_000;

interface Sending {
  due: Due;
  at: Date;
  outcome: Outcome | null;
  /** Not before this, on the clock of this process: writing it down has failed. */
  asideUntilMs: number;
}

/** Sends what is due until the signal aborts, and what is under way to its end. */
export async function drain(ctx: Context, poster: Poster, signal: AbortSignal): Promise<void> {
  const sending = new Map<number, Sending>();
  const lane = createLane();
  let bell = Promise.withResolvers<void>();
  const ring = () => bell.resolve();
  const stopListening = onWake(ring);
  signal.addEventListener('abort', ring);
  let settling: Promise<void> | null = null;

  const toSettle = (): (Sending & Ended)[] => {
    const now = performance.now();
    return [...sending.values()].filter(
      (each): each is Sending & Ended => each.outcome !== null && each.asideUntilMs <= now,
    );
  };

  const settleSoon = (): void => {
    settling ??= pause(gatherMs)
      .then(() => {
        ring(); // others begin while these are written down
        return settleAll();
      })
      .finally(() => {
        settling = null;
        ring();
        if (!signal.aborted && toSettle().length > 0) settleSoon();
      });
  };

  /** Together, and one by one when that fails: what cannot be written down holds up nothing else. */
  const settleAll = async (): Promise<void> => {
    const done = toSettle();
    if (done.length === 0) return;
    try {
      await settle(ctx, done);
      for (const { due } of done) sending.delete(due.id);
      return;
    } catch (error) {
      // Nothing is sent in its place until it is written down: what is due would be sent again and again.
      ctx.log.warn({ err: causesOf(error as Error) }, 'what became of webhooks could not be written down');
      if (isOutage(error)) {
        await pause(pollMs, undefined, { signal }).catch(() => undefined);
        return;
      }
    }
    for (const each of done) {
      try {
        await settle(ctx, [each]);
        sending.delete(each.due.id);
      } catch (error) {
        if (isOutage(error)) return;
        each.asideUntilMs = performance.now() + asideMs;
        ctx.log.error(
          { err: causesOf(error as Error), delivery: each.due.id },
          'what became of a webhook cannot be written down; trying again in a minute',
        );
      }
    }
  };

  const begin = (due: Due): void => {
    const each: Sending = { due, at: ctx.clock.now(), outcome: null, asideUntilMs: 0 };
    sending.set(due.id, each);
    const settled = (outcome: Outcome) => {
      each.outcome = outcome;
      lane.end(due.id);
      if (!signal.aborted) settleSoon();
    };
    let headers: Record<string, string>;
    try {
      headers = signedHeaders(ctx, due, messageIdOf(due.id), due.body);
    } catch (error) {
      ctx.log.error(
        { err: causesOf(error as Error), endpoint: due.endpoint_id },
        'a webhook cannot be signed',
      );
      const why = 'Its secret cannot be read any more: rotate it';
      settled({ status: null, error: why, answer: null, durationMs: 0 });
      return;
    }
    poster.post({ url: due.url, organizationId: due.organization_id }, headers, due.body).then(settled);
  };

  const fill = async (): Promise<void> => {
    for (;;) {
      const { limit, ...full } = lane.room();
      const current = [...sending.values()].filter(({ asideUntilMs }) => asideUntilMs === 0);
      const unwritten = current.filter(({ outcome }) => outcome !== null).length;
      if (limit <= 0 || unwritten >= mostUnwritten || sending.size >= mostHeld || signal.aborted) return;
      const due = await ctx.db.many(dueNow, {
        ...{ now: ctx.clock.now(), busy: [...sending.keys()], ...full },
        ...{ used: [...new Set(current.map((each) => each.due.endpoint_id))], limit },
      });
      let begun = 0;
      for (const each of due) {
        const { id, organization_id: organizationId, endpoint_id: endpointId, isFailing } = each;
        if (!lane.begin(id, organizationId, endpointId, isFailing)) continue;
        begin(each);
        begun += 1;
      }
      if (begun === 0 || due.length < limit) return;
    }
  };

  while (!signal.aborted) {
    bell = Promise.withResolvers();
    try {
      await fill();
    } catch (error) {
      ctx.log.warn({ err: causesOf(error as Error) }, 'webhooks that are due cannot be found; trying again');
    }
    if (toSettle().length > 0) settleSoon();
    // Places are free again once their tries are long, of which nobody tells.
    const waitMs = lane.room().limit > 0 ? pollMs : fullPollMs;
    await Promise.race([bell.promise, pause(waitMs, undefined, { ref: false })]);
  }
  stopListening();
  signal.removeEventListener('abort', ring);
  const lastMs = performance.now() + endMs;
  const isUnderWay = () => [...sending.values()].some(({ outcome }) => outcome === null);
  while (isUnderWay() && performance.now() < lastMs) await pause(20);
  await settling;
  await settleAll();
  // What had no answer yet is sent again by whoever comes next, with the same id.
  await poster.close();
}

/** Whether the database is away: then it is away for the others as well. */
function isOutage(error: unknown): boolean {
  return error instanceof AppError;
}
