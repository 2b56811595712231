import { randomBytes } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { type Context, fail, statement, type TxContext, transaction } from '../platform/index.ts';
import { publishName } from './reverse.ts';

/** An address in use, with what a guest needs to use it. */
export interface Address {
  address: string;
  family: 4 | 6;
  prefix: number;
  gateway: string;
  dnsName: string | null;
}

interface AddressRow {
  address: string;
  family: 4 | 6;
  prefix: number;
  gateway: string;
  dns_name: string | null;
}

// Picked pool by pool and as a list first: joined any other way, the plan reads every address there is. In the order of
// `address + 0`, which only the index of free addresses has. Values stand in `(select …)` so that the plan is made once:
// for how many each order wants, PostgreSQL would make one of its own, which costs more than to take the addresses.
const takeFree = statement<
  { address: string },
  {
    location: string;
    organizationId: number;
    serviceIds: number[];
    counts: number[];
    total: number;
    after: number;
    held: boolean;
  }
>(
  'fleet.takeFreeAddresses',
  `with picked as materialized (select array(
     select f.address from (
       select id from address_pools where location = :location and family = 4 order by id) p
     cross join lateral (
       select address from addresses where pool_id = p.id and state = 'free'
       order by address + 0 limit (select :total::bigint) for update skip locked) f
     limit (select :total::bigint)) as list),
   wanted as (
     select w.id, n as ordinal, row_number() over (order by w.nth, n) as place
     from unnest((select :serviceIds::bigint[]), (select :counts::int[])) with ordinality as w(id, count, nth),
       generate_series(1, w.count) as n)
   update addresses a set state = 'taken', organization_id = :organizationId, service_id = wanted.id,
     ordinal = :after::int + wanted.ordinal, held = :held
   from picked, wanted
   where a.address = any(picked.list) and wanted.place = array_position(picked.list, a.address)
   returning host(a.address) as address`,
);

const pools6 = statement<{ id: number; network: string }, { location: string }>(
  'fleet.pools6',
  `select id, network::text as network from address_pools where location = :location and family = 6
   order by id`,
);

const takeRandom = statement<
  { service_id: number; ordinal: number },
  {
    addresses: string[];
    serviceIds: number[];
    ordinals: number[];
    poolId: number;
    organizationId: number;
    held: boolean;
  }
>(
  'fleet.takeRandomAddresses',
  `insert into addresses (address, pool_id, state, organization_id, service_id, ordinal, held)
   select w.address, p.id, 'taken', :organizationId, w.service_id, w.ordinal, :held
     from address_pools p, unnest(:addresses::inet[], :serviceIds::bigint[], :ordinals::int[])
       as w(address, service_id, ordinal)
     where p.id = :poolId and p.gateway <> w.address
   on conflict (address) do nothing returning service_id, ordinal`,
);

const lastOrdinals = statement<{ family: 4 | 6; ordinal: number }, { serviceId: number }>(
  'fleet.lastOrdinals',
  `select family(address) as family, max(ordinal)::int as ordinal from addresses
   where service_id = :serviceId group by 1`,
);

const addressesOfService = statement<AddressRow, { serviceId: number }>(
  'fleet.addressesOfService',
  `select host(a.address) as address, p.family, masklen(p.network) as prefix, host(p.gateway) as gateway, a.dns_name
   from addresses a join address_pools p on p.id = a.pool_id
   where a.service_id = :serviceId and not a.held order by p.family, a.ordinal`,
);

// Addresses beyond the first :keep4 IPv4 and :keep6 IPv6 ones; of held ones nobody has reached a machine, so they are free.
const rest = statement<{ address: string }, { serviceId: number; now: Date; keep4: number; keep6: number }>(
  'fleet.restAddresses',
  `update addresses a set state = case when ranked.held then 'free' else 'resting' end, organization_id = null,
     service_id = null, ordinal = null, dns_name = null, held = false,
     rests_until = case when ranked.held then null
       else :now::timestamptz + make_interval(hours => p.rest_hours) end
   from address_pools p, (
     select address, held, row_number() over (partition by family(address) order by held, ordinal) as nth
     from addresses where service_id = :serviceId) ranked
   where p.id = a.pool_id and a.address = ranked.address
     and ranked.nth > case family(a.address) when 4 then :keep4::int else :keep6::int end
   returning host(a.address) as address`,
);

const giveBackUnused = statement<
  { address: string; named: boolean },
  { serviceId: number; onlyHeld: boolean }
>(
  'fleet.giveBackUnusedAddresses',
  `update addresses a set state = 'free', organization_id = null, service_id = null, ordinal = null,
     dns_name = null, held = false
   from (select address, dns_name from addresses where service_id = :serviceId
     and (held or not :onlyHeld) for update) before
   where a.address = before.address returning host(a.address) as address, before.dns_name is not null as named`,
);

const useHeld = statement<never, { serviceId: number }>(
  'fleet.useHeldAddresses',
  'update addresses set held = false where service_id = :serviceId and held',
);

const wakeRested = statement<never, { now: Date }>(
  'fleet.wakeRestedAddresses',
  `update addresses set state = 'free', rests_until = null where state = 'resting' and rests_until <= :now`,
);
// Of a clock that was ahead, or of a pool whose addresses rest for less since: its time counts from now on.
const restNoLonger = statement<never, { now: Date }>(
  'fleet.restNoLonger',
  `update addresses a set rests_until = :now::timestamptz + make_interval(hours => p.rest_hours)
   from address_pools p where p.id = a.pool_id and a.state = 'resting'
     and a.rests_until > :now::timestamptz + make_interval(hours => p.rest_hours, mins => 1)`,
);

/** When the next one has rested, for {@link freeRestedAddresses}. */
export const nextRested = statement<{ at: Date | null }>(
  'fleet.nextRestedAddress',
  `select min(rests_until) as at from addresses where state = 'resting'`,
);

/** How many addresses a service is to get. */
export interface WantedAddresses {
  id: number;
  location: string;
  ipv4Count: number;
  ipv6Count: number;
}

/** Where the numbering of a service's addresses goes on, and whether a machine has them yet. */
interface Taking {
  after4: number;
  after6: number;
  held: boolean;
}

/** Takes addresses for services of an organization from the pools of their locations; `insufficient_stock`. */
export async function reserveAddresses(
  ctx: TxContext,
  organizationId: number,
  services: WantedAddresses[],
): Promise<void> {
  for (const location of [...new Set(services.map((service) => service.location))].sort()) {
    const there = services.filter((service) => service.location === location);
    await take(ctx, organizationId, location, there, { after4: 0, after6: 0, held: false });
  }
}

/**
 * Takes more addresses for a service that has some. They are held: no machine gets them until
 * {@link useHeldAddresses}.
 */
export async function holdMoreAddresses(
  ctx: TxContext,
  organizationId: number,
  service: WantedAddresses,
): Promise<void> {
  const rows = await ctx.db.many(lastOrdinals, { serviceId: service.id });
  const last = new Map(rows.map((row) => [row.family, row.ordinal] as const));
  const how = { after4: last.get(4) ?? 0, after6: last.get(6) ?? 0, held: true };
  await take(ctx, organizationId, service.location, [service], how);
}

async function take(
  ctx: TxContext,
  organizationId: number,
  location: string,
  services: WantedAddresses[],
  { after4: after, after6, held }: Taking,
): Promise<void> {
  const serviceIds = services.map(({ id }) => id);
  const counts = services.map(({ ipv4Count }) => ipv4Count);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total > 0) {
    const taking = { location, organizationId, serviceIds, counts, total, after, held };
    if ((await ctx.db.many(takeFree, taking)).length < total) throw outOfAddresses(location, 4);
  }
  const places = services.flatMap(({ id, ipv6Count }) =>
    Array.from({ length: ipv6Count }, (_, nth) => ({ id, ordinal: after6 + nth + 1 })),
  );
  if (places.length > 0) await takeAddresses6(ctx, { organizationId, location, held }, places);
}

interface Place {
  id: number;
  ordinal: number;
}

// An IPv6 network is too large to list; a random host of it is free but for an accident.
async function takeAddresses6(
  ctx: TxContext,
  { location, ...how }: { organizationId: number; location: string; held: boolean },
  places: Place[],
): Promise<void> {
  let open = places;
  for (const pool of await ctx.db.many(pools6, { location })) {
    for (let attempt = 0; attempt < 8 && open.length > 0; attempt += 1) {
      const byAddress = new Map(open.map((place) => [randomHost(pool.network), place]));
      const chosen = [...byAddress.values()];
      const taken = await ctx.db.many(takeRandom, {
        ...how,
        poolId: pool.id,
        addresses: [...byAddress.keys()],
        serviceIds: chosen.map(({ id }) => id),
        ordinals: chosen.map(({ ordinal }) => ordinal),
      });
      const done = new Set(taken.map((place) => `${place.service_id} ${place.ordinal}`));
      open = open.filter(({ id, ordinal }) => !done.has(`${id} ${ordinal}`));
    }
  }
  if (open.length > 0) throw outOfAddresses(location, 6);
}

function randomHost(network: string): string {
  const [base, prefix] = ipaddr.IPv6.parseCIDR(network);
  const bytes = base.toByteArray();
  const random = randomBytes(16);
  for (let bit = prefix; bit < 128; bit += 1) {
    const index = bit >> 3;
    const mask = 0x80 >> (bit & 7);
    bytes[index] = ((bytes[index] ?? 0) & ~mask) | ((random[index] ?? 0) & mask);
  }
  // The lowest addresses of a network belong to its routers.
  bytes[15] = (bytes[15] ?? 0) | 0x80;
  return new ipaddr.IPv6(bytes).toString();
}

function outOfAddresses(location: string, family: 4 | 6) {
  return fail('insufficient_stock', { cause: new Error(`no free IPv${family} address at ${location}`) });
}

const lockAddressesOfService = statement<never, { serviceId: number }>(
  'fleet.lockAddressesOfService',
  'select address from addresses where service_id = :serviceId order by address for update',
);

/** Nobody changes the addresses of a service until the transaction ends. */
export async function lockAddresses(tx: TxContext, serviceId: number): Promise<void> {
  await tx.db.many(lockAddressesOfService, { serviceId });
}

/** The addresses of a service, the primary one first. */
export async function listAddresses(ctx: Context, serviceId: number): Promise<Address[]> {
  const rows = await ctx.db.many(addressesOfService, { serviceId });
  return rows.map(({ dns_name, ...row }) => ({ ...row, dnsName: dns_name }));
}

/**
 * Frees addresses that a machine has used: they rest before anybody else gets them, and lose their names.
 * `keep` leaves the first so many of each kind. Returns which they were.
 */
export async function releaseAddresses(
  ctx: Context,
  serviceId: number,
  keep: { count4: number; count6: number } = { count4: 0, count6: 0 },
): Promise<string[]> {
  return transaction(ctx, 'fleet.releaseAddresses', async (tx) => {
    const freed = await tx.db.many(rest, {
      serviceId,
      now: tx.clock.now(),
      keep4: keep.count4,
      keep6: keep.count6,
    });
    // All of them, not only those with a name here: an earlier change may not have reached the name server.
    for (const { address } of freed) await publishName(tx, address);
    return freed.map(({ address }) => address);
  });
}

/** Frees addresses that were only held for an order; nobody has ever reached a machine there. */
export async function returnUnusedAddresses(ctx: Context, serviceId: number): Promise<void> {
  await giveBack(ctx, serviceId, false);
}

/** Frees what {@link holdMoreAddresses} took, and leaves the service the addresses it has. */
export async function returnHeldAddresses(ctx: Context, serviceId: number): Promise<void> {
  await giveBack(ctx, serviceId, true);
}

async function giveBack(ctx: Context, serviceId: number, onlyHeld: boolean): Promise<void> {
  await transaction(ctx, 'fleet.giveBackAddresses', async (tx) => {
    const freed = await tx.db.many(giveBackUnused, { serviceId, onlyHeld });
    for (const { address, named } of freed) if (named) await publishName(tx, address);
  });
}

/** Gives the service's machine what was held for it. */
export async function useHeldAddresses(ctx: TxContext, serviceId: number): Promise<void> {
  await ctx.db.run(useHeld, { serviceId });
}

/** Makes addresses that have rested long enough free again. */
export async function freeRestedAddresses(ctx: Context): Promise<void> {
  const now = ctx.clock.now();
  await ctx.db.run(wakeRested, { now });
  await ctx.db.run(restNoLonger, { now });
}
