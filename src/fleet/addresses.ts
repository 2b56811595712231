import { randomBytes } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { type Context, fail, statement, type TxContext } from '../platform/index.ts';

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

const takeFree = statement<{ address: string }>(
  'fleet.takeFreeAddresses',
  `update addresses a set state = 'taken', organization_id = $2, service_id = $3, ordinal = free.ordinal
   from (select address, row_number() over () as ordinal from (
           select f.address from addresses f join address_pools p on p.id = f.pool_id
           where p.location = $1 and p.family = 4 and f.state = 'free'
           limit $4 for update of f skip locked) picked) free
   where a.address = free.address returning host(a.address) as address`,
);

const pools6 = statement<{ id: number; network: string }>(
  'fleet.pools6',
  `select id, network::text as network from address_pools where location = $1 and family = 6 order by id`,
);

const takeRandom = statement<{ address: string }>(
  'fleet.takeRandomAddress',
  `insert into addresses (address, pool_id, state, organization_id, service_id, ordinal)
   values ($1, $2, 'taken', $3, $4, $5) on conflict (address) do nothing returning host(address) as address`,
);

const addressesOfService = statement<AddressRow>(
  'fleet.addressesOfService',
  `select host(a.address) as address, p.family, masklen(p.network) as prefix, host(p.gateway) as gateway, a.dns_name
   from addresses a join address_pools p on p.id = a.pool_id
   where a.service_id = $1 order by p.family, a.ordinal`,
);

const rest = statement(
  'fleet.restAddresses',
  `update addresses a set state = 'resting', organization_id = null, service_id = null, ordinal = null,
     dns_name = null, rests_until = $2::timestamptz + make_interval(hours => p.rest_hours)
   from address_pools p where p.id = a.pool_id and a.service_id = $1`,
);

const giveBackUnused = statement(
  'fleet.giveBackUnusedAddresses',
  `update addresses set state = 'free', organization_id = null, service_id = null, ordinal = null, dns_name = null
   where service_id = $1`,
);

const wakeRested = statement(
  'fleet.wakeRestedAddresses',
  `update addresses set state = 'free', rests_until = null where state = 'resting' and rests_until <= $1`,
);

/** Takes addresses for a service: `count4` of the location's IPv4 pools, `count6` of its IPv6 pools. */
export async function reserveAddresses(
  ctx: TxContext,
  service: { id: number; organizationId: number; location: string },
  count4: number,
  count6: number,
): Promise<void> {
  if (count4 > 0) {
    const taken = await ctx.db.many(takeFree, service.location, service.organizationId, service.id, count4);
    if (taken.length < count4) throw outOfAddresses(service.location, 4);
  }
  if (count6 === 0) return;
  const pool = (await ctx.db.many(pools6, service.location))[0];
  if (!pool) throw outOfAddresses(service.location, 6);
  for (let ordinal = 1; ordinal <= count6; ordinal += 1) {
    await takeAddress6(ctx, pool, service, ordinal);
  }
}

// An IPv6 network is too large to list; a random host of it is free but for an accident.
async function takeAddress6(
  ctx: TxContext,
  pool: { id: number; network: string },
  service: { id: number; organizationId: number; location: string },
  ordinal: number,
): Promise<void> {
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const address = randomHost(pool.network);
    const row = await ctx.db.maybe(takeRandom, address, pool.id, service.organizationId, service.id, ordinal);
    if (row !== null) return;
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
  const rows = await ctx.db.many(addressesOfService, serviceId);
  return rows.map(({ dns_name, ...row }) => ({ ...row, dnsName: dns_name }));
}

/** Frees addresses that a machine has used: they rest before anybody else gets them. */
export async function releaseAddresses(ctx: Context, serviceId: number): Promise<void> {
  await ctx.db.run(rest, serviceId, ctx.clock.now());
}

/** Frees addresses that were only held for an order; nobody has ever reached a machine there. */
export async function returnUnusedAddresses(ctx: Context, serviceId: number): Promise<void> {
  await ctx.db.run(giveBackUnused, serviceId);
}

/** Makes addresses that have rested long enough free again. */
export async function freeRestedAddresses(ctx: Context): Promise<void> {
  await ctx.db.run(wakeRested, ctx.clock.now());
}
