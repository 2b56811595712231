import { type ListRequest, listData, pagedList } from '../platform/http/index.ts';
import type { StaffContext } from '../platform/index.ts';
import { sentenceOf } from './event.ts';
import { journalKeptSince } from './forgetJournal.ts';

interface AuditRow {
  id: number;
  action: string;
  organization_id: number | null;
  organization: string | null;
  subject_email: string | null;
  subject_organization: string | null;
  subject_type: string;
  subject_id: number;
  actor_type: 'user' | 'api_key' | 'staff' | 'system';
  user_id: number | null;
  email: string | null;
  api_key_id: number | null;
  ip: string | null;
  request_id: string | null;
  data: Record<string, unknown>;
  created_at: Date;
}

const entries = pagedList<AuditRow>({
  name: 'events.audit',
  from: 'journal t',
  select: `select t.id, t.action, t.organization_id, t.subject_type, t.subject_id, t.actor_type, t.user_id, u.email,
      t.api_key_id, host(t.ip) as ip, t.request_id, t.data, t.created_at, o.name as organization,
      s.email as subject_email, so.name as subject_organization
    from journal t left join users u on u.id = t.user_id left join organizations o on o.id = t.organization_id
      left join users s on t.subject_type in ('user', 'staff') and s.id = t.subject_id
      left join organizations so on t.subject_type = 'organization' and so.id = t.subject_id`,
  filters: {
    org: 't.organization_id = :org',
    staff: `t.actor_type = 'staff' and t.user_id = :staff`,
    kind: 't.subject_type = :kind',
    thing: 't.subject_id = :thing',
  },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
  order: '-created_at',
});

export interface AuditFilters {
  organization_id?: number | undefined;
  staff_id?: number | undefined;
  subject_type?: string | undefined;
  subject_id?: number | undefined;
}

/** The journal as it stands, for administrators. */
export async function listAudit(ctx: StaffContext, query: ListRequest & AuditFilters) {
  const keptSince = await journalKeptSince(ctx);
  const { rows, at } = await entries(ctx, query, {
    org: query.organization_id,
    staff: query.staff_id,
    kind: query.subject_type,
    thing: query.subject_id,
  });
  return { ...listData('audit_entries', rows.map(view), at), kept_since: keptSince };
}

function view(row: AuditRow) {
  const { id, action, organization_id: organizationId, request_id, data, created_at } = row;
  const { actor_type: type, user_id, email, api_key_id, ip } = row;
  return {
    ...{ id, action, request_id, data, created_at },
    description: sentenceOf(action),
    organization_id: organizationId,
    organization: organizationId === null ? null : { id: organizationId, name: row.organization ?? '' },
    subject: { type: row.subject_type, id: row.subject_id, name: nameOf(row) },
    actor: { type, user_id, email, api_key_id, ip },
  };
}

/** What entries call the thing that they are of; the most telling one first. */
const names = ['hostname', 'tid', 'number', 'name', 'code', 'slug', 'address', 'recipient', 'section'];

/** By what people know a thing: what it is called now, or what it was called in the entry; null when that says nothing. */
function nameOf({ subject_email: email, subject_organization: organization, data }: AuditRow): string | null {
  const said = names.map((name) => data[name]).find((value) => typeof value === 'string' && value !== '');
  return email ?? organization ?? (said === undefined ? null : String(said));
}
