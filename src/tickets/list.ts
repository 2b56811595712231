import { type ListRequest, listData, pagedList } from '../platform/http/index.ts';
import type { OrganizationContext } from '../platform/index.ts';
import { type ShownRow, shownColumns, viewOf, withOpener } from './read.ts';
import { ticketSearch } from './search.ts';
import { actionsOf } from './states.ts';
import { scopeOf } from './words.ts';

const select = `select ${shownColumns} from tickets t ${withOpener}`;

const tickets = pagedList<ShownRow>({
  name: 'tickets.of',
  from: 'tickets t',
  select,
  within: 't.organization_id = :organizationId and t.merged_into is null',
  filters: {
    status: 't.status = :status',
    dept: 't.department = :dept',
    prio: 't.priority = :prio',
    service: 't.service_id = :service',
  },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    lastReply: { by: 't.last_reply_at', type: 'timestamptz', of: (row) => row.last_reply_at.toISOString() },
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
  order: '-lastReply',
  countCap: 1_000,
});

const search = ticketSearch<ShownRow>({
  name: 'tickets.of',
  select,
  within: 't.organization_id = :organizationId',
  filters: `(:status::text is null or t.status = :status) and (:dept::text is null or t.department = :dept)
    and (:prio::text is null or t.priority = :prio) and (:service::bigint is null or t.service_id = :service)`,
});

interface TicketFilters {
  status?: string | undefined;
  department?: string | undefined;
  priority?: string | undefined;
  service_id?: number | undefined;
}

/** The organization's tickets, the one with the newest reply first unless sorted. */
export async function listTickets(ctx: OrganizationContext, query: ListRequest & TicketFilters) {
  const { status, department: dept, priority: prio, service_id: service, search: text } = query;
  const given = { organizationId: ctx.organizationId, status, dept, prio, service };
  const { rows, at } =
    text === undefined
      ? await tickets(ctx, query, given)
      : await search(ctx, { ...query, search: text }, scopeOf(ctx.organizationId), {
          ...{ organizationId: ctx.organizationId, status: status ?? null, dept: dept ?? null },
          ...{ prio: prio ?? null, service: service ?? null },
        });
  return listData(
    'tickets',
    rows.map((row) => ({ ...viewOf(row), actions: actionsOf(row.status) })),
    at,
  );
}
