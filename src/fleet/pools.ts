import ipaddr from 'ipaddr.js';
import { type Context, fail, statement, type TxContext } from '../platform/index.ts';
import { addressIn, checkNetwork, firstHost } from './networks.ts';

export interface Pool {
  name: string;
  location: string;
  /** CIDR. */
  network: string;
  /** Default: the network's first host. */
  gateway?: string | undefined;
  /** How long a freed address rests before somebody else gets it. Default: a day. */
  restHours?: number | undefined;
}

const insertPool = statement<
  { id: number },
  {
    name: string;
    location: string;
    family: number;
    network: string;
    gateway: string;
    restHours: number;
    now: Date;
  }
>(
  'fleet.insertPool',
  `insert into address_pools (name, location, family, network, gateway, rest_hours, created_at)
   values (:name, :location, :family, :network, :gateway, :restHours, :now) on conflict do nothing
     returning id`,
);

const conflicting = statement<
  { name: string; network: string; same_name: boolean },
  { name: string; network: string }
>(
  'fleet.conflictingPool',
  `select name, network::text as network, name = :name as same_name from address_pools
   where name = :name or network && :network::cidr order by name = :name desc limit 1`,
);

const listHosts = statement<never, { poolId: number }>(
  'fleet.listHosts',
  `insert into addresses (address, pool_id, state)
   select host.address, p.id, 'free'
   from address_pools p, lateral (
     select host(p.network)::inet + n as address
     from generate_series(1, (2 ^ (32 - masklen(p.network)))::bigint - 2) n) host
   where p.id = :poolId and host.address <> p.gateway`,
);

const gateways = statement<{ gateway: string }, { location: string }>(
  'fleet.gateways',
  `select host(gateway) || '/' || masklen(network) as gateway from address_pools
   where location = :location order by family, id`,
);

const defaultRestHours = 24;

/**
 * Adds a pool; of an IPv4 network every host but the gateway and the broadcast address becomes free. Of the
 * same name: `conflict`. Overlapping another one: `conflict` too, since an address is in one pool.
 */
export async function createPool(ctx: TxContext, pool: Pool): Promise<number> {
  checkNetwork(pool.network);
  const family = ipaddr.parseCIDR(pool.network)[0].kind() === 'ipv4' ? 4 : 6;
  const gateway =
    pool.gateway === undefined ? firstHost(pool.network) : addressIn(pool.network, pool.gateway);
  const made = await ctx.db.maybe(insertPool, {
    name: pool.name,
    location: pool.location,
    family,
    network: pool.network,
    gateway,
    restHours: pool.restHours ?? defaultRestHours,
    now: ctx.clock.now(),
  });
  if (made === null) throw await conflictOf(ctx, pool);
  if (family === 4) await ctx.db.run(listHosts, { poolId: made.id });
  return made.id;
}

async function conflictOf(ctx: TxContext, pool: Pool) {
  const other = await ctx.db.maybe(conflicting, { name: pool.name, network: pool.network });
  const message = other?.same_name
    ? `There is a pool called ${pool.name} already`
    : `${pool.network} overlaps the pool ${other?.name} (${other?.network}); an address is in one pool`;
  return fail('conflict', { message });
}

/** Adds a pool unless there is one of its name: what a node does when it starts for the first time. */
export async function addPool(ctx: TxContext, pool: Pool): Promise<void> {
  const other = await ctx.db.maybe(conflicting, { name: pool.name, network: pool.network });
  if (other?.same_name) return;
  await createPool(ctx, pool);
}

/** The gateways of a location with their prefix, `10.77.0.1/24`: what a node's bridge answers on. */
export async function gatewaysOf(ctx: Context, location: string): Promise<string[]> {
  return (await ctx.db.many(gateways, { location })).map((row) => row.gateway);
}
