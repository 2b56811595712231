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
import { prefixAdded, prefixRemoved } from '../events.ts';
import { requirePrefix } from '../owned.ts';
import { announce } from './announce.ts';

interface PrefixRow {
  id: number;
  edge_id: number;
  edge_name: string;
  node_id: number;
  served: boolean;
  network: string;
  created_at: Date;
}

const from = 'shield_prefixes p join shield_edges e on e.id = p.edge_id';
const select = `select p.id, p.edge_id, e.name as edge_name, e.node_id, e.served, p.network::text as network, p.created_at from ${from}`;
const prefixes = pagedList<PrefixRow>({
  name: 'shield.prefixes',
  from,
  select,
  filters: { edgeId: 'p.edge_id = :edgeId' },
  key: { by: 'p.id', type: 'bigint', of: (row) => row.id },
  sorts: { id: null },
  order: 'id',
});
const prefixById = statement<PrefixRow, { id: number }>('shield.prefix', `${select} where p.id = :id`);
const lock = statement<{ id: number }, { id: number }>(
  'shield.lockPrefix',
  'select id from shield_prefixes where id = :id for update',
);
const routersToTell = statement<Pick<PrefixRow, 'node_id' | 'served'> & { name: string }, { id: number }>(
  'shield.routersToTell',
  `select node_id, served, name from shield_edges where id = :id and kind = 'routers' for share`,
);
const hasAddresses = statement<{ is_ours: boolean }, { network: string }>(
  'shield.hasAddresses',
  'select exists (select 1 from address_pools where network && :network::cidr) as is_ours',
);
const insert = statement<{ id: number }, { edgeId: number; network: string; now: Date }>(
  'shield.addPrefix',
  'insert into shield_prefixes (edge_id, network, created_at) values (:edgeId, :network::cidr, :now) returning id',
);
const remove = statement<never, { id: number }>(
  'shield.removePrefix',
  'delete from shield_prefixes where id = :id',
);

export async function listPrefixes(ctx: Context, query: ListRequest & { edge_id?: number | undefined }) {
  const { rows, at } = await prefixes(ctx, query, { edgeId: query.edge_id });
  return listData('prefixes', rows.map(view), at);
}

/** `not_found`. */
export async function readProtectedPrefix(ctx: Context, id: number) {
  return { prefix: view(await requireRow(ctx, prefixById, { id })) };
}

export async function lockPrefix(tx: TxContext, id: number): Promise<void> {
  await tx.db.maybe(lock, { id });
}

function view({ id, edge_id, edge_name, network, created_at }: PrefixRow) {
  return { id, edge: { id: edge_id, name: edge_name }, network, created_at };
}

/** Lets routers be told of a network's addresses. `invalid_request`, `conflict`. */
export function addPrefix(ctx: Context, { edge_id, network: sent }: { edge_id: number; network: string }) {
  const { text: network } = requirePrefix(sent, 'network');
  return transaction(ctx, 'shield.addPrefix', async (tx) => {
    const edge = await tx.db.maybe(routersToTell, { id: edge_id });
    if (edge === null) throw refuse('edge_id', 'names no routers that are told by BGP');
    if (!(await tx.db.one(hasAddresses, { network })).is_ours)
      throw refuse('network', 'has no addresses of yours: no address pool has any there');
    const row = await insertOnce(tx, edge_id, network);
    await record(tx, prefixAdded, {
      subject: { type: 'shield_edge', id: edge_id },
      organizationId: null,
      data: { name: edge.name, network },
    });
    await tellOf(tx, { edge_id, ...edge });
    return readProtectedPrefix(tx, row.id);
  });
}

async function insertOnce(tx: TxContext, edgeId: number, network: string): Promise<{ id: number }> {
  try {
    return await tx.db.one(insert, { edgeId, network, now: tx.clock.now() });
  } catch (error) {
    if (!isDuplicate(error, 'shield_prefixes_network')) throw error;
    throw fail('conflict', { message: 'These routers may be told of this network already' });
  }
}

/** Has routers told of it no more; what stands there is withdrawn. `not_found`. */
export function removePrefix(ctx: Context, id: number): Promise<void> {
  return transaction(ctx, 'shield.removePrefix', async (tx) => {
    await lockPrefix(tx, id);
    const row = await requireRow(tx, prefixById, { id });
    await tx.db.run(remove, { id });
    await record(tx, prefixRemoved, {
      subject: { type: 'shield_edge', id: row.edge_id },
      organizationId: null,
      data: { name: row.edge_name, network: row.network },
    });
    await tellOf(tx, row);
  });
}

async function tellOf(
  tx: TxContext,
  { edge_id: edgeId, node_id: nodeId, served }: Pick<PrefixRow, 'edge_id' | 'node_id' | 'served'>,
): Promise<void> {
  // Nobody speaks to them otherwise; who does one day begins with comparing.
  if (served) await enqueue(tx, announce, { edgeId, nodeId }, { nodeId });
}
