import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type Context, formatMoney, requireRow } from '../../platform/index.ts';
import type { ServiceStatus } from '../states.ts';
import { viewMove } from './request.ts';
import { type MoveRow, moveById, selectMove } from './row.ts';

const moves = pagedList<MoveRow>({
  name: 'services.priceMoves',
  from: 'price_moves t',
  select: selectMove,
  filters: { productId: 't.product_id = :productId' },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: { created_at: null },
  order: '-created_at',
});

/** One service of a move. */
interface MovedRow {
  serviceId: number;
  hostname: string | null;
  status: ServiceStatus;
  organizationId: number;
  organization: string;
  state: 'waiting' | 'telling' | 'told' | 'moved' | 'ended' | 'revoked';
  cycle: string;
  currency: string;
  beforeMinor: number;
  afterMinor: number;
  toldOn: string | null;
  countsOn: string | null;
  movedOn: string | null;
}

const services = pagedList<MovedRow>({
  name: 'services.ofPriceMove',
  from: 'service_price_moves t',
  select: `
    select t.service_id as "serviceId", s.domain as hostname, s.status, t.organization_id as "organizationId",
      o.name as organization, t.state, s.cycle, s.currency, t.before_minor as "beforeMinor",
      t.after_minor as "afterMinor", t.told_on as "toldOn", t.counts_on as "countsOn", t.moved_on as "movedOn"
    from service_price_moves t join services s on s.id = t.service_id
      join organizations o on o.id = t.organization_id`,
  within: 't.move_id = :moveId',
  filters: { state: 't.state = :state' },
  key: { by: 't.service_id', type: 'bigint', of: (row) => row.serviceId },
  sorts: { id: null },
  order: 'id',
});

/** Moves of prices, the newest first, with how many services are how far. */
export async function listMoves(ctx: Context, query: ListRequest & { product_id?: number | undefined }) {
  const { rows, at } = await moves(ctx, query, { productId: query.product_id });
  return listData('price_moves', rows.map(viewMove), at);
}

/** The services of a move, in the order of their ids. `not_found`. */
export async function listServicesOfMove(
  ctx: Context,
  moveId: number,
  query: ListRequest & { state?: MovedRow['state'] | undefined },
) {
  await requireRow(ctx, moveById, { id: moveId });
  const { rows, at } = await services(ctx, query, { moveId, state: query.state });
  return listData('services', rows.map(view), at);
}

function view(row: MovedRow) {
  return {
    service: { id: row.serviceId, hostname: row.hostname, status: row.status },
    organization: { id: row.organizationId, name: row.organization },
    state: row.state,
    cycle: row.cycle,
    price_before: formatMoney(row.beforeMinor, row.currency),
    price_after: formatMoney(row.afterMinor, row.currency),
    currency: row.currency,
    told_on: row.toldOn,
    counts_on: row.countsOn,
    moved_on: row.movedOn,
  };
}
