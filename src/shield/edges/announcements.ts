import type { LeftOut, Measure } from '../../drivers/edge/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import type { Context } from '../../platform/index.ts';
import { readEdge } from './staff.ts';

interface Row {
  address: string;
  organization_id: number;
  service_id: number;
  measure: Measure | null;
  generation: number;
  held: number | null;
  held_since: Date | null;
  error: string | null;
}

const announcements = pagedList<Row>({
  name: 'shield.announcements',
  from: 'shield_announcements n',
  select: `select host(n.address) as address, n.organization_id, n.service_id, n.measure, n.generation, n.held, n.held_since, n.error
    from shield_announcements n`,
  within: 'n.edge_id = :edgeId',
  key: { by: 'n.address', type: 'inet', of: (row) => row.address },
  sorts: { address: null },
  order: 'address',
});

/** What routers are told against attacks. `not_found`. */
export async function listAnnouncements(ctx: Context, id: number, query: ListRequest) {
  await readEdge(ctx, id);
  const { rows, at } = await announcements(ctx, query, { edgeId: id });
  return listData('announcements', rows.map(view), at);
}

function view({ address, organization_id, service_id, measure, generation, held, held_since, error }: Row) {
  return {
    ...{ address, organization_id, service_id },
    measure:
      measure === null ? null : measure.kind === 'blackhole' ? ('blackhole' as const) : ('flowspec' as const),
    rules: measure?.kind === 'filter' ? measure.rules.length + measure.exempt.length : 0,
    ...{ in_force: held === generation && error === null, since: held_since, error },
  };
}

interface RulesRow {
  address: string;
  organization_id: number;
  routes: number;
  left_out: LeftOut[];
  error: string | null;
  updated_at: Date;
}

const rules = pagedList<RulesRow>({
  name: 'shield.rulesAtRouters',
  from: 'shield_announced_rules n',
  select: `select host(n.address) as address, n.organization_id, n.routes, n.left_out, n.error, n.updated_at
    from shield_announced_rules n`,
  within: 'n.edge_id = :edgeId',
  key: { by: 'n.address', type: 'inet', of: (row) => row.address },
  sorts: { address: null },
  order: 'address',
});

/** Of whose rules routers are told, and what they cannot be told of them. `not_found`. */
export async function listRulesAtRouters(ctx: Context, id: number, query: ListRequest) {
  await readEdge(ctx, id);
  const { rows, at } = await rules(ctx, query, { edgeId: id });
  return listData('rules', rows, at);
}
