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

// Picked pool by pool and as a list first: joined any other way, the plan reads every address there is.
const takeFree = statement<
  { address: string },
  { location: string; organizationId: number; serviceId: number; count: number; after: number; held: boolean }
>(
  'fleet.takeFreeAddresses',
  `with picked as materialized (select array(
     select f.address from address_pools p cross join lateral (
       select address from addresses where pool_id = p.id and state = 'free'
       order by address limit :count for update skip locked) f
     where p.location = :location and p.family = 4 order by p.id limit :count) as list)
   update addresses a set state = 'taken', organization_id = :organizationId, service_id = :serviceId,
     ordinal = :after::int + array_position(picked.list, a.address), held = :held
   from picked where a.address = any(picked.list) returning host(a.address) as address`,
);

const pools6 = statement<{ id: number; network: string }, { location: string }>(
  'fleet.pools6',
  `select id, network::text as network from address_pools where location = :location and family = 6
   order by id`,
);

const takeRandom = statement<
  { address: string },
  {
    address: string;
    poolId: number;
    organizationId: number;
    serviceId: number;
    ordinal: number;
    held: boolean;
  }
>(
  'fleet.takeRandomAddress',
  `insert into addresses (address, pool_id, state, organization_id, service_id, ordinal, held)
   select :address::inet, p.id, 'taken', :organizationId, :serviceId, :ordinal, :held
     from address_pools p where p.id = :poolId and p.gateway <> :address::inet
   on conflict (address) do nothing returning host(address) as address`,
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

interface Holder {
  id: number;
  organizationId: number;
  location: string;
}

/** Where the numbering of a service's addresses goes on, and whether a machine has them yet. */
interface Taking {
  after4: number;
  after6: number;
  held: boolean;
}

/** Takes addresses for a service: `count4` of the location's IPv4 pools, `count6` of its IPv6 pools. */
export async function reserveAddresses(
  ctx: TxContext,
  service: Holder,
  count4: number,
  count6: number,
): Promise<void> {
  await take(ctx, service, count4, count6, { after4: 0, after6: 0, held: false });
}

/**
 * Takes more addresses for a service that has some. They are held: no machine gets them until
 * {@link useHeldAddresses}.
 */
export async function holdMoreAddresses(
  ctx: TxContext,
  service: Holder,
  count4: number,
  count6: number,
): Promise<void> {
  const last = new Map(
    (await ctx.db.many(lastOrdinals, { serviceId: service.id })).map(
      (row) => [row.family, row.ordinal] as const,
    ),
  );
  await take(ctx, service, count4, count6, {
    after4: last.get(4) ?? 0,
    after6: last.get(6) ?? 0,
    held: true,
  });
}

async function take(
  ctx: TxContext,
  service: Holder,
  count4: number,
  count6: number,
  how: Taking,
): Promise<void> {
  const { id, organizationId, location } = service;
  if (count4 > 0) {
    const taken = await ctx.db.many(takeFree, {
      location,
      organizationId,
      serviceId: id,
      count: count4,
      after: how.after4,
      held: how.held,
    });
    if (taken.length < count4) throw outOfAddresses(location, 4);
  }
  if (count6 === 0) return;
  const pools = await ctx.db.many(pools6, { location });
  for (let nth = 1; nth <= count6; nth += 1) {
    await takeAddress6(ctx, pools, service, how.after6 + nth, how.held);
  }
}

// An IPv6 network is too large to list; a random host of it is free but for an accident.
async function takeAddress6(
  ctx: TxContext,
  pools: { id: number; network: string }[],
  service: Holder,
  ordinal: number,
  held: boolean,
): Promise<void> {
  for (const pool of pools) {
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const address = randomHost(pool.network);
      const { id, organizationId } = service;
      const taking = { address, poolId: pool.id, organizationId, serviceId: id, ordinal, held };
      if ((await ctx.db.maybe(takeRandom, taking)) !== null) return;
    }
  }
  throw outOfAddresses(service.location, 6);
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

/** The addresses of a service, the primary one first. */
export async function listAddresses(ctx: Context, serviceId: number): Promise<Address[]> {
  const rows = await ctx.db.many(addressesOfService, { serviceId });
  return rows.map(({ dns_name, ...row }) => ({ ...row, dnsName: dns_name }));
}

/**
 * Frees addresses that a machine has used: they rest before anybody else gets them, and lose their names.
 * `keep` leaves the first so many of each kind.
 */
export async function releaseAddresses(
  ctx: Context,
  serviceId: number,
  keep: { count4: number; count6: number } = { count4: 0, count6: 0 },
): Promise<void> {
  await transaction(ctx, 'fleet.releaseAddresses', async (tx) => {
    const freed = await tx.db.many(rest, {
      serviceId,
      now: tx.clock.now(),
      keep4: keep.count4,
      keep6: keep.count6,
    });
    // All of them, not only those with a name here: an earlier change may not have reached the name server.
    for (const { address } of freed) await publishName(tx, address);
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
  await ctx.db.run(wakeRested, { now: ctx.clock.now() });
}
