import { type Context, type Low, statement } from '../platform/index.ts';

/** From here on a node is nearly full, and up to here a pool. */
const nearlyFull = 85;
const nearlyEmpty = 10;
const atMost = 20;

const lowOnes = statement<Low>(
  'fleet.low',
  // IPv6 never runs out: only what was given away of it stands in a row.
  `select * from (
     select 'node' as kind, id, name, 'memory' as what, (memory_mib_taken * 100.0 / memory_mib_promised)::int as taken_percent,
       greatest(0, memory_mib_promised - memory_mib_taken)::int as free
     from nodes where state <> 'down' and memory_mib_promised > 0 and memory_mib_taken * 100.0 >= memory_mib_promised * ${nearlyFull}.0
     union all
     select 'node', id, name, 'disk', (disk_gib_taken * 100.0 / disk_gib_promised)::int,
       greatest(0, disk_gib_promised - disk_gib_taken)::int
     from nodes where state <> 'down' and disk_gib_promised > 0 and disk_gib_taken * 100.0 >= disk_gib_promised * ${nearlyFull}.0
     union all
     select 'pool', p.id, p.name, 'addresses', (100 - a.free * 100.0 / a.whole)::int, a.free
     from address_pools p cross join lateral (
       select count(*)::int as whole, count(*) filter (where state = 'free')::int as free
       from addresses where pool_id = p.id) a
     where p.family = 4 and a.whole > 0 and a.free * 100 <= a.whole * ${nearlyEmpty}
   ) low order by taken_percent desc, kind, id, what limit ${atMost}`,
);

/** Nodes and pools that run low, the fullest first. */
export function readLow(ctx: Context): Promise<Low[]> {
  return ctx.db.many(lowOnes);
}
