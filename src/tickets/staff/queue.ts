import {
  type ListDefinition,
  type ListRequest,
  listData,
  pagedList,
  type SortKey,
} from '../../platform/http/index.ts';
import type { Context } from '../../platform/index.ts';
import { ticketSearch } from '../search.ts';
import { staffScope } from '../words.ts';
import { type StaffRow, selectForStaff, viewForStaff } from './read.ts';

const lastReply: SortKey<StaffRow> = {
  by: 't.last_reply_at',
  type: 'timestamptz',
  of: (row) => row.last_reply_at.toISOString(),
};
const due: SortKey<StaffRow> = { by: 't.due_at', type: 'timestamptz', of: (row) => row.due_at.toISOString() };

const common = {
  from: 'tickets t',
  select: selectForStaff,
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  countCap: 1_000,
} satisfies Partial<ListDefinition<StaffRow>>;

/** What waits for staff or a customer. */
const queue = pagedList<StaffRow>({
  ...common,
  name: 'tickets.queue',
  within: `t.status <> 'closed'`,
  filters: {
    status: 't.status = :status',
    dept: 't.department = :dept',
    prio: 't.priority = :prio',
    who: 'coalesce(t.assigned_to, 0) = :who',
    org: 't.organization_id = :org',
  },
  sorts: { due, lastReply },
  order: 'due',
});

/** What is done with: nothing of it is due. */
const closed = pagedList<StaffRow>({
  ...common,
  name: 'tickets.closed',
  within: `t.status = 'closed' and t.merged_into is null`,
  filters: { dept: 't.department = :dept', org: 't.organization_id = :org' },
  sorts: { lastReply },
  order: '-lastReply',
});

const search = ticketSearch<StaffRow>({
  name: 'tickets.all',
  select: selectForStaff,
  within: 'true',
  filters: `(:status::text is null or t.status = :status) and (:dept::text is null or t.department = :dept)
    and (:prio::text is null or t.priority = :prio) and (:who::bigint is null or coalesce(t.assigned_to, 0) = :who)
    and (:org::bigint is null or t.organization_id = :org)`,
});

interface QueueFilters {
  status?: string | undefined;
  department?: string | undefined;
  priority?: string | undefined;
  assigned_to?: number | undefined;
  organization_id?: number | undefined;
}

/** What is due first; with `search` whatever has the words, also what is closed. */
export async function listQueue(ctx: Context, query: ListRequest & QueueFilters) {
  const { rows, at } = await find(ctx, query);
  const now = ctx.clock.now();
  return listData(
    'tickets',
    rows.map((row) => viewForStaff(row, now)),
    at,
  );
}

function find(ctx: Context, query: ListRequest & QueueFilters) {
  const {
    status,
    department: dept,
    priority: prio,
    assigned_to: who,
    organization_id: org,
    search: text,
  } = query;
  if (text !== undefined) {
    const given = {
      status: status ?? null,
      dept: dept ?? null,
      prio: prio ?? null,
      who: who ?? null,
      org: org ?? null,
    };
    return search(ctx, { ...query, search: text }, staffScope, given);
  }
  if (status === 'closed') return closed(ctx, { ...query, sort: '-lastReply' }, { dept, org });
  return queue(ctx, query, { status, dept, prio, who, org });
}
