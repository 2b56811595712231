import {
  type Context,
  type OrganizationContext,
  requireOwn,
  requireRow,
  statement,
} from '../platform/index.ts';
import { attachmentsBeside } from './attachments/read.ts';
import { byTid, plainTid } from './rows.ts';
import { actionsOf, type Priority, type TicketStatus } from './states.ts';

/** A ticket as it is shown, with who opened it. */
export interface ShownRow {
  id: number;
  organization_id: number;
  tid: string;
  subject: string;
  department: string;
  priority: Priority;
  status: TicketStatus;
  created_at: Date;
  last_reply_at: Date;
  closed_at: Date | null;
  service_id: number | null;
  user_id: number | null;
  first_name: string | null;
  last_name: string | null;
  email: string | null;
}

export const shownColumns = `t.id, t.organization_id, t.tid, t.subject, t.department, t.priority, t.status, t.created_at,
  t.last_reply_at, t.closed_at, t.service_id, t.user_id, u.first_name, u.last_name, u.email`;
export const withOpener = 'left join users u on u.id = t.user_id';

const shownByTid = statement<ShownRow & { merged_tids: string[] }, { tid: string }>(
  'tickets.shownByTid',
  `select ${shownColumns},
     array(select p.tid from tickets p where p.merged_into = t.id order by p.created_at, p.id) as merged_tids
   from tickets t ${withOpener} where ${byTid}`,
);

export interface MessageRow {
  id: number;
  kind: 'customer' | 'staff' | 'note';
  message: string;
  quoted: string | null;
  created_at: Date;
  user_id: number | null;
  first_name: string | null;
  last_name: string | null;
  email: string | null;
  staff_role: string | null;
  author_name: string | null;
  author_email: string | null;
  from_tid: string | null;
  attachments: { id: number; name: string; type: string; size: number }[];
}

const mostShown = 200;

const messagesOf = statement<
  MessageRow,
  { ticketId: number; withNotes: boolean; before: number | null; limit: number }
>(
  'tickets.messagesOf',
  `select m.id, m.kind, m.message, m.quoted, m.created_at, m.user_id, u.first_name, u.last_name, u.email, u.staff_role,
     m.author_name, m.author_email, f.tid as from_tid, ${attachmentsBeside} as attachments
   from ticket_messages m left join users u on u.id = m.user_id left join tickets f on f.id = m.from_ticket_id
   where m.ticket_id = :ticketId and (:withNotes or m.kind <> 'note')
     and (:before::bigint is null or (m.created_at, m.number) <
       (select b.created_at, b.number from ticket_messages b where b.id = :before and b.ticket_id = :ticketId and (:withNotes or b.kind <> 'note')))
   order by m.created_at desc, m.number desc limit :limit`,
);

const countBefore = statement<{ count: number }, { ticketId: number; withNotes: boolean; first: number }>(
  'tickets.countBefore',
  `select count(*)::int as count from ticket_messages m, ticket_messages b
   where m.ticket_id = :ticketId and b.id = :first and (:withNotes or m.kind <> 'note')
     and (m.created_at, m.number) < (b.created_at, b.number)`,
);

interface Reading {
  /** Id of a reply: those before it. */
  before?: number | undefined;
}

/** One ticket of the caller's organization with what was written: `not_found`, `forbidden`. */
export async function readTicket(ctx: OrganizationContext, tid: string, { before }: Reading = {}) {
  const row = await requireOwn(ctx, shownByTid, { tid: plainTid(tid) });
  const { messages, earlier } = await readMessages(ctx, row.id, before ?? null, false);
  const ticket = {
    ...viewOf(row),
    replies: messages.map(viewReply),
    earlier_replies: earlier,
    merged_tids: row.merged_tids,
    actions: actionsOf(row.status),
  };
  return { ticket };
}

/** The subject alone, of which a change has its tag. */
export async function readSubject(ctx: OrganizationContext, tid: string) {
  const { subject } = await requireOwn(ctx, shownByTid, { tid: plainTid(tid) });
  return { subject };
}

/** Whoever's ticket it is. */
export function requireShown(ctx: Context, tid: string) {
  return requireRow(ctx, shownByTid, { tid: plainTid(tid) });
}

/** The newest of what was written, or of what was before a message, the oldest first; notes are for staff. */
export async function readMessages(
  ctx: Context,
  ticketId: number,
  before: number | null,
  withNotes: boolean,
) {
  const asked = { ticketId, withNotes, before, limit: mostShown };
  const messages = (await ctx.db.many(messagesOf, asked)).toReversed();
  const first = messages[0]?.id;
  const isAll = first === undefined || messages.length < mostShown;
  const earlier = isAll ? 0 : (await ctx.db.one(countBefore, { ticketId, withNotes, first })).count;
  return { messages, earlier };
}

export function viewOf(row: ShownRow) {
  return {
    id: row.id,
    tid: row.tid,
    subject: row.subject,
    department: row.department,
    priority: row.priority,
    status: row.status,
    created_at: row.created_at,
    lastReply: row.last_reply_at,
    closed_at: row.closed_at,
    service_id: row.service_id,
    user: writerOf(row),
  };
}

export function viewReply(row: MessageRow) {
  const isStaff = row.kind !== 'customer';
  const name = row.author_name ?? nameOf(row);
  return {
    id: row.id,
    name,
    email: isStaff ? null : (row.author_email ?? row.email),
    adminName: isStaff ? name : null,
    adminRole: isStaff ? row.staff_role : null,
    message: row.message,
    quoted: row.quoted,
    created_at: row.created_at,
    updated_at: row.created_at,
    user: isStaff ? null : writerOf(row),
    attachments: row.attachments,
  };
}

interface Named {
  user_id: number | null;
  first_name: string | null;
  last_name: string | null;
  email: string | null;
}

function writerOf({ user_id: id, first_name, last_name, email }: Named) {
  return id === null
    ? null
    : { id, first_name: first_name ?? '', last_name: last_name ?? '', email: email ?? '' };
}

export function nameOf({ first_name, last_name }: Pick<Named, 'first_name' | 'last_name'>): string {
  return [first_name, last_name].filter(Boolean).join(' ');
}
