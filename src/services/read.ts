import { isIP } from 'node:net';
import type { Lots } from '../catalog/index.ts';
import { type ListRequest, listData, pagedList } from '../platform/http/index.ts';
import {
  type Context,
  dayOf,
  formatMoney,
  type OrganizationContext,
  requireOwn,
  requireRow,
  statement,
} from '../platform/index.ts';
import { kindOf } from './kinds/table.ts';
import { type Coming, firstRenewalOn, nextOf, priceWith } from './priceMoves/coming.ts';
import { comingOfService } from './priceMoves/queries.ts';
import { actionsOf } from './states.ts';
import { type WaitingFacts, waitingOf } from './waiting.ts';

/** A whole address in what somebody searches for. */
export function addressIn(words: string): string | null {
  return isIP(words) > 0 && !words.includes('%') ? words : null;
}

interface ServiceRow extends WaitingFacts {
  id: number;
  organization_id: number;
  position: number;
  domain: string | null;
  suspend_reason: string | null;
  suspended_at: Date | null;
  cycle: string;
  cancelled: boolean;
  end_reason: string | null;
  first_price_minor: number;
  price_minor: number;
  currency: string;
  duedate: string | null;
  note: string | null;
  auto_renew: boolean;
  options: Record<string, unknown>;
  product_id: number;
  product_type: string;
  product_name: string;
  product_description: string;
  product_price_minor: number | null;
  group_id: number;
  group_name: string;
  primary_ip: string | null;
  /** Until when somebody promised to pay, for it or for all of its organization's. */
  promised_until: string | null;
  anchor_day: number | null;
  unit_prices: Lots;
  coming: Coming[] | null;
  open_renewal: { endsOn: string; priceMoveId: number | null } | null;
}

/** The first address of a service `t`; of an order or an upgrade that is not paid yet, none is shown. */
export const primaryIp = `
    (select host(a.address) from addresses a where a.service_id = t.id and t.status <> 'pending' and not a.held
     order by family(a.address), a.ordinal limit 1)`;

const serviceColumns = `
  t.id, t.organization_id, t.invoice_id, t.position, t.domain, t.status, t.provisioning_state, t.suspend_reason,
    t.suspended_at, t.cycle, t.cancelled, t.created_at, t.first_price_minor, t.price_minor, t.currency, t.duedate,
    t.note, t.auto_renew, t.options, p.id as product_id, p.type as product_type, p.module_id,
    p.name as product_name, p.description as product_description, c.price_minor as product_price_minor,
    g.id as group_id, g.name as group_name, t.delivery_since, t.on_server, t.end_reason,
    case when t.status = 'pending' then (select i.status from invoices i where i.id = t.invoice_id) end as invoice_status,
    case when t.status = 'pending' then (select r.held_at from order_reviews r
      where r.invoice_id = t.invoice_id and r.status = 'held') end as held_at,
    (select coalesce(jsonb_agg(jsonb_build_object('task', w.task, 'since', w.since) order by w.since, w.task), '[]')
     from service_tasks w where w.service_id = t.id) as tasks,
    (select max(w.until) from payment_promises w where w.organization_id = t.organization_id
       and (w.service_id is null or w.service_id = t.id)) as promised_until,
    ${primaryIp} as primary_ip, t.anchor_day, t.unit_prices,
    (${comingOfService('t.id')}) as coming,
    (select jsonb_build_object('endsOn', w.ends_on, 'priceMoveId', w.price_move_id) from service_renewals w
     where w.service_id = t.id and w.state = 'waiting') as open_renewal`;
const withProduct = `
  join products p on p.id = t.product_id
  join product_groups g on g.id = p.group_id
  left join product_prices c on c.product_id = p.id and c.cycle = t.cycle`;
const selectService = `select ${serviceColumns} from services t ${withProduct}`;

/** A service with whose it is and where, for staff. */
export interface StaffServiceRow extends ServiceRow {
  user_id: number;
  node_id: number | null;
  organization_name: string;
}

export const selectServiceForStaff = `
  select ${serviceColumns}, t.user_id, o.name as organization_name,
    (select l.node_id from placements l where l.service_id = t.id) as node_id
  from services t join organizations o on o.id = t.organization_id ${withProduct}`;

const serviceById = statement<ServiceRow, { id: number }>(
  'services.byId',
  `${selectService} where t.id = :id`,
);

/** A name as it is searched for, and the same without its first label: `web1` and `example` find `web1.example.com`. */
export const byName = { by: 'lower(t.domain) collate "C"' };
export const byParent = {
  by: `lower(substr(t.domain, nullif(strpos(t.domain, '.'), 0) + 1)) collate "C"`,
};

/** A note by how it begins; as much of it as fits into an index. */
const byNote = { by: 'lower(left(t.note, 200)) collate "C"' };

const services = pagedList<ServiceRow>({
  name: 'services.list',
  from: 'services t',
  select: selectService,
  within: 't.organization_id = :organizationId',
  filters: {
    status: 't.status = :status',
    productId: 't.product_id = :productId',
    live: `(t.status not in ('cancelled', 'terminated')) = :live::boolean`,
    // One that was ordered and is not paid shows none.
    address: `t.status <> 'pending' and t.id = (select a.service_id from addresses a
      where a.address = :address::inet and not a.held)`,
  },
  key: { by: 't.position', type: 'bigint', of: (row) => row.position },
  sorts: { created_at: null },
  order: '-created_at',
  numbered: true,
  search: [byName, byParent, byNote],
});

/**
 * The organization's services, newest first unless sorted; what is searched for, the beginning of a name or a note, comes
 * in the order of what was found, and a whole address finds the service that has it. Whoever prefers it does not see those that are over, unless they ask for a status.
 */
export async function listServices(
  ctx: OrganizationContext,
  query: ListRequest & { status?: string | undefined; product_id?: number | undefined },
  prefers: { hidesCancelled?: boolean } = {},
) {
  const { organizationId } = ctx;
  const live = (prefers.hidesCancelled === true && query.status === undefined) || undefined;
  const { search, status } = query;
  const address = search === undefined ? undefined : (addressIn(search) ?? undefined);
  const filters = { status, productId: query.product_id, live, address };
  const asked = address === undefined ? query : { ...query, search: undefined };
  const { rows, at } = await services(ctx, asked, { organizationId, ...filters });
  const now = ctx.clock.now();
  return listData(
    'services',
    rows.map((row) => view(row, now, ctx.permissions)),
    at,
  );
}

/** One service of the caller's organization: `not_found`, or `forbidden` when it is another's. */
export async function readService(ctx: OrganizationContext, id: number) {
  const row = await requireOwn(ctx, serviceById, { id });
  return { service: view(row, ctx.clock.now(), ctx.permissions) };
}

/** One service, whoever owns it. */
export async function readServiceForStaff(ctx: Context, id: number) {
  const row = await requireRow(ctx, serviceById, { id });
  return { service: view(row, ctx.clock.now(), null) };
}

export function viewForStaff(row: StaffServiceRow, now: Date) {
  return {
    ...view(row, now, null),
    organization: { id: row.organization_id, name: row.organization_name },
    user_id: row.user_id,
    node_id: row.node_id,
  };
}

/** A service as somebody sees it who holds `permissions`; null is staff. */
function view(row: ServiceRow, now: Date, permissions: ReadonlySet<string> | null) {
  const money = (minor: number) => formatMoney(minor, row.currency);
  return {
    id: row.id,
    type: kindOf(row.module_id).type,
    on_server: row.on_server,
    domain: row.domain,
    hostname: row.domain,
    status: row.status,
    provisioning_state: row.provisioning_state,
    waiting: waitingOf(row),
    invoice_id: row.invoice_id,
    suspend_reason: row.suspend_reason,
    suspended_at: row.suspended_at,
    billingCycle: row.cycle,
    cancelled: row.cancelled,
    end_reason: row.end_reason,
    created_at: row.created_at,
    firstPrice: money(row.first_price_minor),
    price: money(row.price_minor),
    currency: row.currency,
    duedate: row.duedate,
    // One that is over is forgotten: the calendar goes on.
    promised_until: (row.promised_until ?? '') < dayOf(now) ? null : row.promised_until,
    note: row.note,
    auto_renew: row.auto_renew,
    primary_ip: row.primary_ip,
    options: row.options,
    coming_price: viewComing(row, now),
    product: {
      id: row.product_id,
      name: row.product_name,
      description: row.product_description,
      price: row.product_price_minor === null ? null : money(row.product_price_minor),
      group: { id: row.group_id, name: row.group_name },
    },
    actions: actionsOf(
      { ...row, moduleId: row.module_id, onServer: row.on_server, provisioningState: row.provisioning_state },
      now,
      permissions,
    ),
  };
}

/** The new price that its customer was told of, and the first renewal that has it; null while there is none. */
function viewComing(row: ServiceRow, now: Date) {
  const next = nextOf(row.coming ?? [], dayOf(now));
  const runs = row.status === 'active' || row.status === 'suspended';
  if (next === null || !runs || row.cancelled) return null;
  const { cycle, duedate, anchor_day: anchorDay, price_minor: priceMinor } = row;
  const service = { cycle, priceMinor, options: row.options, unitPrices: row.unit_prices };
  const minor = priceWith(next, service);
  const from = firstRenewalOn({ cycle, duedate, anchorDay }, next.earliestOn, openUntilOf(row, next));
  return minor === null || from === null ? null : { price: formatMoney(minor, row.currency), from };
}

/** An invoice that asks for the new price already is not the one that keeps the old. */
function openUntilOf(row: ServiceRow, { moveId }: Coming): string | null {
  return row.open_renewal?.priceMoveId === moveId ? null : (row.open_renewal?.endsOn ?? null);
}
