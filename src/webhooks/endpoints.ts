import { record, recordEntry, toldEvents } from '../events/index.ts';
import { lockOrganization } from '../organizations/index.ts';
import { type ListRequest, listData, pagedList } from '../platform/http/index.ts';
import {
  fail,
  newId,
  type OrganizationContext,
  requireOwn,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import { webhookCreated, webhookDeleted, webhookSecretRotated, webhookUpdated } from './events.ts';
import { newSecret, sealSecret } from './sign.ts';
import { checkUrl } from './target.ts';
import { tellEndpointsChanged } from './wake.ts';

export interface EndpointRow {
  id: number;
  organization_id: number;
  url: string;
  description: string;
  events: string[] | null;
  status: 'enabled' | 'paused';
  paused_reason: string | null;
  failing_since: Date | null;
  last_success_at: Date | null;
  created_at: Date;
}

const mostEndpoints = 20;
const overlapMs = 24 * 3_600_000;

const columns = `t.id, t.organization_id, t.url, t.description, t.events, t.status, t.paused_reason, t.failing_since,
  t.last_success_at, t.created_at`;
const endpoints = pagedList<EndpointRow>({
  name: 'webhooks.endpoints',
  from: 'webhook_endpoints t',
  select: `select ${columns} from webhook_endpoints t`,
  within: 't.organization_id = :organizationId',
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
  order: '-created_at',
});
const endpointById = statement<EndpointRow, { id: number }>(
  'webhooks.endpoint',
  `select ${columns} from webhook_endpoints t where t.id = :id`,
);
const lockById = statement<EndpointRow, { id: number }>(
  'webhooks.lockEndpoint',
  `select ${columns} from webhook_endpoints t where t.id = :id for update`,
);
const countOf = statement<{ count: number }, { organizationId: number }>(
  'webhooks.countEndpoints',
  'select count(*)::int as count from webhook_endpoints where organization_id = :organizationId',
);
const insertEndpoint = statement<
  never,
  {
    id: number;
    organizationId: number;
    url: string;
    description: string;
    events: string[] | null;
    secret: Buffer;
    sinceId: number;
    createdBy: number;
    now: Date;
  }
>(
  'webhooks.insertEndpoint',
  `insert into webhook_endpoints (id, organization_id, url, description, events, status, secret, since_id, created_by,
     created_at)
   values (:id, :organizationId, :url, :description, :events, 'enabled', :secret, :sinceId, :createdBy, :now)`,
);
const updateEndpointRow = statement<
  never,
  { id: number; url: string; description: string; events: string[] | null; status: string; isFresh: boolean }
>(
  'webhooks.updateEndpoint',
  `update webhook_endpoints set url = :url, description = :description, events = :events, status = :status,
     paused_reason = case when :isFresh then null else paused_reason end,
     failing_since = case when :isFresh then null else failing_since end where id = :id`,
);
const deleteEndpointRow = statement<never, { id: number }>(
  'webhooks.deleteEndpoint',
  'delete from webhook_endpoints where id = :id',
);
const setSecret = statement<never, { id: number; secret: Buffer; until: Date }>(
  'webhooks.setSecret',
  `update webhook_endpoints set previous_secret = secret, previous_until = :until, secret = :secret where id = :id`,
);

interface Wanted {
  url: string;
  description?: string | undefined;
  events?: readonly string[] | null | undefined;
}

type Change = Partial<Wanted> & { status?: 'enabled' | 'paused' | undefined };

export async function listEndpoints(ctx: OrganizationContext, query: ListRequest) {
  const { rows, at } = await endpoints(ctx, query, { organizationId: ctx.organizationId });
  return listData('webhooks', rows.map(viewEndpoint), at);
}

/** `not_found`, `forbidden`. */
export async function readEndpoint(ctx: OrganizationContext, id: number) {
  return { webhook: viewEndpoint(await requireEndpoint(ctx, id)) };
}

export function requireEndpoint(ctx: OrganizationContext, id: number): Promise<EndpointRow> {
  return requireOwn(ctx, endpointById, { id });
}

/** Nobody changes the endpoint until the transaction ends. `not_found`, `forbidden`. */
export function lockEndpoint(tx: OrganizationContext & TxContext, id: number): Promise<EndpointRow> {
  return requireOwn(tx, lockById, { id });
}

/** Makes an endpoint; its secret is shown this once. `invalid_request`, `too_many`. */
export function createEndpoint(ctx: OrganizationContext, { url, description = '', events = null }: Wanted) {
  checkUrl(ctx, url);
  const chosen = chosenOf(events);
  return transaction(ctx, 'webhooks.create', async (tx) => {
    const { organizationId } = tx;
    await lockOrganization(tx, organizationId);
    if ((await tx.db.one(countOf, { organizationId })).count >= mostEndpoints) throw fail('too_many');
    const id = newId();
    const secret = newSecret();
    const sinceId = await recordEntry(tx, webhookCreated, {
      subject: { type: 'webhook', id },
      data: { url },
    });
    await tx.db.run(insertEndpoint, {
      ...{ id, organizationId, url, description, events: chosen, sinceId },
      ...{ secret: sealSecret(tx, id, secret), createdBy: tx.actor.userId, now: tx.clock.now() },
    });
    return { ...(await readEndpoint(tx, id)), secret };
  });
}

/** `not_found`, `forbidden`, `invalid_request`. */
export function changeEndpoint(ctx: OrganizationContext, id: number, change: Change) {
  if (change.url !== undefined) checkUrl(ctx, change.url);
  const chosen = change.events === undefined ? undefined : chosenOf(change.events);
  return transaction(ctx, 'webhooks.change', async (tx) => {
    const row = await lockEndpoint(tx, id);
    const { url = row.url, description = row.description, status = row.status } = change;
    const events = chosen === undefined ? row.events : chosen;
    const isFresh = url !== row.url || (status === 'enabled' && row.status === 'paused');
    await tx.db.run(updateEndpointRow, { id, url, description, status, events, isFresh });
    tx.db.afterCommit(tellEndpointsChanged);
    await record(tx, webhookUpdated, { subject: { type: 'webhook', id }, data: { change } });
    return readEndpoint(tx, id);
  });
}

/** Removes it with its deliveries. `not_found`, `forbidden`. */
export function deleteEndpoint(ctx: OrganizationContext, id: number) {
  return transaction(ctx, 'webhooks.delete', async (tx) => {
    const { url } = await lockEndpoint(tx, id);
    await tx.db.run(deleteEndpointRow, { id });
    tx.db.afterCommit(tellEndpointsChanged);
    await record(tx, webhookDeleted, { subject: { type: 'webhook', id }, data: { url } });
    return {};
  });
}

/** Gives it another secret, shown this once; the one before signs as well for a day. `not_found`, `forbidden`. */
export function rotateSecret(ctx: OrganizationContext, id: number) {
  return transaction(ctx, 'webhooks.rotateSecret', async (tx) => {
    await lockEndpoint(tx, id);
    const secret = newSecret();
    const until = new Date(tx.clock.now().getTime() + overlapMs);
    await tx.db.run(setSecret, { id, secret: sealSecret(tx, id, secret), until });
    tx.db.afterCommit(tellEndpointsChanged);
    await record(tx, webhookSecretRotated, { subject: { type: 'webhook', id } });
    return { secret, previous_until: until };
  });
}

function chosenOf(events: readonly string[] | null): string[] | null {
  if (events === null) return null;
  const known = toldEvents().map(({ name }) => name);
  const strange = events.filter((name) => !known.includes(name));
  if (strange.length === 0) return [...new Set(events)].sort();
  const message = `has no event ${strange[0]}; there are ${known.join(', ')}`;
  throw fail('invalid_request', { details: [{ field: 'events', message }] });
}

function viewEndpoint({ organization_id: _, ...row }: EndpointRow) {
  return row;
}
