import { type Context, type Low, statement } from '../platform/index.ts';
import { daysUntilFull } from './days.ts';

/** From here on a node is nearly full, and up to here a pool. */
const nearlyFull = 85;
const nearlyEmpty = 10;
/** What is full sooner is told as well: more hardware, or more addresses, take about so long to come. */
const soonDays = 30;
const atMost = 20;

const memory = 'memory_mib_promised - memory_mib_taken';
const disk = 'disk_gib_promised - disk_gib_taken';

const lowOnes = statement<Low>(
  'fleet.low',
  // IPv6 never runs out: only what was given away of it stands in a row. What takes nothing new does not go on as it did.
  `select kind, id, name, what, (taken * 100.0 / whole)::int as taken_percent, greatest(0, whole - taken)::int as free, full_in_days
   from (
     select 'node' as kind, id, name, 'memory' as what, memory_mib_promised as whole,
       memory_mib_taken as taken, ${nearlyFull} as nearly,
       case when state = 'active' then ${daysUntilFull('node', 'nodes.id', 'memory', memory)} end as full_in_days
     from nodes where state <> 'down'
     union all
     select 'node', id, name, 'disk', disk_gib_promised, disk_gib_taken, ${nearlyFull},
       case when state = 'active' then ${daysUntilFull('node', 'nodes.id', 'disk', disk)} end
     from nodes where state <> 'down'
     union all
     select 'pool', p.id, p.name, 'addresses', a.whole, a.whole - a.free, ${100 - nearlyEmpty},
       ${daysUntilFull('pool', 'p.id', 'addresses', 'a.free')}
     from address_pools p cross join lateral (
       select count(*)::int as whole, count(*) filter (where state = 'free')::int as free
       from addresses where pool_id = p.id) a
     where p.family = 4
   ) low
   where whole > 0 and (taken * 100.0 >= whole * nearly or full_in_days <= ${soonDays})
   order by full_in_days <= ${soonDays} desc nulls last, taken_percent desc, kind, id, what limit ${atMost}`,
);

/** Nodes and pools that run low or soon will, the fullest first. */
export function readLow(ctx: Context): Promise<Low[]> {
  return ctx.db.many(lowOnes);
}
