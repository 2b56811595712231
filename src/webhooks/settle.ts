import { record } from '../events/index.ts';
import { type Context, statement, type TxContext, transaction } from '../platform/index.ts';
import { webhookPaused } from './events.ts';
import type { Outcome } from './post.ts';
import { pauseAfter } from './schedule.ts';
import type { Secrets } from './sign.ts';

/** A delivery that is sent now. */
export interface Due extends Secrets {
  id: number;
  organization_id: number;
  url: string;
  body: string;
  tries: number;
  /** How often it was asked for again. */
  begun: number;
  isFailing: boolean;
}

/** A try that has come to its end. */
export interface Ended {
  due: Due;
  at: Date;
  outcome: Outcome;
}

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
  { ids: number[]; begun: number[]; states: string[]; tries: number[]; next: (Date | null)[]; now: Date }
>(
  'webhooks.settle',
  // One that was asked for again meanwhile is sent once more, whatever became of this try.
  `update webhook_deliveries d set state = s.state, tries = s.tries, next_try_at = s.next,
     finished_at = case when s.next is null then :now::timestamptz end
   from unnest(:ids::bigint[], :begun::int[], :states::text[], :tries::int[], :next::timestamptz[])
     as s(id, begun, state, tries, next)
   where d.id = s.id and d.begun = s.begun`,
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

const pauseAfterMs = 24 * 3_600_000;

/** Writes down what became of tries, all of them or none. */
export function settle(ctx: Context, done: readonly Ended[]): Promise<void> {
  return transaction(ctx, 'webhooks.settle', async (tx) => {
    const now = tx.clock.now();
    const ends = done.toSorted((one, other) => one.due.id - other.due.id);
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
      ...{ ids, now, begun: ends.map(({ due }) => due.begun) },
      tries: ends.map(({ due }) => due.tries + 1),
      states: settled.map(({ state }) => state),
      next: settled.map(({ next }) => next),
    });
  });
}

function endOf(due: Due, { error }: Outcome, now: Date): { state: string; next: Date | null } {
  if (error === null) return { state: 'delivered', next: null };
  const waitMs = pauseAfter(due.tries + 1);
  if (waitMs === null) return { state: 'failed', next: null };
  return { state: 'waiting', next: new Date(now.getTime() + waitMs) };
}

/** Notes who fails, and pauses who has taken nothing for a day; the organization is told, once. */
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
