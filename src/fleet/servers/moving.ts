import { record } from '../../events/index.ts';
import {
  type Context,
  fail,
  findHeldRestore,
  findLastRestore,
  requireRow,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { areDisksMeasured } from '../assignments/disksOf.ts';
import { isWritten } from '../assignments/installed.ts';
import { serverGivenBack, serverHeld, serverRented, serverReturning } from '../events.ts';
import {
  disksChanged,
  isAtLeastOfSpeed,
  lockStock,
  type ServerChoice,
  sendBack,
  setServerAside,
  storageOf,
} from './rent.ts';
import { about } from './staff.ts';
import type { ServerState } from './states.ts';
import { noteTenant } from './tenant.ts';

interface Row {
  id: number;
  name: string;
  state: ServerState;
  state_since: Date;
  move_service_id: number | null;
  service_id: number | null;
}

/** What a server has to be to be another one of a service's. */
export interface AnotherServer extends Omit<ServerChoice, 'location'> {
  serviceId: number;
  /** Where the addresses of the service are. */
  location: string;
  /** The profile that is taken first. */
  profileId: number | null;
  /** The one that staff says; null: whichever is in stock. */
  serverId: number | null;
}

/** One that is known to be slower than what was sold is nobody's, also where no profile says a speed any more. */
const isAsFast = '(:portMbps::int is null or s.port_mbps is null or s.port_mbps >= :portMbps::int)';
const columns = 's.id, s.name, s.state, s.state_since, s.move_service_id, s.service_id';
const choose = statement<{ id: number; name: string }, Omit<AnotherServer, 'serviceId'>>(
  'fleet.chooseAnotherServer',
  `select s.id, s.name from servers s join server_profiles f on f.id = s.profile_id join racks r on r.id = s.rack_id
   where f.product_id = :productId and s.state = 'ready' and r.location = :location
     and (:serverId::bigint is null or s.id = :serverId::bigint)
     and (:memoryGb::int is null or f.memory_gib = :memoryGb::int)
     and (:storageGb::int is null or ${storageOf} = :storageGb::int)
     and ${isAtLeastOfSpeed}
     and ${isAsFast}
   order by (s.profile_id = :profileId::bigint) is true desc, s.id limit 1`,
);
const hold = statement<
  { name: string },
  { id: number; serviceId: number; portMbps: number | null; now: Date }
>(
  'fleet.holdForMove',
  `update servers set state = 'held', reason = null, state_since = :now, move_service_id = :serviceId,
     sold_port_mbps = :portMbps::int
   where id = :id and state = 'ready' returning name`,
);
const lockBoth = statement<Row, { ids: number[] }>(
  'fleet.lockMovedServers',
  `select ${columns} from servers s where s.id = any(:ids::bigint[]) order by s.id for update`,
);
const lockOne = statement<Row, { id: number }>(
  'fleet.lockHeldForMove',
  `select ${columns} from servers s where s.id = :id for update`,
);
const write = statement<
  never,
  {
    id: number;
    state: ServerState;
    serviceId: number | null;
    moveServiceId: number | null;
    reason: string | null;
    now: Date;
  }
>(
  'fleet.writeMovedServer',
  `update servers set state = :state, service_id = :serviceId::bigint, move_service_id = :moveServiceId::bigint, reason = :reason::text,
     state_since = :now, customer_work = null, was_on = null where id = :id`,
);

/** Takes a server in stock out of it, for a service that has another one. `insufficient_stock` when none is what is wanted. */
export async function holdForMove(
  tx: TxContext,
  { serviceId, ...wanted }: AnotherServer,
): Promise<{ id: number; name: string }> {
  if ((await findHeldRestore(tx)) !== null) throw fail('insufficient_stock');
  await tx.db.one(lockStock, { productId: wanted.productId });
  for (;;) {
    const found = await tx.db.maybe(choose, wanted);
    if (found === null) throw fail('insufficient_stock');
    // Staff may have taken it out of stock at this moment.
    const { portMbps } = wanted;
    const held = await tx.db.maybe(hold, { id: found.id, serviceId, portMbps, now: tx.clock.now() });
    if (held === null) continue;
    const data = { name: held.name, service_id: serviceId };
    await record(tx, serverHeld, { ...about(found.id), data });
    return found;
  }
}

/**
 * A server that was held for a service to move to is in stock again; one that is not stays as it is. One that was held as of a backup is in quarantine instead, also once
 * the restore is released: the move may have come to its end since, and the only copy of what its customer has may be there.
 */
export async function letGoOfMove(tx: TxContext, serverId: number, serviceId: number): Promise<void> {
  const server = await tx.db.maybe(lockOne, { id: serverId });
  if (server?.state !== 'held' || server.move_service_id !== serviceId) return;
  const restore = await findLastRestore(tx);
  if (restore !== null && server.state_since <= restore.restored_at)
    return setServerAside(tx, serverId, mayBeTheirs(serviceId));
  // It was never started, and what was written there is its customer's all the same.
  if (await isWritten(tx, serverId)) return sendBack(tx, { id: serverId, name: server.name }, serviceId);
  const isMeasured = await areDisksMeasured(tx, serverId);
  await tx.db.run(write, {
    ...{ id: serverId, state: isMeasured ? 'ready' : 'waiting', serviceId: null, moveServiceId: null },
    ...{ reason: isMeasured ? null : disksChanged, now: tx.clock.now() },
  });
  const data = { name: server.name, service_id: serviceId };
  await record(tx, serverGivenBack, { ...about(serverId), data });
}

function mayBeTheirs(serviceId: number): string {
  return (
    `the service ${serviceId} was on its way to it as of the backup that was restored, and may have come there since, with all that its customer has: look what runs on it, ` +
    'and release it only when nobody needs that'
  );
}

const switching = statement<{ id: number }, { serverId: number }>(
  'fleet.isBeingSwitched',
  'select server_id as id from server_bmcs where server_id = :serverId and power_action is not null',
);

/** Whether its power is being switched because somebody has asked for that. */
export async function isBeingSwitched(ctx: Context, serverId: number): Promise<boolean> {
  return (await ctx.db.maybe(switching, { serverId })) !== null;
}

/** Whether a server is held for that service to move to. */
export async function isHeldForMove(ctx: Context, serverId: number, serviceId: number): Promise<boolean> {
  const server = await ctx.db.maybe(findOne, { id: serverId });
  return server?.state === 'held' && server.move_service_id === serviceId;
}

const findOne = statement<Row, { id: number }>(
  'fleet.heldForMove',
  `select ${columns} from servers s where s.id = :id`,
);

/** Whether a server is nobody's, and kept out of stock. */
export async function isAside(ctx: Context, serverId: number): Promise<boolean> {
  const server = await ctx.db.maybe(findOne, { id: serverId });
  return server?.state === 'quarantined' || server?.state === 'broken';
}

/** A server that a service has left, and that is on its way back; null: it is no longer. */
export async function findLeftServer(
  ctx: Context,
  serverId: number,
  serviceId: number,
): Promise<{ id: number; name: string; state: ServerState; stateSince: Date } | null> {
  const server = await ctx.db.maybe(findOne, { id: serverId });
  if (server?.state !== 'returning' || server.move_service_id !== serviceId) return null;
  return { id: server.id, name: server.name, state: server.state, stateSince: server.state_since };
}

/** Whether a service has that server or holds it, is to go there, or has left it, with the row locked until the transaction ends. */
export async function lockServerOf(tx: TxContext, serverId: number, serviceId: number): Promise<boolean> {
  const server = await tx.db.maybe(lockOne, { id: serverId });
  return server !== null && isOf(server, serviceId);
}

/** The same without a lock. */
export async function isServerOf(ctx: Context, serverId: number, serviceId: number): Promise<boolean> {
  const server = await ctx.db.maybe(findOne, { id: serverId });
  return server !== null && isOf(server, serviceId);
}

function isOf({ service_id: has, move_service_id: moves }: Row, serviceId: number): boolean {
  return has === serviceId || moves === serviceId;
}

/**
 * From now on the service has the server that was held for it, and the one that it had is on its way back. Whether that was so: nobody is moved whose server was
 * taken away meanwhile.
 */
export async function swapServers(
  tx: TxContext,
  serviceId: number,
  { fromId, toId }: { fromId: number; toId: number },
): Promise<boolean> {
  const rows = new Map((await tx.db.many(lockBoth, { ids: [fromId, toId] })).map((row) => [row.id, row]));
  const [from, to] = [rows.get(fromId), rows.get(toId)];
  if (from?.service_id !== serviceId || from.state !== 'rented') return false;
  if (to?.move_service_id !== serviceId || to.state !== 'held') return false;
  const now = tx.clock.now();
  const free = { serviceId: null, moveServiceId: null, reason: null, now };
  await tx.db.run(write, { ...free, id: fromId, state: 'returning', moveServiceId: serviceId });
  await tx.db.run(write, { ...free, id: toId, state: 'rented', serviceId });
  await noteTenant(tx, toId, serviceId);
  const told = ({ name }: Row) => ({ name, service_id: serviceId });
  await record(tx, serverReturning, { ...about(fromId), data: { ...told(from), is_left: false } });
  await record(tx, serverRented, { ...about(toId), data: told(to) });
  return true;
}

/** What staff calls a server. */
export async function serverName(ctx: Context, serverId: number): Promise<string> {
  return (await ctx.db.one(findOne, { id: serverId })).name;
}

const staffServer = statement<
  { name: string; service_id: number | null; move_service_id: number | null },
  { id: number }
>('fleet.staffServer', 'select name, service_id, move_service_id from servers where id = :id');
const others = statement<
  { id: number; name: string; profile: string; rack: string },
  Omit<AnotherServer, 'serviceId' | 'serverId'>
>(
  'fleet.otherServers',
  `select s.id, s.name, f.name as profile, r.name as rack from servers s join server_profiles f on f.id = s.profile_id join racks r on r.id = s.rack_id
   where f.product_id = :productId and s.state = 'ready' and r.location = :location
     and (:memoryGb::int is null or f.memory_gib = :memoryGb::int)
     and (:storageGb::int is null or ${storageOf} = :storageGb::int)
     and ${isAtLeastOfSpeed} and ${isAsFast}
   order by (s.profile_id = :profileId::bigint) is true desc, s.id limit 100`,
);
const placeOfAddresses = statement<{ location: string }, { serviceId: number }>(
  'fleet.placeOfAddresses',
  `select p.location from addresses a join address_pools p on p.id = a.pool_id where a.service_id = :serviceId order by a.ordinal limit 1`,
);

/** Of a server what it is called and which service has it, or moves to or from it; `not_found`. */
export function requireStaffServer(ctx: Context, id: number) {
  return requireRow(ctx, staffServer, { id });
}

/** The servers to which a service could go, a hundred at most, the one that is taken where nobody says which first. */
export async function listAnotherServers(
  ctx: Context,
  { serviceId: _, serverId: __, ...wanted }: AnotherServer,
) {
  return (await findHeldRestore(ctx)) === null ? ctx.db.many(others, wanted) : [];
}

/** Where the addresses of a service are; null: it has none. */
export async function locationOfAddresses(ctx: Context, serviceId: number): Promise<string | null> {
  return (await ctx.db.maybe(placeOfAddresses, { serviceId }))?.location ?? null;
}
