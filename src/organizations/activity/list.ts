import { allEvents, journalKeptSince, sentenceOf, toldOf, toldTo } from '../../events/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { fail, type OrganizationContext } from '../../platform/index.ts';
import { requireChosen } from '../chosen.ts';

interface EntryRow {
  id: number;
  action: string;
  subject_type: string;
  subject_id: number;
  actor_type: 'user' | 'api_key' | 'staff' | 'system';
  ip: string | null;
  created_at: Date;
  user_id: number | null;
  first_name: string | null;
  last_name: string | null;
  email: string | null;
  api_key_id: number | null;
  key_name: string | null;
  key_prefix: string | null;
  data: Record<string, unknown>;
}

const entries = pagedList<EntryRow>({
  name: 'organizations.activity',
  from: 'journal t',
  select: `select t.id, t.action, t.subject_type, t.subject_id, t.actor_type, host(t.ip) as ip, t.created_at, t.user_id,
      u.first_name, u.last_name, u.email, t.api_key_id, k.name as key_name, k.prefix as key_prefix, t.data
    from journal t left join users u on u.id = t.user_id left join api_keys k on k.id = t.api_key_id`,
  within: `t.organization_id = :organizationId and t.created_at >= :since::timestamptz
    and t.created_at < :until::timestamptz`,
  filters: {
    action: 't.action = :action',
    who: 't.user_id = :who',
    what: 't.subject_type = :what and t.subject_id = :whatId::bigint',
  },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
  order: '-created_at',
  bounds: { since: 'since', until: 'until' },
  countCap: 1_000,
});

interface ActivityRequest extends ListRequest {
  action?: string | undefined;
  user_id?: number | undefined;
  subject?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

/** Everything that anyone did to what is the organization's, newest first. `not_found`, `forbidden`. */
export async function listActivity(ctx: OrganizationContext, id: number, query: ActivityRequest) {
  await requireChosen(ctx, id);
  const keptSince = await journalKeptSince(ctx);
  const [what, whatId] = query.subject?.split(':') ?? [];
  const { rows, at } = await entries(ctx, query, {
    organizationId: id,
    action: query.action === undefined ? undefined : eventCalled(query.action),
    who: query.user_id,
    ...{ what, whatId },
    since: momentOf(query.since, 'since') ?? '-infinity',
    until: momentOf(query.until, 'until') ?? 'infinity',
  });
  return {
    ...listData(
      'activity',
      rows.map((row) => view(row, ctx.permissions)),
      at,
    ),
    kept_since: keptSince,
  };
}

/** `invoice.paid` is called `invoice_paid` here. */
function actionOf(event: string): string {
  return event.replaceAll('.', '_');
}

let events: Map<string, { name: string }> | null = null;

/** Events by what they are called here; all rooms are loaded by the time that somebody asks. */
function known() {
  events ??= new Map(allEvents().map((event) => [actionOf(event.name), event]));
  return events;
}

function eventCalled(action: string): string {
  return known().get(action)?.name ?? action;
}

function momentOf(text: string | undefined, field: string): string | undefined {
  if (text === undefined) return undefined;
  const moment = new Date(text);
  if (!Number.isNaN(moment.getTime())) return moment.toISOString();
  throw fail('invalid_request', {
    details: [{ field: `query.${field}`, message: 'is no moment that there is' }],
  });
}

function view(row: EntryRow, permissions: ReadonlySet<string>) {
  const isStaff = row.actor_type === 'staff';
  const name = { first_name: row.first_name ?? '', last_name: row.last_name ?? '' };
  const { user_id: userId, subject_type: type, subject_id: subjectId } = row;
  return {
    id: row.id,
    action: actionOf(row.action),
    description: sentenceOf(row.action),
    // As by streams: what a permission of its own reads is not read by this one.
    values: toldTo(row.action, permissions) ? toldOf(row.action, row.data) : {},
    created_at: row.created_at,
    user: userId === null || isStaff ? null : { id: userId, ...name, email: row.email ?? '' },
    // The provider's people are known by name; from where they work is the provider's.
    admin: isStaff ? name : null,
    api_key:
      row.api_key_id === null || isStaff
        ? null
        : { id: row.api_key_id, name: row.key_name ?? '', key: `${row.key_prefix ?? ''}…` },
    ip: isStaff ? null : row.ip,
    subject: { type, id: subjectId },
    invoice: type === 'invoice' ? { id: subjectId } : null,
    service: type === 'service' ? { id: subjectId } : null,
  };
}
