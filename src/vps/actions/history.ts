import { record } from '../../events/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import {
  type Context,
  fail,
  newId,
  type OrganizationContext,
  requireRow,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { actionFailed, actionStarted, actionSucceeded } from '../events.ts';
import { type ActionRow, initiatorName, initiatorOwner, requireVps } from '../queries.ts';
import { inSql, openStatuses } from '../states.ts';
import { giveTurnToStop } from './forcedStop.ts';
import { holdsLock } from './lock.ts';

const open = inSql(openStatuses);
const columns = `id, service_id, command, status, progress, note, initiator_type, initiator_id,
  ${initiatorName('initiator_type', 'initiator_id')} as initiator_name,
  ${initiatorOwner('initiator_type', 'initiator_id')} as initiator_owner, host(initiator_ip) as initiator_ip, error_code, error_message, created_at, started_at, finished_at`;

const insertAction = statement<
  ActionRow,
  {
    id: number;
    organizationId: number;
    serviceId: number;
    command: string;
    initiatorType: 'user' | 'api_key' | 'staff' | 'system';
    initiatorId: number | null;
    initiatorIp: string | null;
    waits: boolean;
    now: Date;
  }
>(
  'vps.insertAction',
  `insert into vps_actions (id, organization_id, service_id, command, status, initiator_type, initiator_id,
     initiator_ip, waits, created_at)
   values (:id, :organizationId, :serviceId, :command, 'queued', :initiatorType, :initiatorId, :initiatorIp,
     :waits, :now)
   on conflict (service_id) where status in ${open} and not waits do nothing returning ${columns}`,
);
const reopenAction = statement<
  never,
  { id: number; organizationId: number; serviceId: number; command: string; now: Date }
>(
  'vps.reopenAction',
  `insert into vps_actions (id, organization_id, service_id, command, status, initiator_type, created_at, started_at)
   values (:id, :organizationId, :serviceId, :command, 'running', 'system', :now, :now)
   on conflict (id) do update set status = 'running', waits = false, progress = 0, error_code = null,
     error_message = null, finished_at = null, started_at = coalesce(vps_actions.started_at, excluded.started_at)`,
);
const beginAction = statement<never, { id: number; now: Date }>(
  'vps.beginAction',
  `update vps_actions set status = 'running', started_at = coalesce(started_at, :now)
   where id = :id and status in ${open}`,
);
const openActionById = statement<{ id: number }, { id: number }>(
  'vps.openActionById',
  `select id from vps_actions where id = :id and status in ${open}`,
);
const laterAction = statement<{ id: number }, { id: number; serviceId: number }>(
  'vps.laterAction',
  `select a.id from vps_actions a join vps_actions own on own.id = :id
   where a.service_id = :serviceId and a.id <> own.id and coalesce(a.started_at, a.created_at) > own.created_at limit 1`,
);
const setProgress = statement<never, { id: number; percent: number }>(
  'vps.setProgress',
  `update vps_actions set progress = greatest(progress, :percent) where id = :id and status = 'running'`,
);
const setNote = statement<never, { id: number; note: string | null }>(
  'vps.setActionNote',
  `update vps_actions set note = :note where id = :id and status in ${open}`,
);
const endAction = statement<
  never,
  {
    id: number;
    status: 'error' | 'success';
    now: Date;
    errorCode: string | null;
    errorMessage: string | null;
  }
>(
  'vps.endAction',
  `update vps_actions set status = :status, progress = case when :status = 'success' then 100 else progress end,
     waits = false, finished_at = :now, error_code = :errorCode, error_message = :errorMessage
   where id = :id and status in ${open}`,
);
const actionById = statement<ActionRow, { actionId: number; serviceId: number; organizationId: number }>(
  'vps.actionById',
  `select ${columns} from vps_actions
   where id = :actionId and service_id = :serviceId and organization_id = :organizationId`,
);
const runningAction = statement<ActionRow, { serviceId: number }>(
  'vps.runningAction',
  `select ${columns} from vps_actions a where service_id = :serviceId and ${holdsLock('a')}`,
);
const history = pagedList<ActionRow>({
  name: 'vps.history',
  from: 'vps_actions t',
  select: `select ${columns} from vps_actions t`,
  // What another organization did, before the machine was moved, is no matter of this one.
  within: 't.service_id = :serviceId and t.organization_id = :organizationId',
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => toIso(row.created_at) ?? '' },
  },
  order: '-created_at',
});

/**
 * Opens an action on a machine, and with it the machine's lock: until it ends every other change is refused
 * with `locked`, naming this one.
 */
export async function openAction(
  ctx: TxContext & OrganizationContext,
  serviceId: number,
  command: string,
): Promise<ActionRow> {
  const asked = { ...askedBy(ctx), organizationId: ctx.organizationId, serviceId, command };
  const row = await ctx.db.maybe(insertAction, { ...asked, waits: false });
  if (row === null)
    throw locked((await ctx.db.maybe(runningAction, { serviceId }))?.command ?? 'another action');
  await record(ctx, actionStarted, {
    subject: { type: 'service', id: serviceId },
    data: { action_id: row.id, command },
  });
  return row;
}

/**
 * Puts an action into the history that will take the machine's lock when it is free: its job does, with
 * {@link openSystemAction}.
 */
export function queueAction(
  ctx: TxContext,
  action: { organizationId: number; serviceId: number; command: string },
): Promise<ActionRow> {
  return ctx.db.one(insertAction, { ...askedBy(ctx), ...action, waits: true });
}

function askedBy(ctx: Context) {
  return { id: newId(), ...initiatorOf(ctx), now: ctx.clock.now() };
}

/** Who asks for an action, as its row keeps it. */
export function initiatorOf({ actor }: Context) {
  const isKey = actor.type === 'api_key';
  const initiatorId = isKey ? actor.apiKeyId : (actor.staffId ?? actor.userId);
  const initiatorType = actor.staffId === undefined ? actor.type : ('staff' as const);
  return { initiatorType, initiatorId, initiatorIp: actor.ip };
}

export function locked(command: string) {
  return fail('locked', {
    message: `The action ${command} is still running on this machine; wait until it ends`,
    retryAfterS: 5,
  });
}

/** Opens the action of a job that nobody asked for by hand, or that has waited; again at every retry of the job. */
export async function openSystemAction(
  ctx: Context,
  action: { id: number; organizationId: number; serviceId: number; command: string },
): Promise<void> {
  await ctx.db.run(reopenAction, {
    id: action.id,
    organizationId: action.organizationId,
    serviceId: action.serviceId,
    command: action.command,
    now: ctx.clock.now(),
  });
}

/**
 * Marks an action begun. One that has ended let go of the machine's lock, and others may have been at work on the
 * machine since: retrying its job fails for good, and whoever wants it asks for it again.
 */
export async function startAction(ctx: Context, id: number): Promise<void> {
  if ((await ctx.db.run(beginAction, { id, now: ctx.clock.now() })) > 0) return;
  throw Object.assign(fail('conflict', { message: 'This action has ended; ask for it again' }), {
    permanent: true,
  });
}

/** Whether an action still holds the machine's lock, so that its job may change the machine. */
export async function isOpenAction(ctx: Context, id: number): Promise<boolean> {
  return (await ctx.db.maybe(openActionById, { id })) !== null;
}

/** Whether the machine is still as an action left it: the action is open, or none came after it. */
export async function isLatestAction(ctx: Context, serviceId: number, id: number): Promise<boolean> {
  return (await isOpenAction(ctx, id)) || (await ctx.db.maybe(laterAction, { id, serviceId })) === null;
}

export async function progressAction(ctx: Context, id: number, percent: number): Promise<void> {
  await ctx.db.run(setProgress, { id, percent });
}

/** Says in words for the customer what an action is doing, or what is left to do after it. */
export async function noteAction(ctx: Context, id: number, note: string | null): Promise<void> {
  await ctx.db.run(setNote, { id, note });
}

/** Ends an action, and with it the machine's lock, in the transaction that ends its job. One that ended stays so. */
export async function finishAction(
  ctx: TxContext,
  action: { id: number; organizationId: number; serviceId: number; command: string },
  error: { code: string; message: string } | null,
): Promise<void> {
  const status = error === null ? 'success' : 'error';
  const ended = await ctx.db.run(endAction, {
    id: action.id,
    status,
    now: ctx.clock.now(),
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? null,
  });
  if (ended === 0) return;
  const about = { subject: { type: 'service', id: action.serviceId }, organizationId: action.organizationId };
  const data = { action_id: action.id, command: action.command };
  if (error === null) await record(ctx, actionSucceeded, { ...about, data });
  else await record(ctx, actionFailed, { ...about, data: { ...data, reason: error.message } });
  await giveTurnToStop(ctx, action);
}

/** The machine's actions, newest first unless sorted. */
export async function listHistory(ctx: OrganizationContext, id: number, query: ListRequest) {
  await requireVps(ctx, id);
  const { rows, at } = await history(ctx, query, { serviceId: id, organizationId: ctx.organizationId });
  return listData(
    'actions',
    rows.map((row) => viewAction(ctx, row)),
    at,
  );
}

/** One action of the machine, for polling. */
export async function readAction(ctx: OrganizationContext, id: number, actionId: number) {
  await requireVps(ctx, id);
  const { organizationId } = ctx;
  const row = await requireRow(ctx, actionById, { actionId, serviceId: id, organizationId });
  return { action: viewAction(ctx, row) };
}

/**
 * Whether the caller may know what an initiator is called: the members are for those who may read them, and keys for those
 * who may read what was done with them. Everybody knows themselves, and a person their keys.
 */
function isNamed({ actor, permissions }: OrganizationContext, row: ActionRow): boolean {
  const { initiator_type: type, initiator_id: id, initiator_owner: owner } = row;
  const isPerson = actor.type === 'user';
  if (type === 'user') return permissions.has('members.read') || (isPerson && id === actor.userId);
  if (type !== 'api_key' || permissions.has('activity.read')) return true;
  return isPerson ? owner === actor.userId : id === actor.apiKeyId;
}

/** An action as the wire shows it to the caller (contract §4). */
export function viewAction(ctx: OrganizationContext, row: ActionRow) {
  return {
    id: row.id,
    command: row.command,
    status: row.status,
    progress: row.progress,
    note: row.note,
    created_at: toIso(row.created_at) ?? '',
    started_at: toIso(row.started_at),
    finished_at: toIso(row.finished_at),
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    initiator: {
      ...{ type: row.initiator_type, id: row.initiator_id },
      ...{ name: isNamed(ctx, row) ? row.initiator_name : null, ip: row.initiator_ip },
    },
  };
}

// An action inside another row's JSON has its moments as text.
function toIso(moment: Date | string | null): string | null {
  return moment === null ? null : new Date(moment).toISOString();
}
