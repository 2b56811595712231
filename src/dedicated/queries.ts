import { assignmentOfReturn, findRentedServer, isLeftUnwipedBy, type RentedServer } from '../fleet/index.ts';
import { type Context, fail, type OrganizationContext, requireOwn, statement } from '../platform/index.ts';
import { dedicatedOptions } from '../services/index.ts';
import { type ActionRow, initiatorName, initiatorOwner } from '../vps/index.ts';
import { type Wanted, wordsOfLeft } from './left/left.ts';
import type { Facts } from './states.ts';

interface ServiceRow {
  service_id: number;
  organization_id: number;
  status: string;
  domain: string | null;
  options: Record<string, unknown>;
  on_server: boolean;
  os: string | null;
  hostname: string | null;
  problem: string | null;
  left_wanted: Wanted | null;
  move_stopped: boolean;
  created_at: Date;
}

/** A service on a server, with what is under way. */
export interface Dedicated {
  serviceId: number;
  organizationId: number;
  status: string;
  createdAt: Date;
  hostname: string;
  /** Slug of what was installed last. */
  os: string;
  /** Why what is on its disks does not start, for its customer; null: nothing is known to be wrong. */
  problem: string | null;
  options: Record<string, unknown>;
  server: RentedServer | null;
  /** It has ended, its server is not its any more, and not every disk of that was shown to be wiped. */
  isLeftUnwiped: boolean;
  action: ActionRow | null;
  /** Its way back from another server waits for something, be its action over or not: nobody switches it meanwhile. */
  isMoveStopped: boolean;
}

const byId = statement<ServiceRow, { id: number }>(
  'dedicated.byId',
  `select s.id as service_id, s.organization_id, s.status, s.domain, s.options, s.on_server, y.os, y.hostname, y.problem, y.left_wanted, s.created_at,
     exists (select from dedicated_moves m where m.service_id = s.id and m.stopped_at is not null) as move_stopped
   from services s left join dedicated_systems y on y.service_id = s.id where s.id = :id`,
);
const lockOwn = statement<{ id: number }, { id: number; organizationId: number }>(
  'dedicated.lockOwnService',
  'select id from services where id = :id and organization_id = :organizationId for update',
);

/** Columns of an action, as the wire shows it. */
export const actionColumns = `id, service_id, command, status, progress, note, initiator_type, initiator_id,
  ${initiatorName('initiator_type', 'initiator_id')} as initiator_name,
  ${initiatorOwner('initiator_type', 'initiator_id')} as initiator_owner, host(initiator_ip) as initiator_ip, error_code, error_message, created_at, started_at, finished_at`;

const underWay = statement<ActionRow, { serviceId: number }>(
  'dedicated.underWay',
  `select ${actionColumns} from dedicated_actions where service_id = :serviceId and status in ('queued', 'running')`,
);

/** The same of an organization's, without a caller; null: it has no such service on a server. */
export async function findDedicated(
  ctx: Context,
  organizationId: number,
  id: number,
): Promise<Dedicated | null> {
  const row = await ctx.db.maybe(byId, { id });
  return row?.organization_id === organizationId && row.on_server ? whole(ctx, row) : null;
}

/** Nobody changes a service of the caller's until the transaction ends; whether it is theirs. */
export async function lockOwnDedicated(ctx: OrganizationContext, id: number): Promise<boolean> {
  const { organizationId } = ctx;
  return (await ctx.db.maybe(lockOwn, { id, organizationId })) !== null;
}

/**
 * Finds a service on a server of the caller's organization. `not_found`, `forbidden` when it is another's, `not_on_server` when it is
 * something else, also what staff delivers by hand. With `lock`, changes to it wait for this transaction.
 */
export async function requireDedicated(
  ctx: OrganizationContext,
  id: number,
  { lock }: { lock: boolean } = { lock: false },
): Promise<Dedicated> {
  // First the lock, then the look: a statement that waited for a lock still sees what was there before.
  if (lock) await lockOwnDedicated(ctx, id);
  const row = await requireOwn(ctx, byId, { id });
  if (!row.on_server) throw fail('not_on_server');
  return whole(ctx, row);
}

async function whole(ctx: Context, row: ServiceRow): Promise<Dedicated> {
  const { service_id: serviceId } = row;
  const server = await findRentedServer(ctx, serviceId);
  return {
    ...{ serviceId, organizationId: row.organization_id, status: row.status, createdAt: row.created_at },
    ...{
      hostname: row.hostname ?? hostnameOf(serviceId, row.domain),
      problem:
        row.problem ??
        (row.left_wanted !== null && row.status === 'active' ? wordsOfLeft(row.left_wanted) : null),
      options: row.options,
    },
    os: row.os ?? dedicatedOptions.read(row.options).os,
    server,
    isLeftUnwiped: row.status === 'terminated' && server === null && (await isLeftUnwiped(ctx, serviceId)),
    action: await findUnderWay(ctx, serviceId),
    isMoveStopped: row.move_stopped,
  };
}

async function isLeftUnwiped(ctx: Context, serviceId: number): Promise<boolean> {
  const assignment = await assignmentOfReturn(ctx, serviceId);
  if (assignment !== null && assignment.state !== 'done') return true;
  return isLeftUnwipedBy(ctx, serviceId);
}

/** The action that a server is busy with; null: none. */
export function findUnderWay(ctx: Context, serviceId: number): Promise<ActionRow | null> {
  return ctx.db.maybe(underWay, { serviceId });
}

/** What a server is called until its customer says otherwise. */
export function hostnameOf(serviceId: number, domain: string | null): string {
  return domain ?? `server-${serviceId}`;
}

export function factsOf({ status, server, action, problem, isLeftUnwiped, isMoveStopped }: Dedicated): Facts {
  const lockedBy = action?.command ?? (isMoveStopped ? 'move' : null);
  return { serviceStatus: status, server, lockedBy, problem, isLeftUnwiped };
}
