import { record } from '../../events/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import {
  type Context,
  enqueue,
  fail,
  isDuplicate,
  refuse,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { edgeChanged, edgeRemoved } from '../events.ts';
import { requireOneAddress } from '../owned.ts';
import { addressOf } from '../prefix.ts';
import { announce } from './announce.ts';
import { wantHandedOver } from './handOver.ts';
import type { Peer } from './peers.ts';

interface EdgeRow {
  id: number;
  node_id: number;
  node_name: string;
  reachable: boolean;
  kind: 'node' | 'router' | 'routers';
  name: string;
  engine: string;
  reason: string | null;
  capabilities: string[];
  served: boolean;
  most_routes: number;
  rule_routes: number;
  blackholes: boolean;
  communities: string[];
  next_hop4: string | null;
  next_hop6: string | null;
  seen_at: Date | null;
  error: string | null;
  error_since: Date | null;
  full_kinds: string[];
  full_since: Date | null;
  peers: Peer[];
  peers_down_since: Date | null;
  routes: number | null;
  prefixes: string[];
  nodes: number[];
  moving: number[];
}

const select = `select e.id, e.node_id, n.name as node_name, n.reachable, e.kind, e.name, e.engine, e.reason, e.capabilities,
    e.served, e.most_routes, e.rule_routes, e.blackholes, e.communities, host(e.next_hop4) as next_hop4,
    host(e.next_hop6) as next_hop6, e.seen_at, e.error, e.error_since, e.full_kinds, e.full_since, e.peers,
    e.peers_down_since, e.routes,
    array(select p.network::text from shield_prefixes p where p.edge_id = e.id order by p.network) as prefixes,
    to_json(array(select f.node_id from shield_fronts f where f.edge_id = e.id order by f.node_id)) as nodes,
    to_json(array(select f.node_id from shield_fronts f
      where (f.edge_id is not distinct from e.id) <> (f.in_charge = e.node_id) order by f.node_id)) as moving
  from shield_edges e join nodes n on n.id = e.node_id`;
const edges = pagedList<EdgeRow>({
  name: 'shield.edges',
  from: 'shield_edges e join nodes n on n.id = e.node_id',
  select,
  filters: { kind: 'e.kind = :kind' },
  key: { by: 'e.id', type: 'bigint', of: (row) => row.id },
  sorts: { id: null, name: { by: 'e.name', type: 'text', of: (row) => row.name } },
  order: 'id',
});
const edgeById = statement<EdgeRow, { id: number }>('shield.edge', `${select} where e.id = :id`);
const lock = statement<{ id: number }, { id: number }>(
  'shield.lockEdge',
  'select id from shield_edges where id = :id for update',
);
const set = statement<
  never,
  Pick<
    EdgeRow,
    'id' | 'name' | 'most_routes' | 'rule_routes' | 'blackholes' | 'communities' | 'next_hop4' | 'next_hop6'
  >
>(
  'shield.setEdge',
  `update shield_edges set name = :name, most_routes = :most_routes, rule_routes = :rule_routes,
     blackholes = :blackholes, communities = :communities::text[], next_hop4 = :next_hop4::inet,
     next_hop6 = :next_hop6::inet where id = :id`,
);

export async function listEdges(ctx: Context, query: ListRequest & { kind?: string | undefined }) {
  const { rows, at } = await edges(ctx, query, { kind: query.kind });
  return listData('edges', rows.map(viewEdge), at);
}

/** `not_found`. */
export async function readEdge(ctx: Context, id: number) {
  return { edge: viewEdge(await requireRow(ctx, edgeById, { id })) };
}

export async function lockEdge(tx: TxContext, id: number): Promise<void> {
  await tx.db.maybe(lock, { id });
}

function viewEdge(row: EdgeRow) {
  const { id, node_id, node_name, kind, name, engine, reason, capabilities, served, prefixes, nodes } = row;
  const { most_routes, rule_routes, blackholes, communities, next_hop4, next_hop6, routes, peers } = row;
  const isOfRouters = kind === 'routers';
  return {
    ...{ id, name, kind, node: { id: node_id, name: node_name, reachable: row.reachable } },
    ...{ engine, reason, capabilities, served },
    health: {
      ...{ seen_at: row.seen_at, error: row.error, error_since: row.error_since },
      ...{ full_kinds: row.full_kinds, full_since: row.full_since, peers_down_since: row.peers_down_since },
    },
    nodes: kind === 'router' ? nodes : null,
    moving: kind === 'router' ? row.moving : null,
    routers: isOfRouters
      ? { prefixes, most_routes, rule_routes, blackholes, communities, next_hop4, next_hop6, routes, peers }
      : null,
  };
}

export interface EdgeChange {
  name?: string | undefined;
  most_routes?: number | undefined;
  rule_routes?: number | undefined;
  blackholes?: boolean | undefined;
  communities?: string[] | undefined;
  next_hop4?: string | null | undefined;
  next_hop6?: string | null | undefined;
  nodes?: number[] | undefined;
}

const forRouters = [
  'most_routes',
  'rule_routes',
  'blackholes',
  'communities',
  'next_hop4',
  'next_hop6',
] as const;

/**
 * Sets what is named. `not_found`; `conflict` when another edge has the name, or nodes are named and it does not filter; `invalid_request` for what
 * its kind does not have.
 */
export function changeEdge(ctx: Context, id: number, change: EdgeChange) {
  return transaction(ctx, 'shield.changeEdge', async (tx) => {
    await lockEdge(tx, id);
    const before = await requireRow(tx, edgeById, { id });
    checkKind(before, change);
    const { nodes, ...fields } = { ...change, ...readHops(change) };
    const next = {
      ...before,
      ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
    };
    checkCommunities(change.communities ?? []);
    if (next.rule_routes * 2 > next.most_routes)
      throw refuse('rule_routes', 'may be half of most_routes at most: attacks need the rest');
    try {
      await tx.db.run(set, {
        ...{ id, name: next.name, most_routes: next.most_routes, rule_routes: next.rule_routes },
        ...{ blackholes: next.blackholes, communities: next.communities },
        ...{ next_hop4: next.next_hop4, next_hop6: next.next_hop6 },
      });
    } catch (error) {
      throw isDuplicate(error, 'shield_edges_name')
        ? fail('conflict', { message: 'Another edge has this name' })
        : error;
    }
    if (nodes !== undefined) await setNodes(tx, before, nodes);
    const names = Object.keys(change);
    if (names.length > 0)
      await record(tx, edgeChanged, {
        subject: { type: 'shield_edge', id },
        organizationId: null,
        data: { name: before.name, fields: names },
      });
    if (before.kind === 'routers' && before.served)
      await enqueue(tx, announce, { edgeId: id, nodeId: before.node_id }, { nodeId: before.node_id });
    return readEdge(tx, id);
  });
}

function checkKind({ kind }: EdgeRow, change: EdgeChange): void {
  const wrong = forRouters.find((field) => change[field] !== undefined);
  if (kind !== 'routers' && wrong !== undefined) throw refuse(wrong, 'is of routers that are told by BGP');
  if (kind !== 'router' && change.nodes !== undefined)
    throw refuse('nodes', 'is of hosts that only filter, for machines of others');
}

function checkCommunities(texts: readonly string[]): void {
  for (const [nth, text] of texts.entries()) {
    if (text.split(':').some((each) => Number(each) > 65_535))
      throw refuse(`communities[${nth}]`, 'has a number above 65535');
  }
}

/** As addresses are written alike. */
function readHops({ next_hop4, next_hop6 }: EdgeChange): Pick<EdgeChange, 'next_hop4' | 'next_hop6'> {
  const read = (text: string, field: 'next_hop4' | 'next_hop6') => {
    const prefix = requireOneAddress(text, field);
    if (prefix.family !== (field === 'next_hop4' ? 4 : 6)) throw refuse(field, 'is of the other family');
    return addressOf(prefix);
  };
  return {
    ...(next_hop4 != null && { next_hop4: read(next_hop4, 'next_hop4') }),
    ...(next_hop6 != null && { next_hop6: read(next_hop6, 'next_hop6') }),
  };
}

const machineNodes = statement<{ id: number }, { ids: number[] }>(
  'shield.nodesToFilterFor',
  `select n.id from nodes n where n.id = any(:ids::bigint[])
     and n.runs_machines order by n.id for update`,
);
const standBefore = statement<never, { edgeId: number; ids: number[]; now: Date }>(
  'shield.standBefore',
  `insert into shield_fronts (node_id, edge_id, in_charge, created_at)
   select id, :edgeId, id, :now from unnest(:ids::bigint[]) as w(id) order by id
   on conflict (node_id) do update set edge_id = excluded.edge_id`,
);
const standNoMore = statement<never, { edgeId: number; ids: number[] }>(
  'shield.standNoMore',
  'update shield_fronts set edge_id = null where edge_id = :edgeId and not node_id = any(:ids::bigint[])',
);
const takenByOther = statement<{ name: string }, { edgeId: number; ids: number[] }>(
  'shield.otherEdgesBefore',
  `select e.name from shield_fronts f join shield_edges e on e.id = f.edge_id
   where f.node_id = any(:ids::bigint[]) and f.edge_id <> :edgeId order by e.name limit 1`,
);

/**
 * Has an edge filter for the machines of these nodes, and for no others. What is wanted of their addresses goes over to it, or back, once whoever is in
 * charge has handed over. `conflict` when it would not filter.
 */
async function setNodes(tx: TxContext, edge: EdgeRow, ids: readonly number[]): Promise<void> {
  const wanted = [...new Set(ids)];
  const known = await tx.db.many(machineNodes, { ids: wanted });
  if (known.length < wanted.length)
    throw refuse('nodes', 'names a node that there is not, or one that runs no machines itself');
  const other = await tx.db.maybe(takenByOther, { edgeId: edge.id, ids: wanted });
  if (other !== null)
    throw refuse('nodes', `names a node before which ${other.name} stands: take it away there first`);
  const changed = [...new Set([...wanted, ...edge.nodes])].filter(
    (id) => wanted.includes(id) !== edge.nodes.includes(id),
  );
  if (wanted.some((id) => changed.includes(id))) requireFiltering(edge);
  await tx.db.run(standNoMore, { edgeId: edge.id, ids: wanted });
  await tx.db.run(standBefore, { edgeId: edge.id, ids: wanted, now: tx.clock.now() });
  await wantHandedOver(tx, changed);
}

/** What nobody would filter is not taken from where it is filtered. */
function requireFiltering({ name, served, reachable, reason }: EdgeRow): void {
  if (!served || !reachable)
    throw fail('conflict', { message: `${name} is not heard of, so it would not filter for these nodes` });
  if (reason !== null) throw fail('conflict', { message: `${name} filters nothing at present: ${reason}` });
}

const remove = statement<never, { id: number }>(
  'shield.removeEdge',
  'delete from shield_edges where id = :id',
);
const stillNamed = statement<{ count: number }, { id: number }>(
  'shield.edgeStillNamed',
  `select (select count(*) from shield_announcements where edge_id = :id and measure is not null)::int
     + (select count(*) from shield_fronts f join shield_edges e on e.id = :id
       where f.edge_id = e.id or (e.kind = 'router' and f.in_charge = e.node_id))::int as count`,
);
const dropAnnounced = [
  statement<never, { id: number }>(
    'shield.dropAnnouncements',
    'delete from shield_announcements where edge_id = :id',
  ),
  statement<never, { id: number }>(
    'shield.dropRulesAtRouters',
    'delete from shield_announced_rules where edge_id = :id',
  ),
  statement<never, { id: number }>(
    'shield.leaveEdge',
    'update shield_mitigations set edge_id = null where edge_id = :id',
  ),
];

/** Takes an edge out of the list whose process speaks to it no more. `not_found`, `edge_in_use`. */
export function removeEdge(ctx: Context, id: number): Promise<void> {
  return transaction(ctx, 'shield.removeEdge', async (tx) => {
    await lockEdge(tx, id);
    const row = await requireRow(tx, edgeById, { id });
    const { count } = await tx.db.one(stillNamed, { id });
    if ((row.served && row.reachable) || count > 0) throw fail('edge_in_use');
    for (const each of dropAnnounced) await tx.db.run(each, { id });
    await tx.db.run(remove, { id });
    await record(tx, edgeRemoved, {
      subject: { type: 'shield_edge', id },
      organizationId: null,
      data: { name: row.name },
    });
  });
}
