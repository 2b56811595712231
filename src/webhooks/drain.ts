import { setTimeout as pause } from 'node:timers/promises';
import { AppError, type Context, causesOf, statement } from '../platform/index.ts';
import { messageIdOf } from './deliveries.ts';
import { createLane, mostOfEndpoint } from './lane.ts';
import type { Outcome, Poster } from './post.ts';
import { type Due, type Ended, settle } from './settle.ts';
import { signedHeaders } from './sign.ts';
import { createTurn } from './turn.ts';
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
    each: number;
    limit: number;
  }
>(
  'webhooks.due',
  `select d.id, e.organization_id, e.id as endpoint_id, e.url, d.body, d.tries, d.begun, e.secret, e.previous_secret,
     e.previous_until, e.failing_since is not null as "isFailing"
   from webhook_endpoints e cross join lateral (
     select id, body, tries, begun, next_try_at from webhook_deliveries
     where endpoint_id = e.id and state = 'waiting' and next_try_at <= :now and id <> all(:busy::bigint[])
     order by next_try_at, id limit case when e.failing_since is null then :each::bigint else 1 end) d
   where e.status = 'enabled' and e.organization_id <> all(:fullOrganizations::bigint[])
     and e.id <> all(:fullEndpoints::bigint[])
     and (e.failing_since is null or e.id <> all(:used::bigint[]))
   order by d.next_try_at, d.id limit :limit`,
);
/** When the next one is due, at any endpoint that is sent to. */
const nextDue = statement<{ at: Date | null }>(
  'webhooks.nextDue',
  `select min(d.next_try_at) as at from webhook_endpoints e cross join lateral (
     select next_try_at from webhook_deliveries where endpoint_id = e.id and state = 'waiting'
     order by next_try_at, id limit 1) d
   where e.status = 'enabled'`,
);
const pollMs = 1_000;
/** Where nothing is under way: whatever makes one due before its time tells (`wake.ts`). */
const restMs = 120_000;
const fullPollMs = 100;
/** How many tries may wait for being written down: nothing more begins. */
const mostUnwritten = 512;
/** The same, with those that are set aside. */
const mostHeld = 10_000;
const gatherMs = 5;
/** How many are found beyond the places that are free: a place that gets free is taken at once. */
const mostAhead = 128;
/** Another process may change their endpoint meanwhile. */
const aheadMs = 250;
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
  let isRung = true;
  const ring = () => {
    isRung = true;
    bell.resolve();
  };
  const stopListening = onWake((isChanged) => {
    if (isChanged) ahead = [];
    ring();
  });
  signal.addEventListener('abort', ring);
  let settling: Promise<void> | null = null;
  let unwritten = 0;
  /** Found, and not begun. */
  let ahead: Due[] = [];
  let aheadUntilMs = 0;
  let isMore = false;

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
      for (const each of done) forget(each);
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
        forget(each);
      } catch (error) {
        if (isOutage(error)) return;
        if (each.asideUntilMs === 0) unwritten -= 1;
        each.asideUntilMs = performance.now() + asideMs;
        ctx.log.error(
          { err: causesOf(error as Error), delivery: each.due.id },
          'what became of a webhook cannot be written down; trying again in a minute',
        );
      }
    }
  };

  const forget = ({ due, asideUntilMs }: Sending): void => {
    sending.delete(due.id);
    if (asideUntilMs === 0) unwritten -= 1;
  };

  const begin = (due: Due): void => {
    const each: Sending = { due, at: ctx.clock.now(), outcome: null, asideUntilMs: 0 };
    sending.set(due.id, each);
    const settled = (outcome: Outcome) => {
      each.outcome = outcome;
      unwritten += 1;
      lane.end(due.id);
      // Whoever fails has one try at a time as soon as that is written down.
      if (outcome.error !== null)
        ahead = ahead.filter(({ endpoint_id: endpointId }) => endpointId !== due.endpoint_id);
      if (signal.aborted) return;
      settleSoon();
      if (!beginNext() && ahead.length === 0 && isMore && !isHeldUp()) ring();
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

  const isHeldUp = () => signal.aborted || unwritten >= mostUnwritten || sending.size >= mostHeld;

  /** Begins the first that may of those that were found; false when there is none. */
  const beginNext = (): boolean => {
    if (isHeldUp()) return false;
    if (performance.now() > aheadUntilMs) ahead = [];
    const at = ahead.findIndex(
      ({ id, organization_id: organizationId, endpoint_id: endpointId, isFailing }) =>
        lane.begin(id, organizationId, endpointId, isFailing),
    );
    const [next] = at === -1 ? [] : ahead.splice(at, 1);
    if (next === undefined) return false;
    begin(next);
    return true;
  };

  const fill = async (): Promise<void> => {
    const turn = createTurn();
    const beginAll = async (): Promise<number> => {
      let begun = 0;
      for (; beginNext(); begun += 1) await turn();
      return begun;
    };
    await beginAll();
    for (;;) {
      const { limit: free, ...full } = lane.room();
      if (free <= 0 || isHeldUp()) return;
      const limit = free + mostAhead;
      const current = [...sending.values()].filter(({ asideUntilMs }) => asideUntilMs === 0);
      ahead = await ctx.db.many(dueNow, {
        ...{ now: ctx.clock.now(), busy: [...sending.keys()], ...full },
        ...{ used: [...new Set(current.map((each) => each.due.endpoint_id))], each: mostOfEndpoint, limit },
      });
      aheadUntilMs = performance.now() + aheadMs;
      isMore = ahead.length === limit;
      if ((await beginAll()) === 0 || !isMore) return;
    }
  };

  const rests = () => sending.size === 0 && ahead.length === 0 && !ctx.clock.isDriven;
  /** How long nothing becomes due by itself. */
  const restFor = async (): Promise<number> => {
    const { at } = await ctx.db.one(nextDue);
    return Math.min(restMs, at === null ? restMs : at.getTime() - ctx.clock.now().getTime());
  };

  while (!signal.aborted) {
    bell = Promise.withResolvers();
    let idleMs = 0;
    try {
      if (!isRung && rests()) idleMs = await restFor();
      isRung = false;
      if (idleMs <= 0) await fill();
    } catch (error) {
      ctx.log.warn({ err: causesOf(error as Error) }, 'webhooks that are due cannot be found; trying again');
    }
    if (toSettle().length > 0) settleSoon();
    // Places are free again once their tries are long, of which nobody tells.
    const waitMs = idleMs > 0 ? idleMs : lane.room().limit > 0 ? pollMs : fullPollMs;
    const rested = new AbortController();
    const resting = pause(waitMs, undefined, { ref: false, signal: rested.signal }).catch(() => undefined);
    await Promise.race([bell.promise, resting]);
    rested.abort();
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
