import type { Inventory } from '../../drivers/installer/index.ts';
import { record } from '../../events/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import {
  type Context,
  enqueue,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { machineArrived } from '../events.ts';
import { viewHardware } from '../servers/hardware.ts';
import { findingPorts, type Plugged } from './findPorts.ts';
import { type ArrivalState, actionsOf } from './states.ts';

export interface ArrivalRow {
  id: number;
  start_id: number | null;
  state: ArrivalState;
  mac: string;
  serial: string;
  inventory: Inventory;
  plugged: Plugged[];
  server_id: number | null;
  server: string | null;
  bmc_inside: 'wanted' | 'set' | null;
  problem: string | null;
  /** Names of what says that it has the same MAC, or the same serial number: machines that are here, and servers. */
  alike_by_mac: string[];
  alike_by_serial: string[];
  arrived_at: Date;
  seen_at: Date;
  decided_at: Date | null;
}

/** Whoever asked so lately is there; the installer asks every two seconds, which is noted every ten. */
export const thereForMs = 45_000;
const noteEveryMs = 10_000;
/** That wait at once: more is somebody who makes up machines. */
const mostWaiting = 500;
/** So long is kept who went away before staff decided on it, and who was rejected. */
const undecidedMs = 24 * 3_600_000;
const rejectedMs = 7 * 24 * 3_600_000;

// Those in the list that are there when it is.
const others = `o.id <> t.id and o.state in ('waiting', 'accepted') and t.state in ('waiting', 'accepted')
      and o.seen_at > t.seen_at - interval '${thereForMs} milliseconds'`;
const selectArrival = `
  select t.id, t.start_id, t.state, t.mac::text as mac, t.serial, t.inventory, t.plugged, t.server_id, v.name as server, t.bmc_inside, t.problem,
    t.arrived_at, t.seen_at, t.decided_at,
    array(select 'machine ' || o.id from server_arrivals o where o.mac = t.mac and ${others}) as alike_by_mac,
    array(select 'machine ' || o.id from server_arrivals o where o.serial = t.serial and t.serial <> '' and ${others}
      union all
      select s.name from servers s where s.serial = t.serial and t.state = 'waiting' and s.state <> 'waiting') as alike_by_serial
  from server_arrivals t left join servers v on v.id = t.server_id`;
const arrivalById = statement<ArrivalRow, { id: number }>(
  'fleet.arrival',
  `${selectArrival} where t.id = :id`,
);
const byStart = statement<{ id: number }, { startId: number }>(
  'fleet.arrivalOfStart',
  'select id from server_arrivals where start_id = :startId',
);
const lockArrivalRow = statement<never, { id: number }>(
  'fleet.lockArrival',
  'select id from server_arrivals where id = :id for update',
);
// The same machine, which has started anew: of one that is still there nobody else takes the place.
const takePlace = statement<
  { server_id: number | null },
  { mac: string; uuid: string; serial: string; goneSince: Date }
>(
  'fleet.takePlaceOfArrival',
  `delete from server_arrivals where mac = :mac::macaddr and state = 'waiting' and seen_at <= :goneSince and serial = :serial
     and inventory -> 'system' ->> 'uuid' = :uuid returning server_id`,
);
// The same, where it was being enrolled when it started anew, and that came to nothing: it is the newest of its rows, which is told as which server staff accepted it,
// and why that is none yet.
const isSame = `n.id > t.id and n.mac = t.mac and n.serial = t.serial and n.inventory -> 'system' ->> 'uuid' = t.inventory -> 'system' ->> 'uuid'`;
const forgetReplaced = statement<never, { goneSince: Date; startId: number | null }>(
  'fleet.forgetReplacedArrivals',
  `with replaced as (
     delete from server_arrivals t where t.state = 'waiting' and t.seen_at <= :goneSince
       and exists (select 1 from server_arrivals n where ${isSame} and (:startId::bigint is null or n.start_id = :startId::bigint))
     returning *)
   update server_arrivals n set server_id = coalesce(t.server_id, n.server_id), problem = coalesce(n.problem, t.problem)
   from (select distinct on (mac, serial, inventory -> 'system' ->> 'uuid') * from replaced where decided_at is not null
     order by mac, serial, inventory -> 'system' ->> 'uuid', id desc) t
   where ${isSame} and n.state = 'waiting' and n.decided_at is null`,
);
const countWaiting = statement<{ machines: number }>(
  'fleet.countWaitingArrivals',
  `select count(*)::int as machines from server_arrivals where state = 'waiting'`,
);
// The longest silent first; whom staff decides on right now is locked, and stays.
const giveWay = statement<never, { goneSince: Date; most: number }>(
  'fleet.arrivalsGiveWay',
  `delete from server_arrivals where id in (select id from server_arrivals where state = 'waiting' and decided_at is null
     and seen_at <= :goneSince order by seen_at, id limit :most for update skip locked)`,
);
// A rejection counts until enrolment is opened anew, however long it is open.
const forget = statement<never, { now: Date; undecidedSince: Date; rejectedSince: Date }>(
  'fleet.forgetArrivals',
  `delete from server_arrivals t where (t.state = 'waiting' and t.decided_at is null and t.seen_at <= :undecidedSince)
     or (t.state = 'rejected' and t.decided_at <= :rejectedSince
       and not exists (select 1 from server_enrolment e where e.open_until > :now and e.opened_at <= t.decided_at))`,
);
// A server that was written down and waits, by a port of its own.
const waitingServer = statement<{ id: number }, { macs: string[]; serial: string }>(
  'fleet.waitingServerOf',
  `select s.id from servers s where s.state = 'waiting' and (s.serial = :serial or exists (select 1 from server_ports p
     where p.server_id = s.id and p.mac = any(:macs::macaddr[]))) order by s.id limit 1`,
);
const insert = statement<
  { id: number },
  { startId: number; mac: string; serial: string; inventory: string; serverId: number | null; now: Date }
>(
  'fleet.insertArrival',
  `insert into server_arrivals (start_id, state, mac, serial, inventory, server_id, arrived_at, seen_at)
   values (:startId, 'waiting', :mac::macaddr, :serial, :inventory::jsonb, :serverId::bigint, :now, :now) returning id`,
);
const note = statement<never, { startId: number; now: Date; before: Date }>(
  'fleet.noteArrivalSeen',
  'update server_arrivals set seen_at = :now where start_id = :startId and seen_at <= :before',
);

const list = pagedList<ArrivalRow>({
  name: 'fleet.arrivals',
  from: 'server_arrivals t',
  select: selectArrival,
  filters: { state: 't.state = :state' },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: { id: null },
  order: '-id',
});

export async function listArrivals(ctx: Context, query: ListRequest & { state?: ArrivalState | undefined }) {
  const { rows, at } = await list(ctx, query, { state: query.state });
  return listData(
    'arrivals',
    rows.map((row) => viewArrival(ctx, row)),
    at,
  );
}

export async function readArrival(ctx: Context, id: number) {
  return { arrival: viewArrival(ctx, await requireRow(ctx, arrivalById, { id })) };
}

/** The row, locked until the transaction ends; `not_found`. */
export async function requireArrival(tx: TxContext, id: number): Promise<ArrivalRow> {
  await tx.db.many(lockArrivalRow, { id });
  return requireRow(tx, arrivalById, { id });
}

/**
 * A machine of a start has said what it has: it is in the waiting list from now on. The same again changes nothing (`known`). Where the list is
 * full, those that are silent give way; when all are there, nobody new is listed (`full`).
 */
export async function arrive(
  ctx: Context,
  startId: number,
  mac: string,
  inventory: Inventory,
): Promise<'listed' | 'known' | 'full'> {
  return transaction(ctx, 'fleet.arrive', async (tx) => {
    if ((await tx.db.maybe(byStart, { startId })) !== null) return 'known';
    const now = tx.clock.now();
    const { uuid } = inventory.system;
    const serial = inventory.system.serial.trim().slice(0, 64);
    const goneSince = new Date(now.getTime() - thereForMs);
    const before = await tx.db.many(takePlace, { mac, uuid, serial, goneSince });
    // As which server staff accepted it, be it by a serial number that staff gave it.
    const accepted = before.find((it) => it.server_id !== null)?.server_id ?? null;
    if (!(await makeRoom(tx, goneSince))) return 'full';
    const macs = inventory.ports.map((port) => port.mac);
    const server = await tx.db.maybe(waitingServer, { macs, serial });
    const { id } = await tx.db.one(insert, {
      ...{ startId, mac, serial, now, serverId: accepted ?? server?.id ?? null },
      inventory: JSON.stringify(inventory),
    });
    await record(tx, machineArrived, { ...about(id), data: { mac, serial } });
    await enqueue(tx, findingPorts, { arrivalId: id }, { organizationId: null });
    return 'listed';
  });
}

/** Whether there is room for one more in the waiting list. */
async function makeRoom(tx: TxContext, goneSince: Date): Promise<boolean> {
  const over = (await tx.db.one(countWaiting)).machines - mostWaiting + 1;
  return over <= 0 || (await tx.db.run(giveWay, { goneSince, most: over })) >= over;
}

/** Forgets whom staff did not decide on and who went away, who was rejected long ago, and what machines were before they started anew. */
export async function forgetArrivals(tx: TxContext): Promise<void> {
  const now = tx.clock.now();
  const since = (ms: number) => new Date(now.getTime() - ms);
  await tx.db.run(forget, { now, undecidedSince: since(undecidedMs), rejectedSince: since(rejectedMs) });
  await leaveToNewest(tx);
}

/** One machine is one row: those of machines that have started anew since are gone once they are silent. `startId`: of the machine alone that is there with it. */
export async function leaveToNewest(ctx: Context, startId: number | null = null): Promise<void> {
  const goneSince = new Date(ctx.clock.now().getTime() - thereForMs);
  await ctx.db.run(forgetReplaced, { goneSince, startId });
}

/** The machine of a start is there. */
export async function noteSeen(ctx: Context, startId: number): Promise<void> {
  const now = ctx.clock.now();
  if ((await ctx.db.run(note, { startId, now, before: new Date(now.getTime() - noteEveryMs) })) > 0)
    await leaveToNewest(ctx, startId);
}

export function isThere({ clock }: Context, { seen_at: seen }: ArrivalRow): boolean {
  return clock.now().getTime() - seen.getTime() < thereForMs;
}

export function about(id: number) {
  return { subject: { type: 'arrival', id }, organizationId: null };
}

/** As staff sees it. */
function viewArrival(ctx: Context, row: ArrivalRow) {
  const { inventory, plugged } = row;
  const isHere = row.state !== 'rejected' && row.state !== 'enrolled' && isThere(ctx, row);
  return {
    ...{ id: row.id, state: row.state, mac: row.mac, serial: row.serial, is_there: isHere },
    ...{
      alike: [...new Set([...row.alike_by_mac, ...row.alike_by_serial])],
      problem: row.problem,
      server_id: row.server_id,
      server: row.server,
    },
    hardware: viewHardware(inventory),
    plugged,
    actions: actionsOf({ ...row, is_there: isHere }),
    ...{ arrived_at: row.arrived_at, seen_at: row.seen_at, decided_at: row.decided_at },
  };
}
