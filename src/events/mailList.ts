import { type ListRequest, listData, pagedList } from '../platform/http/index.ts';
import type { StaffContext } from '../platform/index.ts';
import { type MailLink, withLink } from './mailLink.ts';

interface MailRecord {
  id: number;
  recipient: string;
  subject: string;
  body: string;
  link: MailLink | null;
  state: 'queued' | 'kept' | 'sent' | 'failed';
  error: string | null;
  created_at: Date;
  sent_at: Date | null;
}

const mails = pagedList<MailRecord>({
  name: 'events.mails',
  from: 'mails t',
  select:
    'select t.id, t.recipient, t.subject, t.body, t.link, t.state, t.error, t.created_at, t.sent_at from mails t',
  filters: { recipient: 't.recipient = :recipient' },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
  order: '-created_at',
});

/**
 * The mails that were written, to one address or to all, newest first unless sorted. A link that lets somebody in stays
 * out of them; only where mails do not leave the product, an administrator has it to hand on.
 */
export async function listMails(ctx: StaffContext, query: ListRequest & { recipient?: string | undefined }) {
  const { rows, at } = await mails(ctx, query, { recipient: query.recipient });
  const show = ({ link, ...mail }: MailRecord) => {
    const isReadHere = mail.state === 'kept' && ctx.staffRole === 'administrator';
    return isReadHere ? { ...mail, body: withLink(mail.body, link, ctx.seal, ctx.config.publicUrl) } : mail;
  };
  return listData('mails', rows.map(show), at);
}
