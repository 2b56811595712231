import ipaddr from 'ipaddr.js';
import { type Context, statement, type TxContext } from '../platform/index.ts';

export interface Pool {
  name: string;
  location: string;
  /** CIDR; its first host is the gateway. */
  network: string;
}

const largestListed = 65_536;

const insertPool = statement<{ id: number }>(
  'fleet.insertPool',
  `insert into address_pools (name, location, family, network, gateway, created_at) values ($1, $2, $3, $4, $5, $6)
   on conflict (name) do nothing returning id`,
);

const listHosts = statement(
  'fleet.listHosts',
  `insert into addresses (address, pool_id, state)
   select $2::inet + n, $1, 'free' from generate_series(1, $3::bigint) n on conflict do nothing`,
);

const gateways = statement<{ gateway: string }>(
  'fleet.gateways',
  `select host(gateway) || '/' || masklen(network) as gateway from address_pools
   where location = $1 order by family, id`,
);

/** Adds a pool; of an IPv4 network every host but the gateway and the broadcast address becomes free. */
export async function addPool(ctx: TxContext, pool: Pool): Promise<void> {
  const [base, prefix] = ipaddr.parseCIDR(pool.network);
  const family = base.kind() === 'ipv4' ? 4 : 6;
  const gateway = firstHost(pool.network);
  const made = await ctx.db.maybe(
    insertPool,
    pool.name,
    pool.location,
    family,
    pool.network,
    gateway,
    ctx.clock.now(),
  );
  if (made === null || family === 6) return;
  const hosts = Math.min(2 ** (32 - prefix), largestListed) - 3; // network, gateway and broadcast
  await ctx.db.run(listHosts, made.id, gateway, hosts);
}

/** The gateways of a location with their prefix, `10.77.0.1/24`: what a node's bridge answers on. */
export async function gatewaysOf(ctx: Context, location: string): Promise<string[]> {
  return (await ctx.db.many(gateways, location)).map((row) => row.gateway);
}

function firstHost(network: string): string {
  const [base] = ipaddr.parseCIDR(network);
  const bytes = base.toByteArray();
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) + 1;
  return ipaddr.fromByteArray(bytes).toString();
}
