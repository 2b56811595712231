import { type ListRequest, listData, pagedList } from '../platform/http/index.ts';
import type { Context } from '../platform/index.ts';

interface MailRecord {
  id: number;
  recipient: string;
  subject: string;
  body: string;
  state: 'queued' | 'kept' | 'sent' | 'failed';
  error: string | null;
  created_at: Date;
  sent_at: Date | null;
}

const mails = pagedList<MailRecord>({
  name: 'events.mails',
  from: 'mails t',
  select:
    'select t.id, t.recipient, t.subject, t.body, t.state, t.error, t.created_at, t.sent_at from mails t',
  filters: { recipient: 't.recipient = :recipient' },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
  order: '-created_at',
});

/** The mails that were written, to one address or to all, newest first unless sorted. */
export async function listMails(ctx: Context, query: ListRequest & { recipient?: string | undefined }) {
  const { rows, at } = await mails(ctx, query, { recipient: query.recipient });
  return listData('mails', rows, at);
}
