import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type Context, requireRow, type StaffContext, statement } from '../../platform/index.ts';
import { type MailLink, withLink } from './link.ts';

interface MailRecord {
  id: number;
  recipient: string;
  subject: string;
  body: string;
  link: MailLink | null;
  state: 'queued' | 'kept' | 'sent' | 'failed';
  error: string | null;
  answer: string | null;
  template: string;
  language: string;
  sendings: number;
  address_bounced_at: Date | null;
  created_at: Date;
  sent_at: Date | null;
}

const select = `select t.id, t.recipient, t.subject, t.body, t.link, t.state, t.error, t.answer, t.template, t.language,
  t.sendings, t.created_at, t.sent_at,
  (select b.bounced_at from bounced_addresses b where b.address = lower(t.recipient)) as address_bounced_at from mails t`;
const mailById = statement<MailRecord, { id: number }>('events.mail', `${select} where t.id = :id`);

const mails = pagedList<MailRecord>({
  name: 'events.mails',
  from: 'mails t',
  select,
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
  return listData(
    'mails',
    rows.map((row) => shown(ctx, row)),
    at,
  );
}

/** One mail as the list has it. `not_found`. */
export async function readMail(ctx: Context & { staffRole?: string }, id: number) {
  return { mail: shown(ctx, await requireRow(ctx, mailById, { id })) };
}

function shown(ctx: Context & { staffRole?: string }, { link, template, ...mail }: MailRecord) {
  const isReadHere = mail.state === 'kept' && ctx.staffRole === 'administrator';
  const body = isReadHere ? withLink(mail.body, link, ctx.seal, ctx.config.publicUrl) : mail.body;
  return { ...mail, body, event: template };
}
