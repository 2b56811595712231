import { record } from '../events/index.ts';
import { type ListRequest, listData, pagedList } from '../platform/http/index.ts';
import {
  type Context,
  fail,
  newId,
  type OrganizationContext,
  requireRow,
  statement,
  type TxContext,
} from '../platform/index.ts';
import { type ActionRow, initiatorOf, viewAction } from '../vps/index.ts';
import { actionFailed, actionStarted, actionSucceeded } from './events.ts';
import { actionColumns, findUnderWay, requireDedicated } from './queries.ts';

interface Ended {
  id: number;
  organization_id: number;
  service_id: number;
  command: string;
}

const insert = statement<
  ActionRow,
  {
    id: number;
    organizationId: number;
    serviceId: number;
    serverId: number;
    command: string;
    initiatorType: 'user' | 'api_key' | 'staff' | 'system';
    initiatorId: number | null;
    initiatorIp: string | null;
    now: Date;
  }
>(
  'dedicated.insertAction',
  `insert into dedicated_actions (id, organization_id, service_id, server_id, command, status, initiator_type, initiator_id, initiator_ip,
     created_at, started_at)
   values (:id, :organizationId, :serviceId, :serverId, :command, 'running', :initiatorType, :initiatorId, :initiatorIp, :now, :now)
   on conflict (service_id) where status in ('queued', 'running') do nothing returning ${actionColumns}`,
);
const end = statement<
  Ended,
  {
    serverId: number;
    command: string;
    status: 'success' | 'error';
    errorCode: string | null;
    errorMessage: string | null;
    now: Date;
  }
>(
  'dedicated.endAction',
  `update dedicated_actions set status = :status, progress = case when :status = 'success' then 100 else progress end, finished_at = :now,
     error_code = :errorCode, error_message = :errorMessage
   where server_id = :serverId and command = :command and status in ('queued', 'running')
   returning id, organization_id, service_id, command`,
);
const byId = statement<ActionRow, { actionId: number; serviceId: number; organizationId: number }>(
  'dedicated.actionById',
  `select ${actionColumns} from dedicated_actions
   where id = :actionId and service_id = :serviceId and organization_id = :organizationId`,
);
const history = pagedList<ActionRow>({
  name: 'dedicated.history',
  from: 'dedicated_actions t',
  select: `select ${actionColumns} from dedicated_actions t`,
  // What another organization did, before the service was moved, is no matter of this one.
  within: 't.service_id = :serviceId and t.organization_id = :organizationId',
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: {
      by: 't.created_at',
      type: 'timestamptz',
      of: (row) => new Date(row.created_at).toISOString(),
    },
  },
  order: '-created_at',
});

const endById = statement<
  Ended,
  {
    id: number;
    status: 'success' | 'error';
    errorCode: string | null;
    errorMessage: string | null;
    now: Date;
  }
>(
  'dedicated.endActionById',
  `update dedicated_actions set status = :status, progress = case when :status = 'success' then 100 else progress end, finished_at = :now,
     note = null, error_code = :errorCode, error_message = :errorMessage
   where id = :id and status in ('queued', 'running')
   returning id, organization_id, service_id, command`,
);
const openById = statement<{ id: number }, { id: number }>(
  'dedicated.openActionById',
  `select id from dedicated_actions where id = :id and status in ('queued', 'running')`,
);
const setProgress = statement<never, { id: number; percent: number; note: string | null }>(
  'dedicated.setActionProgress',
  `update dedicated_actions set progress = greatest(progress, :percent::integer), note = :note::text
   where id = :id and status in ('queued', 'running') and (progress < :percent::integer or note is distinct from :note::text)`,
);

/** Opens an action on a server, and with it the lock of its service: until it ends every other change is `locked`. */
export async function openAction(
  tx: TxContext & OrganizationContext,
  { serviceId, serverId, command }: { serviceId: number; serverId: number; command: string },
): Promise<ActionRow> {
  const { organizationId } = tx;
  const now = tx.clock.now();
  const asked = { id: newId(), organizationId, serviceId, serverId, command, ...initiatorOf(tx), now };
  const row = await tx.db.maybe(insert, asked);
  if (row === null) throw locked((await findUnderWay(tx, serviceId))?.command ?? 'another action');
  const subject = { type: 'service', id: serviceId };
  await record(tx, actionStarted, { subject, data: { action_id: row.id, command } });
  return row;
}

/** Ends what is under way on a server by that command; what staff did there without an action is nobody's. */
export async function endAction(
  tx: TxContext,
  serverId: number,
  command: string,
  error: { code: string; message: string } | null,
): Promise<void> {
  const ended = await tx.db.maybe(end, {
    ...{ serverId, command, status: error === null ? 'success' : 'error', now: tx.clock.now() },
    ...{ errorCode: error?.code ?? null, errorMessage: error?.message ?? null },
  });
  if (ended !== null) await tell(tx, ended, error);
}

/** Whether an action goes on, so that its job may do something with the server. */
export async function isActionOpen(ctx: Context, id: number): Promise<boolean> {
  return (await ctx.db.maybe(openById, { id })) !== null;
}

/** How far an action has come, in percent and in words for its customer. Percents never go back. */
export async function writeProgress(
  ctx: Context,
  id: number,
  { percent, note }: { percent: number; note: string | null },
): Promise<void> {
  await ctx.db.run(setProgress, { id, percent, note });
}

/** Ends one action; whether it went on until now. */
export async function endActionById(
  tx: TxContext,
  id: number,
  error: { code: string; message: string } | null,
): Promise<boolean> {
  const ended = await tx.db.maybe(endById, {
    ...{ id, status: error === null ? ('success' as const) : ('error' as const), now: tx.clock.now() },
    ...{ errorCode: error?.code ?? null, errorMessage: error?.message ?? null },
  });
  if (ended !== null) await tell(tx, ended, error);
  return ended !== null;
}

async function tell(tx: TxContext, ended: Ended, error: { message: string } | null): Promise<void> {
  const { command } = ended;
  const about = { subject: { type: 'service', id: ended.service_id }, organizationId: ended.organization_id };
  const data = { action_id: ended.id, command };
  if (error === null) await record(tx, actionSucceeded, { ...about, data });
  else await record(tx, actionFailed, { ...about, data: { ...data, reason: error.message } });
}

function locked(command: string) {
  return fail('locked', {
    message: `The action ${command} is still running on this server; wait until it ends`,
    retryAfterS: 5,
  });
}

/** What was done to a server while its service was the caller's, newest first unless sorted. */
export async function listActions(ctx: OrganizationContext, id: number, query: ListRequest) {
  await requireDedicated(ctx, id);
  const { rows, at } = await history(ctx, query, { serviceId: id, organizationId: ctx.organizationId });
  return listData(
    'actions',
    rows.map((row) => viewAction(ctx, row)),
    at,
  );
}

/** One action, for polling. */
export async function readDedicatedAction(ctx: OrganizationContext, id: number, actionId: number) {
  await requireDedicated(ctx, id);
  const { organizationId } = ctx;
  const row = await requireRow(ctx, byId, { actionId, serviceId: id, organizationId });
  return { action: viewAction(ctx, row) };
}
