import { record } from '../../events/index.ts';
import {
  type AnotherServer,
  closeAllOf,
  holdForMove,
  installedOn,
  listAddresses,
  listAnotherServers,
  locationOfAddresses,
  portMbpsOf,
  requireOrderedImage,
  requireStaffServer,
  serverName,
  serverOfService,
  serverSystemOf,
} from '../../fleet/index.ts';
import {
  AppError,
  type Context,
  fail,
  isJobUnfinishedAbout,
  type NamedJob,
  type StaffContext,
  settleFailedJobAbout,
  type TxContext,
} from '../../platform/index.ts';
import { choiceOf, dedicatedOptions, requireOrder } from '../../services/index.ts';
import { generatePassword, viewAction } from '../../vps/index.ts';
import { unshownPassword } from '../credentials/keep.ts';
import { moveAsked } from '../events.ts';
import { type Dedicated, factsOf, findDedicated } from '../queries.ts';
import { soldSpeed } from '../soldSpeed.ts';
import { reasonAgainstMove } from '../states.ts';
import { type CustomerJob, requestWork } from '../work.ts';
import { beginMove, findMoveOf } from './rows.ts';

/** `serverId` is the one that the service leaves. */
export interface MovePayload extends CustomerJob {
  toServerId: number;
  moveId: number;
  /** Staff has pulled its power: nobody asks its BMC. */
  isUnplugged: boolean;
}

export const moveJob: NamedJob<MovePayload> = { name: 'dedicated.move' };

export interface MoveBody {
  /** Default: another one in stock that is what was ordered, of the same profile where there is one. */
  to_server_id?: number | undefined;
  /** For staff. */
  reason: string;
  /** What the server is called that the service leaves, typed by whoever means it. */
  confirm: string;
  unplugged?: boolean | undefined;
}

/**
 * Gives the service of a server another one, with its addresses, their names, its system, hostname and keys; what is on its disks does not go along. The server before is
 * wiped once the other one is its customer's; until then it goes on as it is. `not_found`, `conflict` where no service has it, `invalid_request`, `locked`,
 * `action_not_allowed`, `insufficient_stock`.
 */
export async function moveServer(ctx: StaffContext, id: number, body: MoveBody) {
  const { service_id: serviceId, name } = await requireStaffServer(ctx, id);
  if (serviceId === null) throw fail('conflict', { message: `${name} has no service that could leave it` });
  if (body.confirm.trim() !== name)
    throw fail('invalid_request', {
      details: [
        {
          field: 'confirm',
          message: `must be the name of the server, ${name}: what is on its disks does not go along`,
        },
      ],
    });
  const { organizationId } = await requireOrder(ctx, serviceId);
  const as = within(ctx, organizationId);
  const action = await requestWork(as, serviceId, 'move', moveJob, async (tx, dedicated, server) => {
    if (server.id !== id) throw fail('conflict', { message: `${name} has another service by now` });
    // What failed before was undone, and what stands still goes on when staff retries it.
    await settleFailedJobAbout(tx, moveJob, { serviceId });
    if (await isJobUnfinishedAbout(tx, moveJob, { serviceId }))
      throw fail('locked', {
        message: `The job of a move of this service before has not come to its end: retry it, or dismiss it first`,
      });
    if ((await listAddresses(tx, serviceId)).length === 0)
      throw fail('action_not_allowed', {
        message: 'The service has no address at which a system could be reached',
      });
    await requireSystem(tx, dedicated.os);
    if (server.isOutOfOrder) await closeAllOf(tx, id); // its rescue system
    const to = await holdOne(tx, await wantedOf(tx, dedicated, body.to_server_id ?? null), body);
    const password = await passwordFor(tx, serviceId, id);
    const { reason, unplugged = false } = body;
    const moveId = await beginMove(tx, {
      ...{ serviceId, organizationId, fromId: id, toId: to.id, reason, unplugged, password },
    });
    await record(tx, moveAsked, {
      ...{ subject: { type: 'server', id }, organizationId: null },
      data: { name, server: to.name, service_id: serviceId, reason },
    });
    return { toServerId: to.id, moveId, isUnplugged: unplugged };
  });
  return { action: viewAction(as, action) };
}

/** Staff, where a customer's things are read and written. */
function within(ctx: StaffContext, organizationId: number) {
  return { ...ctx, organizationId, permissions: new Set<string>() };
}

/** What becomes of a move of a server's service, and where that could go, for staff. */
export async function readServerMove(ctx: StaffContext, id: number) {
  const { service_id: has, move_service_id: moves, name } = await requireStaffServer(ctx, id);
  const serviceId = has ?? moves;
  const last = await findMoveOf(ctx, id, serviceId);
  const dedicated = has === null ? null : await dedicatedOf(ctx, has);
  const against =
    dedicated === null ? `${name} has no service that could leave it` : await againstMove(ctx, dedicated);
  const wanted = dedicated === null ? null : await wantedOf(ctx, dedicated, null);
  const action =
    dedicated?.action?.command === 'move'
      ? viewAction(within(ctx, dedicated.organizationId), dedicated.action)
      : null;
  return {
    move: {
      ...{ server_id: id, service_id: serviceId, hostname: dedicated?.hostname ?? null },
      ...{ possible: against === null, reason: against, action },
      servers: wanted === null ? [] : await listAnotherServers(ctx, wanted),
      last: last && {
        ...{ from_server_id: last.from_server_id, from: await serverName(ctx, last.from_server_id) },
        ...{ to_server_id: last.to_server_id, to: await serverName(ctx, last.to_server_id) },
        ...{ reason: last.reason, unplugged: last.unplugged },
        ...{ asked_at: last.asked_at, ended_at: last.ended_at, moved: last.moved },
        problem: last.problem,
      },
    },
  };
}

async function dedicatedOf(ctx: Context, serviceId: number): Promise<Dedicated | null> {
  return findDedicated(ctx, (await requireOrder(ctx, serviceId)).organizationId, serviceId);
}

async function againstMove(ctx: Context, dedicated: Dedicated): Promise<string | null> {
  const refusal = reasonAgainstMove(factsOf(dedicated));
  if (refusal !== null) return refusal.message;
  return serverSystemOf(await requireOrderedImage(ctx, dedicated.os)) === null
    ? noSystem(dedicated.os)
    : null;
}

async function requireSystem(ctx: Context, os: string): Promise<void> {
  if (serverSystemOf(await requireOrderedImage(ctx, os)) === null)
    throw fail('action_not_allowed', { message: noSystem(os) });
}

function noSystem(os: string): string {
  return `${os} is no system for servers any more, so it cannot be installed on another one`;
}

/** What the other server has to be: what was ordered, where the addresses are. */
async function wantedOf(
  ctx: Context,
  { serviceId }: Dedicated,
  serverId: number | null,
): Promise<AnotherServer> {
  const server = await serverOfService(ctx, serviceId);
  const { productId, options } = await requireOrder(ctx, serviceId);
  const { memoryGb, storageGb, portMbps, location } = choiceOf({
    productId,
    options: dedicatedOptions.read(options),
  });
  const where = (await locationOfAddresses(ctx, serviceId)) ?? server?.location ?? location;
  if (where === null)
    throw fail('action_not_allowed', { message: 'Nobody knows where the addresses of the service are' });
  const profileId = server?.profileId ?? null;
  const sold = { memoryGb, storageGb, portMbps: soldSpeed({ portMbps }, server) };
  return { serviceId, productId, ...sold, location: where, profileId, serverId };
}

async function holdOne(tx: TxContext, wanted: AnotherServer, { to_server_id: said }: MoveBody) {
  try {
    return await holdForMove(tx, wanted);
  } catch (error) {
    const isStock = error instanceof AppError && error.code === 'insufficient_stock';
    if (!isStock || said === undefined) throw error;
    const mbps = await portMbpsOf(tx, said);
    const isSlower = mbps !== null && wanted.portMbps !== null && mbps < wanted.portMbps;
    const why = isSlower
      ? `: the port that its addresses would go to has ${mbps} Mbit/s, and ${wanted.portMbps} were sold`
      : '';
    const message = `must be a server in stock at ${wanted.location} that is what was ordered${why}`;
    throw fail('invalid_request', { details: [{ field: 'to_server_id', message }] });
  }
}

/** What nobody has seen yet stays; what somebody chose or has seen is known to nobody here, so another one is made. None where nobody was let in by password. */
async function passwordFor(tx: TxContext, serviceId: number, serverId: number): Promise<string | null> {
  const { keys, hasPassword } = await installedOn(tx, serverId);
  if (hasPassword === false && keys !== null && keys.length > 0) return null;
  return (await unshownPassword(tx, serviceId)) ?? generatePassword();
}
