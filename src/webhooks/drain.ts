import { setTimeout as pause } from 'node:timers/promises';
import { record } from '../events/index.ts';
import {
  type Context,
  causesOf,
  openingsIn,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import { messageIdOf } from './deliveries.ts';
import { webhookPaused } from './events.ts';
import type { Outcome, Poster } from './post.ts';
import { pauseAfter } from './schedule.ts';
import { type Secrets, signedHeaders } from './sign.ts';
import { onWake } from './wake.ts';

interface Due extends Secrets {
  id: number;
  organization_id: number;
  url: string;
  body: string;
  tries: number;
}

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
  `select d.id, e.organization_id, e.id as endpoint_id, e.url, d.body, d.tries, e.secret, e.previous_secret,
     e.previous_until
   from webhook_endpoints e cross join lateral (
     select id, body, tries, next_try_at from webhook_deliveries
     where endpoint_id = e.id and state = 'waiting' and next_try_at <= :now and id <> all(:busy::bigint[])
     order by next_try_at, id limit case when e.failing_since is null then :limit::bigint else 1 end) d
   where e.status = 'enabled' and e.organization_id <> all(:fullOrganizations::bigint[])
     and e.id <> all(:fullEndpoints::bigint[])
     and (e.failing_since is null or e.id <> all(:used::bigint[]))
   order by d.next_try_at, d.id limit :limit`,
);
const insertAttempts = statement<
  never,
  {
    ids: number[];
    moments: Date[];
    durations: number[];
    statuses: (number | null)[];
    errors: (string | null)[];
    answers: (string | null)[];
  }
>(
  'webhooks.insertAttempts',
  `insert into webhook_attempts (delivery_id, organization_id, tried_at, duration_ms, status, error, answer)
   select d.id, d.organization_id, a.tried_at, a.duration_ms, a.status, a.error, a.answer
   from unnest(:ids::bigint[], :moments::timestamptz[], :durations::int[], :statuses::int[], :errors::text[],
     :answers::text[]) as a(id, tried_at, duration_ms, status, error, answer)
   join webhook_deliveries d on d.id = a.id order by d.id`,
);
const settleDeliveries = statement<
  never,
  { ids: number[]; states: string[]; tries: number[]; next: (Date | null)[]; now: Date }
>(
  'webhooks.settle',
  `update webhook_deliveries d set state = s.state, tries = s.tries, next_try_at = s.next,
     finished_at = case when s.next is null then :now::timestamptz end
   from unnest(:ids::bigint[], :states::text[], :tries::int[], :next::timestamptz[]) as s(id, state, tries, next)
   where d.id = s.id`,
);
const noteSuccess = statement<never, { ids: number[]; now: Date }>(
  'webhooks.noteSuccess',
  `update webhook_endpoints set failing_since = null, last_success_at = :now where id = any(:ids::bigint[])`,
);
const noteFailure = statement<
  {
    id: number;
    organization_id: number;
    url: string;
    created_by: number;
    failing_since: Date;
    isPaused: boolean;
  },
  { ids: number[]; reasons: string[]; now: Date; before: Date }
>(
  'webhooks.noteFailure',
  `update webhook_endpoints e set failing_since = coalesce(e.failing_since, :now::timestamptz),
     status = case when e.failing_since < :before::timestamptz then 'paused' else 'enabled' end,
     paused_reason = case when e.failing_since < :before::timestamptz then f.reason end
   from unnest(:ids::bigint[], :reasons::text[]) as f(id, reason)
   where e.id = f.id and e.status = 'enabled'
   returning e.id, e.organization_id, e.url, e.created_by, e.failing_since, e.status = 'paused' as "isPaused"`,
);

/** How many are sent side by side; an organization gets at most half, an endpoint a quarter, one that fails a single one. */
const slots = 128;
const slotsOfEndpoint = slots / 4;
const pollMs = 1_000;
const gatherMs = 5;
/** How long answers are waited for when the process stops. */
const endMs = 2_000;
const pauseAfterMs = 24 * 3_600_000;

interface Sending {
  due: Due;
  at: Date;
  outcome: Outcome | null;
}

/** Sends what is due until the signal aborts, and what is under way to its end. */
export async function drain(ctx: Context, poster: Poster, signal: AbortSignal): Promise<void> {
  const sending = new Map<number, Sending>();
  let bell = Promise.withResolvers<void>();
  const ring = () => bell.resolve();
  const stopListening = onWake(ring);
  signal.addEventListener('abort', ring);
  let settling: Promise<void> | null = null;

  const settleSoon = (): void => {
    settling ??= pause(gatherMs)
      .then(() => settleAll())
      .finally(() => {
        settling = null;
        ring();
        if (!signal.aborted && [...sending.values()].some(({ outcome }) => outcome !== null)) settleSoon();
      });
  };

  const settleAll = async (): Promise<void> => {
    const done = [...sending.values()].filter((each) => each.outcome !== null);
    if (done.length === 0) return;
    try {
      await settle(ctx, done);
    } catch (error) {
      // Nothing is sent in its place until it is written down: what is due would be sent again and again.
      ctx.log.warn({ err: causesOf(error as Error) }, 'what became of webhooks could not be written down');
      await pause(pollMs, undefined, { signal }).catch(() => undefined);
      return;
    }
    for (const { due } of done) sending.delete(due.id);
  };

  const begin = (due: Due): void => {
    const each: Sending = { due, at: ctx.clock.now(), outcome: null };
    sending.set(due.id, each);
    const settled = (outcome: Outcome) => {
      each.outcome = outcome;
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
    poster.post(due.url, headers, due.body).then(settled);
  };

  const fill = async (): Promise<void> => {
    for (;;) {
      const all = [...sending.values()];
      const { atMost, full } = openingsIn(
        slots,
        all.map(({ due }) => due.organization_id),
      );
      const used = Map.groupBy(all, ({ due }) => due.endpoint_id);
      const fullEndpoints = [...used]
        .filter(([, those]) => those.length >= slotsOfEndpoint)
        .map(([id]) => id);
      const most = Math.max(
        0,
        ...[...used.values()].map(({ length }) => length).filter((n) => n < slotsOfEndpoint),
      );
      const limit = Math.min(atMost, slotsOfEndpoint - most);
      if (limit <= 0 || signal.aborted) return;
      const due = await ctx.db.many(dueNow, {
        ...{ now: ctx.clock.now(), busy: [...sending.keys()], fullOrganizations: full, fullEndpoints },
        ...{ used: [...used.keys()], limit },
      });
      for (const each of due) begin(each);
      if (due.length < limit) return;
    }
  };

  while (!signal.aborted) {
    bell = Promise.withResolvers();
    try {
      await fill();
    } catch (error) {
      ctx.log.warn({ err: causesOf(error as Error) }, 'webhooks that are due cannot be found; trying again');
    }
    await Promise.race([bell.promise, pause(pollMs, undefined, { ref: false })]);
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

function settle(ctx: Context, done: readonly Sending[]): Promise<void> {
  return transaction(ctx, 'webhooks.settle', async (tx) => {
    const now = tx.clock.now();
    const ends = done
      .toSorted((one, other) => one.due.id - other.due.id)
      .map(({ due, at, outcome }) => ({ due, at, outcome: outcome ?? nothing }));
    const settled = ends.map(({ due, outcome }) => endOf(due, outcome, now));
    const ids = ends.map(({ due }) => due.id);
    // Endpoints first, as whoever removes one locks them.
    const took = new Set(
      ends.filter(({ outcome }) => outcome.error === null).map(({ due }) => due.endpoint_id),
    );
    const refused = new Map(ends.map(({ due, outcome }) => [due.endpoint_id, outcome.error ?? '']));
    for (const id of took) refused.delete(id);
    const inOrder = (given: Iterable<number>) => [...given].toSorted((one, other) => one - other);
    if (took.size > 0) await tx.db.run(noteSuccess, { ids: inOrder(took), now });
    if (refused.size > 0) await note(tx, inOrder(refused.keys()), refused, now);
    await tx.db.run(insertAttempts, {
      ids,
      moments: ends.map(({ at }) => at),
      durations: ends.map(({ outcome }) => outcome.durationMs),
      statuses: ends.map(({ outcome }) => outcome.status),
      errors: ends.map(({ outcome }) => outcome.error),
      answers: ends.map(({ outcome }) => outcome.answer),
    });
    await tx.db.run(settleDeliveries, {
      ...{ ids, now, tries: ends.map(({ due }) => due.tries + 1) },
      states: settled.map(({ state }) => state),
      next: settled.map(({ next }) => next),
    });
  });
}

const nothing: Outcome = { status: null, error: 'No answer', answer: null, durationMs: 0 };

function endOf(due: Due, { error }: Outcome, now: Date): { state: string; next: Date | null } {
  if (error === null) return { state: 'delivered', next: null };
  const waitMs = pauseAfter(due.tries + 1);
  if (waitMs === null) return { state: 'failed', next: null };
  return { state: 'waiting', next: new Date(now.getTime() + waitMs) };
}

/** Notes who fails, and pauses who has taken nothing for a day; whoever made the endpoint is told, once. */
async function note(
  tx: TxContext,
  ids: number[],
  refused: ReadonlyMap<number, string>,
  now: Date,
): Promise<void> {
  const reasons = ids.map((id) => refused.get(id) ?? '');
  const before = new Date(now.getTime() - pauseAfterMs);
  for (const row of await tx.db.many(noteFailure, { ids, reasons, now, before })) {
    if (!row.isPaused) continue;
    await record(tx, webhookPaused, {
      ...{ subject: { type: 'webhook', id: row.id }, organizationId: row.organization_id },
      data: {
        ...{ user_id: row.created_by, url: row.url, reason: refused.get(row.id) ?? '' },
        failing_since: row.failing_since.toISOString(),
      },
    });
  }
}
