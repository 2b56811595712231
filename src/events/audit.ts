import { type ListRequest, listData, pagedList } from '../platform/http/index.ts';
import type { StaffContext } from '../platform/index.ts';
import { journalKeptSince } from './forgetJournal.ts';

interface AuditRow {
  id: number;
  action: string;
  organization_id: number | null;
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
      t.api_key_id, host(t.ip) as ip, t.request_id, t.data, t.created_at
    from journal t left join users u on u.id = t.user_id`,
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

function view({ subject_type, subject_id, actor_type, user_id, email, api_key_id, ip, ...row }: AuditRow) {
  return {
    ...row,
    subject: { type: subject_type, id: subject_id },
    actor: { type: actor_type, user_id, email, api_key_id, ip },
  };
}
