import { type Context, formatMoney, statement } from '../../platform/index.ts';
import type { TicketStatus } from '../states.ts';

const most = 10;

interface ServiceRow {
  id: number;
  domain: string | null;
  product: string;
  status: string;
  duedate: string | null;
}
interface InvoiceRow {
  id: number;
  status: string;
  currency: string;
  due_minor: number;
  expires_at: Date;
}
interface ActionRow {
  id: number;
  service_id: number;
  command: string;
  error_message: string | null;
  created_at: Date;
}
interface OtherRow {
  tid: string;
  subject: string;
  status: TicketStatus;
  last_reply_at: Date;
}

interface Of {
  organizationId: number;
  limit: number;
}

const servicesOf = statement<ServiceRow, Of>(
  'tickets.servicesBeside',
  `select s.id, s.domain, p.name as product, s.status, s.duedate from services s join products p on p.id = s.product_id
   where s.organization_id = :organizationId order by s.position desc limit :limit`,
);
const openInvoicesOf = statement<InvoiceRow, Of>(
  'tickets.invoicesBeside',
  `select i.id, i.status, i.currency, i.total_minor - i.paid_minor as due_minor, i.expires_at from invoices i
   where i.organization_id = :organizationId and i.status = 'unpaid' order by i.position desc limit :limit`,
);
const failedActionsOf = statement<ActionRow, Of & { since: Date }>(
  'tickets.actionsBeside',
  `select a.id, a.service_id, a.command, a.error_message, a.created_at
   from (select s.id from services s where s.organization_id = :organizationId and s.status in ('pending', 'active', 'suspended')
         order by s.position desc limit 50) s
   cross join lateral (select * from vps_actions v where v.service_id = s.id and v.created_at > :since
     order by v.created_at desc, v.id desc limit 20) a
   where a.status = 'error' order by a.created_at desc, a.id desc limit :limit`,
);
const otherTicketsOf = statement<OtherRow, Of & { id: number }>(
  'tickets.ticketsBeside',
  `select t.tid, t.subject, t.status, t.last_reply_at from tickets t
   where t.organization_id = :organizationId and t.merged_into is null and t.id <> :id
   order by t.last_reply_at desc, t.id desc limit :limit`,
);

const monthMs = 30 * 86_400_000;

/** What is to be known of a ticket's customer while answering: ten each, the newest first. */
export async function besideOf(
  ctx: Context,
  { id, organization_id: organizationId }: { id: number; organization_id: number },
) {
  const of = { organizationId, limit: most };
  const since = new Date(ctx.clock.now().getTime() - monthMs);
  const [services, invoices, actions, tickets] = await Promise.all([
    ctx.db.many(servicesOf, of),
    ctx.db.many(openInvoicesOf, of),
    ctx.db.many(failedActionsOf, { ...of, since }),
    ctx.db.many(otherTicketsOf, { ...of, id }),
  ]);
  return {
    services,
    open_invoices: invoices.map(({ id: invoiceId, currency, due_minor, expires_at }) => ({
      ...{ id: invoiceId, currency, due: formatMoney(due_minor, currency), expires_at },
    })),
    failed_actions: actions.map(({ error_message: message, ...action }) => ({ ...action, message })),
    tickets: tickets.map(({ last_reply_at: lastReply, ...ticket }) => ({ ...ticket, lastReply })),
  };
}
