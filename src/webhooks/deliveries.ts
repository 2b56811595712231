import { record } from '../events/index.ts';
import { type ListRequest, listData, pagedList } from '../platform/http/index.ts';
import {
  fail,
  newId,
  type OrganizationContext,
  requireOwn,
  type StaffContext,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import { requireEndpoint } from './endpoints.ts';
import { webhookReplayed, webhookTested } from './events.ts';
import { wakeDrain } from './wake.ts';

interface DeliveryRow {
  id: number;
  organization_id: number;
  endpoint_id: number;
  event: string;
  state: 'waiting' | 'delivered' | 'failed';
  tries: number;
  next_try_at: Date | null;
  created_at: Date;
  finished_at: Date | null;
}

interface WholeRow extends DeliveryRow {
  url: string;
  body: string;
  attempts: Attempt[];
}

interface Attempt {
  tried_at: string;
  duration_ms: number;
  status: number | null;
  error: string | null;
  answer: string | null;
}

const columns = `t.id, t.organization_id, t.endpoint_id, t.event, t.state, t.tries, t.next_try_at, t.created_at, t.finished_at`;
const shared = {
  from: 'webhook_deliveries t',
  select: `select ${columns} from webhook_deliveries t`,
  key: { by: 't.id', type: 'bigint', of: (row: DeliveryRow) => row.id },
  sorts: {
    created_at: {
      by: 't.created_at',
      type: 'timestamptz' as const,
      of: (row: DeliveryRow) => row.created_at.toISOString(),
    },
  },
  order: '-created_at',
  countCap: 1_000,
} as const;
const ofEndpoint = pagedList<DeliveryRow>({
  ...shared,
  name: 'webhooks.deliveries',
  within: 't.endpoint_id = :endpointId',
  filters: { state: 't.state = :state' },
});
const ofAll = pagedList<DeliveryRow>({
  ...shared,
  name: 'webhooks.allDeliveries',
  filters: { org: 't.organization_id = :org', state: 't.state = :state' },
});
const wholeById = statement<WholeRow, { id: number }>(
  'webhooks.delivery',
  `select ${columns}, e.url, t.body,
     coalesce((select jsonb_agg(jsonb_build_object('tried_at', a.tried_at, 'duration_ms', a.duration_ms,
       'status', a.status, 'error', a.error, 'answer', a.answer) order by a.tried_at)
       from webhook_attempts a where a.delivery_id = t.id), '[]') as attempts
   from webhook_deliveries t join webhook_endpoints e on e.id = t.endpoint_id where t.id = :id`,
);
const insertTest = statement<
  never,
  { id: number; organizationId: number; endpointId: number; body: string; now: Date }
>(
  'webhooks.insertTest',
  `insert into webhook_deliveries (id, organization_id, endpoint_id, event, body, state, next_try_at, created_at)
   values (:id, :organizationId, :endpointId, 'webhook.test', :body, 'waiting', :now, :now)`,
);
const beginAnew = statement<never, { id: number; now: Date }>(
  'webhooks.replay',
  `update webhook_deliveries set state = 'waiting', tries = 0, begun = begun + 1, next_try_at = :now, finished_at = null
   where id = :id`,
);
const beginSpanAnew = statement<
  { id: number; created_at: Date },
  { endpointId: number; since: string; until: string; states: string[]; now: Date; limit: number }
>(
  'webhooks.replaySpan',
  // Whole moments: the next span begins after the last one.
  `update webhook_deliveries set state = 'waiting', tries = 0, begun = begun + 1, next_try_at = :now, finished_at = null
   where id in (select id from webhook_deliveries where endpoint_id = :endpointId and created_at >= :since::timestamptz
     and created_at < :until::timestamptz and state = any(:states::text[])
     order by created_at fetch first (:limit::bigint) rows with ties)
   returning id, created_at`,
);
// Each time it is begun anew it is tried eleven times at most.
const forgetAttempts = statement<never, { ids: number[]; kept: number }>(
  'webhooks.forgetAttempts',
  `delete from webhook_attempts a using (
     select ctid as at, row_number() over (partition by delivery_id order by tried_at desc) as nth
     from webhook_attempts where delivery_id = any(:ids::bigint[])) old
   where a.ctid = old.at and old.nth > :kept`,
);
/** How many a replay of a span takes; the rest is asked for again. */
const mostReplayed = 10_000;
/** How many tries of a delivery are kept of those before it is begun anew. */
const keptAttempts = 39;

type Filters = ListRequest & { state?: string | undefined };

/** `not_found`, `forbidden`. */
export async function listDeliveries(ctx: OrganizationContext, id: number, query: Filters) {
  await requireEndpoint(ctx, id);
  const { rows, at } = await ofEndpoint(ctx, query, { endpointId: id, state: query.state });
  return listData('deliveries', rows.map(view), at);
}

/** All that there are, for staff, which sees neither what was sent nor what came back. */
export async function listAllDeliveries(
  ctx: StaffContext,
  query: Filters & { organization_id?: number | undefined },
) {
  const { rows, at } = await ofAll(ctx, query, { org: query.organization_id, state: query.state });
  return listData(
    'deliveries',
    rows.map((row) => ({ ...view(row), organization_id: row.organization_id })),
    at,
  );
}

/** With what was sent and what came back. `not_found`, `forbidden`. */
export async function readDelivery(ctx: OrganizationContext, id: number) {
  const row = await requireOwn(ctx, wholeById, { id });
  const { url, body, attempts } = row;
  const tried = attempts.map(({ tried_at, ...each }) => ({ ...each, tried_at: new Date(tried_at) }));
  return { delivery: { ...view(row), request: { url, body }, attempts: tried } };
}

/** Sends an endpoint something that did not happen. `not_found`, `forbidden`. */
export function sendTest(ctx: OrganizationContext, endpointId: number) {
  return transaction(ctx, 'webhooks.test', async (tx) => {
    const { organizationId } = tx;
    await requireEndpoint(tx, endpointId);
    const [id, now] = [newId(), tx.clock.now()];
    const data = { organization_id: organizationId, subject: { type: 'webhook', id: endpointId } };
    const body = JSON.stringify({ type: 'webhook.test', timestamp: now, data });
    await tx.db.run(insertTest, { id, organizationId, endpointId, body, now });
    await record(tx, webhookTested, {
      subject: { type: 'webhook', id: endpointId },
      data: { delivery_id: id },
    });
    tx.db.afterCommit(wakeDrain);
    return readDelivery(tx, id);
  });
}

/** Sends it again, with the same id, whatever became of it; again for three days. `not_found`, `forbidden`. */
export function replayDelivery(ctx: OrganizationContext, id: number) {
  return transaction(ctx, 'webhooks.replay', async (tx) => {
    const { endpoint_id: endpointId } = await requireOwn(tx, wholeById, { id });
    await tx.db.run(forgetAttempts, { ids: [id], kept: keptAttempts });
    await tx.db.run(beginAnew, { id, now: tx.clock.now() });
    await tellReplayed(tx, endpointId, { delivery_id: id, replayed: 1 });
    tx.db.afterCommit(wakeDrain);
    return readDelivery(tx, id);
  });
}

interface Span {
  since: string;
  until?: string | undefined;
  state?: 'failed' | 'all' | undefined;
}

/**
 * The same for all of a span of time, some ten thousand at once, the oldest first; `next_since` is where the rest begins.
 * `not_found`, `forbidden`.
 */
export function replaySpan(ctx: OrganizationContext, endpointId: number, span: Span) {
  const since = momentOf(span.since, 'since');
  const until = span.until === undefined ? 'infinity' : momentOf(span.until, 'until');
  const states = span.state === 'all' ? ['failed', 'delivered'] : ['failed'];
  return transaction(ctx, 'webhooks.replaySpan', async (tx) => {
    await requireEndpoint(tx, endpointId);
    const asked = { endpointId, since, until, states, now: tx.clock.now(), limit: mostReplayed };
    const begun = await tx.db.many(beginSpanAnew, asked);
    await tx.db.run(forgetAttempts, { ids: begun.map(({ id }) => id), kept: keptAttempts });
    await tellReplayed(tx, endpointId, { delivery_id: null, replayed: begun.length });
    tx.db.afterCommit(wakeDrain);
    const last = begun.reduce((latest, { created_at }) => Math.max(latest, created_at.getTime()), 0);
    return {
      replayed: begun.length,
      next_since: begun.length < mostReplayed ? null : new Date(last + 1),
    };
  });
}

function tellReplayed(
  tx: OrganizationContext & TxContext,
  id: number,
  data: { delivery_id: number | null; replayed: number },
): Promise<unknown> {
  return record(tx, webhookReplayed, { subject: { type: 'webhook', id }, data });
}

function momentOf(text: string, field: string): string {
  const moment = new Date(text);
  if (!Number.isNaN(moment.getTime())) return moment.toISOString();
  throw fail('invalid_request', { details: [{ field, message: 'is no moment that there is' }] });
}

function view({ organization_id: _, endpoint_id, ...row }: DeliveryRow) {
  const { id, event, state, tries, next_try_at, created_at, finished_at } = row;
  const message_id = messageIdOf(id);
  return {
    id,
    message_id,
    webhook_id: endpoint_id,
    event,
    state,
    tries,
    next_try_at,
    created_at,
    finished_at,
  };
}

/** What the header `webhook-id` says at each try. */
export function messageIdOf(id: number): string {
  return `msg_${id}`;
}
