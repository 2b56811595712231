import type { BgpBounds, Measure } from '../../drivers/edge/index.ts';
import { type Context, statement } from '../../platform/index.ts';
import { holds, prefixFrom, single } from '../prefix.ts';
import type { Peer } from './peers.ts';

/** Which routers are meant: of an edge, and by whose process they are spoken to. */
export interface At {
  edgeId: number;
  nodeId: number;
}

/** What routers are to be told of an address; null: nothing any more. */
export interface Wanted {
  address: string;
  generation: number;
  measure: Measure | null;
}

/** Routers in front, as staff has set them. */
export interface RoutersRow {
  id: number;
  node_id: number;
  most_routes: number;
  rule_routes: number;
  blackholes: boolean;
  communities: string[];
  next_hop4: string | null;
  next_hop6: string | null;
  /** What they may be told of. */
  prefixes: string[];
  peers: Peer[];
}

const routersById = statement<RoutersRow, { id: number }>(
  'shield.routersById',
  `select e.id, e.node_id, e.most_routes, e.rule_routes, e.blackholes, e.communities, host(e.next_hop4) as next_hop4,
     host(e.next_hop6) as next_hop6, e.peers,
     array(select p.network::text from shield_prefixes p where p.edge_id = e.id order by p.network) as prefixes
   from shield_edges e where e.id = :id and e.kind = 'routers' and e.served`,
);

export function findRouters(ctx: Context, id: number): Promise<RoutersRow | null> {
  return ctx.db.maybe(routersById, { id });
}

/** What an edge of routers may announce. */
export function boundsOf(row: RoutersRow): BgpBounds {
  return {
    prefixes: row.prefixes,
    blackholes: row.blackholes ? row.prefixes : [],
    atMost: row.most_routes,
    nextHops: {
      ...(row.next_hop4 !== null && { 4: row.next_hop4 }),
      ...(row.next_hop6 !== null && { 6: row.next_hop6 }),
    },
    communities: row.communities,
  };
}

/** A network that routers may be told of. */
export interface FrontRow {
  edge_id: number;
  node_id: number;
  blackholes: boolean;
  network: string;
}

const fronts = statement<FrontRow>(
  'shield.fronts',
  `select e.id as edge_id, e.node_id, e.blackholes, p.network::text as network
   from shield_prefixes p join shield_edges e on e.id = p.edge_id
   where e.kind = 'routers' and e.served order by e.id, p.network`,
);

export function findFronts(ctx: Context): Promise<FrontRow[]> {
  return ctx.db.many(fronts);
}

/** Those before an address, each edge once. */
export function frontsOf(rows: readonly FrontRow[], address: string) {
  const network = single(address);
  const found = rows.filter((row) => holds(prefixFrom(row.network), network));
  return [...new Map(found.map((row) => [row.edge_id, row])).values()].map((row) => {
    return { edgeId: row.edge_id, nodeId: row.node_id, blackholes: row.blackholes };
  });
}
