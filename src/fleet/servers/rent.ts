import type { Inventory } from '../../drivers/installer/index.ts';
import { record } from '../../events/index.ts';
import { type Context, fail, findHeldRestore, statement, type TxContext } from '../../platform/index.ts';
import { areDisksMeasured } from '../assignments/disksOf.ts';
import { isWritten } from '../assignments/installed.ts';
import { type Differing, findDifferences, keepObserved } from '../baselines/keep.ts';
import { observedOf, type SeenBmc } from '../baselines/observe.ts';
import {
  serverGivenBack,
  serverHeld,
  serverQuarantined,
  serverRented,
  serverReturning,
  serverWiped,
} from '../events.ts';
import type { Rules } from '../profiles/fit.ts';
import { about } from './staff.ts';
import { keepStarted, portOfProfile, profileOf } from './startPort.ts';
import type { ServerState } from './states.ts';
import { forgetTenant, noteTenant } from './tenant.ts';

interface SetAside {
  /** Default: `quarantined`. */
  state?: 'quarantined' | 'broken';
  /** Default: `product`, which sees to the service itself. */
  by?: 'staff' | 'product';
}

interface Put {
  reason?: string | null;
  serviceId?: number | null;
  /** The service that is being moved to it, or that has left it. */
  moveServiceId?: number | null;
  /** From the baseline of its profile, which keep it out of stock. */
  differences?: string[] | null;
}

const mayBeSomebodys =
  'an order that needs it no more held it as of the backup that was restored: since then it may be somebody’s';
/** Why a server waits whose disks staff has changed. */
export const disksChanged = 'its disks were changed since it was measured: have it enrolled again';

/** What a server has to be to be sold as a product. What is null may be anything. */
export interface ServerChoice {
  /** Of whose profiles it has to be one. */
  productId: number;
  /** As its profile says it. */
  memoryGb: number | null;
  /** All of its disks together, as its profile says it. */
  storageGb: number | null;
  /** What its profile says of its port, where a profile of the product says that of any; Mbit/s. */
  portMbps: number | null;
  /** Of the rack in which it stands. */
  location: string | null;
}

/** A server that a service is to have. */
export interface WantedServer extends ServerChoice {
  serviceId: number;
}

export interface ServerOfService {
  id: number;
  name: string;
  state: ServerState;
  /** Since when it is in that state. */
  stateSince: Date;
  /** Of its rack; null: it was taken out of it. */
  location: string | null;
  profileId: number | null;
  /** What its profile said of its port when it was taken, Mbit/s; null: nothing. Of one that is held or rented alone. */
  soldPortMbps: number | null;
}

/** What can be chosen of a product out of the rack, in one profile at one place. */
export interface ServerOffer extends Pick<Rules, 'threads'> {
  memoryGb: number | null;
  storageGb: number | null;
  portMbps: number | null;
  /** Whether a profile of the product says how fast its port is: of all others nobody can order by that. */
  choosesPort: boolean;
  location: string;
  /** Servers of it that are not retired, and how many of them are in stock. */
  servers: number;
  ready: number;
}

// What is in no rack is nowhere: no location can be promised, and no address of its pools.
const sellable = `servers s join server_profiles f on f.id = s.profile_id join racks r on r.id = s.rack_id`;
export const storageOf = `(select sum((d.value ->> 'gb')::bigint * (d.value ->> 'count')::bigint)::int from jsonb_array_elements(f.disks) d)`;

/** A profile `f` by the speed of its port that is wanted. Where none of the product says a speed, that chooses nothing. */
const bySpeed = (compared: '=' | '>=') => `(:portMbps::int is null or f.port_mbps ${compared} :portMbps::int
       or not exists (select from server_profiles o where o.product_id = f.product_id and o.port_mbps is not null))`;
export const isOfSpeed = bySpeed('=');
/** Of a server that takes the place of another one a faster port is as good. */
export const isAtLeastOfSpeed = bySpeed('>=');

const ofService = statement<ServerOfService, { serviceId: number }>(
  'fleet.serverOfService',
  `select s.id, s.name, s.state, s.state_since as "stateSince", r.location, s.profile_id as "profileId", s.sold_port_mbps as "soldPortMbps"
   from servers s left join racks r on r.id = s.rack_id where s.service_id = :serviceId`,
);
const lockOfService = statement<
  { id: number; name: string; state: ServerState; state_since: Date },
  { serviceId: number }
>(
  'fleet.lockServerOfService',
  'select id, name, state, state_since from servers where service_id = :serviceId for update',
);
// A profile of which there is no server is a row as well, at no place.
const offersOf = statement<
  Omit<ServerOffer, 'location'> & { productId: number; location: string | null },
  { productIds: number[] }
>(
  'fleet.serverOffers',
  `select f.product_id as "productId", f.threads, f.memory_gib as "memoryGb", ${storageOf} as "storageGb", f.port_mbps as "portMbps",
     exists (select from server_profiles o where o.product_id = f.product_id and o.port_mbps is not null) as "choosesPort", there.location,
     count(there.id)::int as servers, (count(*) filter (where there.state = 'ready'))::int as ready
   from server_profiles f left join lateral (
     select s.id, s.state, r.location from servers s join racks r on r.id = s.rack_id
     where s.profile_id = f.id and s.state <> 'retired') there on true
   where f.product_id = any((select :productIds::bigint[])::bigint[])
   group by f.id, there.location order by f.product_id, f.memory_gib nulls last, f.id, there.location`,
);
export const lockStock = statement<{ locked: 1 }, { productId: number }>(
  'fleet.lockServerStock',
  `select 1 as locked from pg_advisory_xact_lock(hashtextextended('servers of product ' || :productId::bigint, 0))`,
);
const choose = statement<
  { id: number; location: string; profile: number; rack: number },
  Omit<WantedServer, 'serviceId'> & { taken: number[] }
>(
  'fleet.chooseServer',
  `select s.id, r.location, s.profile_id as profile, s.rack_id as rack from ${sellable}
   where f.product_id = :productId and s.state = 'ready' and s.id <> all(:taken::bigint[])
     and (:memoryGb::int is null or f.memory_gib = :memoryGb::int)
     and (:storageGb::int is null or ${storageOf} = :storageGb::int)
     and ${isOfSpeed}
     and (:location::text is null or r.location = :location::text)
   order by s.id limit 1`,
);
// A row that somebody else changed since it was chosen is looked at again once it can be locked, and left out.
const hold = statement<
  { id: number; name: string; service_id: number },
  { ids: number[]; serviceIds: number[]; profiles: number[]; racks: number[]; now: Date }
>(
  'fleet.holdServers',
  `with wanted as (select * from unnest(:ids::bigint[], :serviceIds::bigint[], :profiles::bigint[], :racks::bigint[])
     as w(id, service_id, profile_id, rack_id)),
   locked as (select s.id, w.service_id, f.port_mbps from servers s join wanted w on w.id = s.id join server_profiles f on f.id = s.profile_id
              where s.state = 'ready' and s.profile_id = w.profile_id and s.rack_id = w.rack_id order by s.id for update of s)
   update servers s set state = 'held', reason = null, state_since = :now, service_id = locked.service_id, sold_port_mbps = locked.port_mbps
   from locked where s.id = locked.id returning s.id, s.name, s.service_id`,
);
const move = statement<
  never,
  {
    id: number;
    state: ServerState;
    reason: string | null;
    serviceId: number | null;
    differences: string | null;
    moveServiceId: number | null;
    now: Date;
  }
>(
  'fleet.moveServer',
  `update servers set state = :state, reason = :reason::text, service_id = :serviceId::bigint, move_service_id = :moveServiceId::bigint, state_since = :now,
     was_on = null, differences = :differences::jsonb where id = :id`,
);
const lockToSetAside = statement<
  {
    name: string;
    state: ServerState;
    reason: string | null;
    service_id: number | null;
    move_service_id: number | null;
    out_of_order: string | null;
  },
  { id: number }
>(
  'fleet.lockServerToSetAside',
  'select name, state, reason, service_id, move_service_id, out_of_order from servers where id = :id for update',
);

const noteUnwiped = statement<never, { id: number; serviceId: number | null }>(
  'fleet.noteUnwiped',
  'update servers set unwiped_service_id = :serviceId::bigint where id = :id',
);
const unwiped = statement<{ name: string; service_id: number }, { id: number }>(
  'fleet.unwipedServer',
  'select name, unwiped_service_id as service_id from servers where id = :id and unwiped_service_id is not null',
);

/** The server that a service holds or has; null: none. */
export function serverOfService(ctx: Context, serviceId: number): Promise<ServerOfService | null> {
  return ctx.db.maybe(ofService, { serviceId });
}

/**
 * What can be chosen of these products, by product; one without a profile is missing from the answer. While a restore of the database is held nothing is in
 * stock: whatever the backup has there may be somebody's since, and one that is off looks like all others.
 */
export async function listServerOffers(
  ctx: Context,
  productIds: number[],
): Promise<Map<number, ServerOffer[]>> {
  const offers = new Map<number, ServerOffer[]>();
  if (productIds.length === 0) return offers;
  const isHeld = (await findHeldRestore(ctx)) !== null;
  for (const { productId, location, ready, ...offer } of await ctx.db.many(offersOf, { productIds })) {
    const others = offers.get(productId) ?? [];
    const there = { ...offer, ready: isHeld ? 0 : ready };
    offers.set(productId, location === null ? others : [...others, { ...there, location }]);
  }
  return offers;
}

/** Whether a server of this offer is what is wanted. */
export function isChosen(
  { memoryGb, storageGb, portMbps, location }: Omit<ServerChoice, 'productId'>,
  offer: ServerOffer,
): boolean {
  return (
    (memoryGb === null || memoryGb === offer.memoryGb) &&
    (storageGb === null || storageGb === offer.storageGb) &&
    (portMbps === null || !offer.choosesPort || portMbps === offer.portMbps) &&
    (location === null || location === offer.location)
  );
}

/**
 * Holds a server in stock for each of these services, the one with the lowest id that is what they want. `insufficient_stock`, and nothing
 * is held, when there are too few. Answers where each of them stands, in the order of `wants`.
 */
export async function holdServers(
  tx: TxContext,
  wants: readonly WantedServer[],
): Promise<{ serviceId: number; serverId: number; location: string }[]> {
  if (wants.length > 0 && (await findHeldRestore(tx)) !== null) throw fail('insufficient_stock');
  // One order after the other: at once, all would choose the same server, wait for it, and choose again but for one.
  const productIds = [...new Set(wants.map((want) => want.productId))].sort((a, b) => a - b);
  for (const productId of productIds) await tx.db.one(lockStock, { productId });
  for (;;) {
    const held = await chooseAll(tx, wants);
    const [ids, serviceIds] = [held.map((it) => it.serverId), held.map((it) => it.serviceId)];
    const [profiles, racks] = [held.map((it) => it.profile), held.map((it) => it.rack)];
    const written = await tx.db.many(hold, { ids, serviceIds, profiles, racks, now: tx.clock.now() });
    if (written.length === held.length) {
      for (const { id, name, service_id: serviceId } of written)
        await record(tx, serverHeld, { ...about(id), data: { name, service_id: serviceId } });
      return held;
    }
    // Staff took one of them out of stock at this moment; of those that were written others may be chosen now.
    for (const { id } of written) await put(tx, id, 'ready');
  }
}

async function chooseAll(tx: TxContext, wants: readonly WantedServer[]) {
  const held: { serviceId: number; serverId: number; location: string; profile: number; rack: number }[] = [];
  for (const { serviceId, ...choice } of wants) {
    const taken = held.map((it) => it.serverId);
    const found = await tx.db.maybe(choose, { ...choice, taken });
    if (found === null) throw fail('insufficient_stock');
    held.push({
      serviceId,
      serverId: found.id,
      ...{ location: found.location, profile: found.profile, rack: found.rack },
    });
  }
  return held;
}

/** The server that a service holds is its customer's; one that it has already stays so. */
export async function rentServer(tx: TxContext, serviceId: number): Promise<void> {
  const server = await tx.db.maybe(lockOfService, { serviceId });
  if (server === null) throw new Error(`service ${serviceId} holds no server`);
  if (server.state === 'rented') return;
  if (server.state !== 'held') throw new Error(`server ${server.id} is ${server.state} and cannot be rented`);
  await put(tx, server.id, 'rented', { serviceId });
  await noteTenant(tx, server.id, serviceId);
  await record(tx, serverRented, { ...about(server.id), data: { name: server.name, service_id: serviceId } });
}

/**
 * A server that a service held and never used is in stock again; nothing is fine, and one that is rented stays so. One whose disks were written to is on its way back, as
 * one that the service has left: a system may have run there with the keys of a customer. While a restore is held one that was held as of
 * the backup is in quarantine instead: it may be somebody's since, and nobody would look for it in stock. One whose disks were changed waits to be measured.
 */
export async function giveBackServer(tx: TxContext, serviceId: number): Promise<void> {
  const server = await tx.db.maybe(lockOfService, { serviceId });
  if (server?.state !== 'held') return;
  const restore = await findHeldRestore(tx);
  if (restore !== null && server.state_since <= restore.restored_at)
    return setServerAside(tx, server.id, mayBeSomebodys);
  if (await isWritten(tx, server.id)) return sendBack(tx, server, serviceId);
  if (await areDisksMeasured(tx, server.id)) await put(tx, server.id, 'ready');
  else await put(tx, server.id, 'waiting', { reason: disksChanged });
  await record(tx, serverGivenBack, {
    ...about(server.id),
    data: { name: server.name, service_id: serviceId },
  });
}

/** A server that was made ready for a service which goes on without it is wiped before anybody else gets it; its row is locked. */
export async function sendBack(
  tx: TxContext,
  { id, name }: { id: number; name: string },
  serviceId: number,
): Promise<void> {
  await put(tx, id, 'returning', { moveServiceId: serviceId });
  await tx.db.run(noteUnwiped, { id, serviceId: null });
  await record(tx, serverReturning, { ...about(id), data: { name, service_id: serviceId, is_left: true } });
}

/**
 * A server that was set aside with what somebody had written to its disks is wiped before it is in stock, now that it can be: it is on its way back. Whether it is; its
 * row is locked.
 */
export async function sendBackUnwiped(tx: TxContext, id: number): Promise<boolean> {
  const left = await tx.db.maybe(unwiped, { id });
  if (left === null) return false;
  await sendBack(tx, { id, name: left.name }, left.service_id);
  return true;
}

/**
 * The server of a service that has ended is on its way back: nobody else switches it, and nobody gets it before it is wiped. Gives the server; null: the service
 * has none, or only holds one.
 */
export async function beginReturn(tx: TxContext, serviceId: number): Promise<number | null> {
  const server = await tx.db.maybe(lockOfService, { serviceId });
  if (server === null || server.state === 'held') return null;
  if (server.state === 'returning') return server.id;
  await put(tx, server.id, 'returning', { serviceId });
  const data = { name: server.name, service_id: serviceId, is_left: false };
  await record(tx, serverReturning, { ...about(server.id), data });
  return server.id;
}

/** What was found of a server that came back, once it was wiped. */
export interface Returned {
  /** Those that were shut out at its BMC, by their names. */
  accounts: string[];
  /** What it said that it has when it was wiped; null: nobody knows any more. */
  inventory: Inventory | null;
  /** The MAC of the port that it started from then; null: nobody knows any more. */
  startMac: string | null;
  /** How its BMC was found, `users` as of before they were shut out; null: it was not looked at. */
  seen: SeenBmc | null;
}

/**
 * A server that came back and was wiped is in stock again, unless it was out of order, or differs from the baseline of its profile, or has a slower port than that says; one that is not on its way back
 * stays what it is, and so does one that was written to since it was wiped. Whether it is in stock, or kept out of it, since.
 */
export async function restockServer(
  tx: TxContext,
  id: number,
  { accounts, inventory, startMac, seen }: Returned,
): Promise<boolean> {
  const server = await tx.db.maybe(lockToSetAside, { id });
  if (server?.state !== 'returning' || (await isWritten(tx, id))) return false;
  const { name, service_id: serviceId, move_service_id: leftBy } = server;
  await forgetTenant(tx, id);
  const started = inventory === null || startMac === null ? null : { mac: startMac, ports: inventory.ports };
  const port = started && (await portOfProfile(tx, id, started));
  // By what it was sold as, since by as what it will be nobody may have said how such servers are.
  const before = await findDifferences(tx, id, observedOf(inventory, seen));
  // It is held against profiles, and against the baseline of the one that it fits, as it is now, so that nobody buys what it was.
  if (started !== null) await keepStarted(tx, id, started);
  const differs = before ?? (await findDifferences(tx, id, observedOf(inventory, seen)));
  const differing = keptOut(server, withPort(differs, port?.slower ?? (await noProfile(tx, id, port))));
  // Nobody signs in there any more: what somebody takes as a baseline says so.
  await keepObserved(tx, id, observedOf(inventory, seen && { ...seen, users: [] }));
  const data = { name, service_id: serviceId ?? leftBy ?? 0, accounts };
  if (differing === null) {
    await put(tx, id, 'ready');
    await record(tx, serverWiped, { ...about(id), data });
    return true;
  }
  await put(tx, id, 'quarantined', differing);
  await record(tx, serverWiped, { ...about(id), data });
  await record(tx, serverQuarantined, {
    ...about(id),
    data: { name, ...differing, service_id: data.service_id, by: 'product' },
  });
  return true;
}

/** A port that is faster than its profile says may leave a server that nobody can buy, which somebody has to know. */
async function noProfile(tx: TxContext, id: number, before: { profile: string } | null) {
  if (before === null || (await profileOf(tx, id)) !== null) return null;
  return `it fits no profile any more, and ${before.profile} before: the port that its addresses go to has another speed`;
}

function withPort(differs: Differing | null, slower: string | null): Differing | null {
  if (slower === null) return differs;
  if (differs === null) return { differences: [slower], reason: slower };
  return { differences: [slower, ...differs.differences], reason: `${slower}; ${differs.reason}` };
}

/** One that was out of order under its customer is looked at first, whatever baseline it differs from: that alone could be accepted. */
function keptOut<T extends { reason: string }>(
  { out_of_order: outOfOrder }: { out_of_order: string | null },
  differing: T | null,
): T | { reason: string } | null {
  if (outOfOrder === null) return differing;
  const reason = `it was out of order under its customer: ${outOfOrder}`;
  return { reason: differing === null ? reason : `${reason}; ${differing.reason}` };
}

/** Something is wrong with a server that comes back, which staff reads when it is set aside. */
export async function noteOfReturn(tx: TxContext, serverId: number, problem: string): Promise<void> {
  const server = await tx.db.maybe(lockToSetAside, { id: serverId });
  if (server?.state !== 'returning') return;
  const { service_id: serviceId, move_service_id: moveServiceId } = server;
  await put(tx, serverId, 'returning', { serviceId, moveServiceId, reason: problem });
}

/**
 * Takes a server away from the service that holds or has it, and keeps it out of stock with the reason, and what was noted of its way back. Whatever it is
 * otherwise, such as in quarantine already, stays. Where a job does that, what becomes of the service is the job's to see to.
 */
export async function setServerAside(
  tx: TxContext,
  serverId: number,
  because: string,
  { state = 'quarantined', by = 'product' }: SetAside = {},
): Promise<void> {
  const server = await tx.db.maybe(lockToSetAside, { id: serverId });
  if (server?.state !== 'held' && server?.state !== 'rented' && server?.state !== 'returning') return;
  const { name, service_id: serviceId, move_service_id: moveServiceId } = server;
  const reason = server.reason === null ? because : `${because}; ${server.reason}`;
  await put(tx, serverId, state, { reason });
  if (await isWritten(tx, serverId))
    await tx.db.run(noteUnwiped, { id: serverId, serviceId: serviceId ?? moveServiceId });
  const data = { name, reason, service_id: serviceId, by };
  await record(tx, serverQuarantined, { ...about(serverId), data });
}

/**
 * Holds another server for a service, which has none: the one before was set aside or given back. `insufficient_stock`. Answers where it
 * stands.
 */
export async function holdAnotherServer(
  tx: TxContext,
  serviceId: number,
  choice: ServerChoice,
): Promise<{ serverId: number; location: string }> {
  const [held] = await holdServers(tx, [{ serviceId, ...choice }]);
  if (held === undefined) throw fail('insufficient_stock');
  return held;
}

async function put(
  tx: TxContext,
  id: number,
  state: ServerState,
  { reason = null, serviceId = null, moveServiceId = null, differences = null }: Put = {},
): Promise<void> {
  await tx.db.run(move, {
    ...{ id, state, reason, serviceId, moveServiceId, now: tx.clock.now() },
    differences: differences && JSON.stringify(differences),
  });
}
