import { staffAddresses } from '../account/index.ts';
import { record } from '../events/index.ts';
import { ownerOf, permissionsOf } from '../organizations/index.ts';
import { statement, type TxContext } from '../platform/index.ts';
import type { Attached } from './attachments/attach.ts';
import { ticketCustomerTold, ticketDepartmentTold } from './events.ts';
import { nameOf } from './read.ts';
import type { TicketRow } from './rows.ts';
import { departmentOf } from './settings.ts';
import type { Author } from './write.ts';

type Named = Pick<TicketRow, 'id' | 'organization_id' | 'tid' | 'subject' | 'department'>;

const nameOfUser = statement<{ first_name: string; last_name: string }, { id: number }>(
  'tickets.nameOfUser',
  'select first_name, last_name from users where id = :id',
);

/** Tells the department of a ticket by mail that its customer wrote. */
export async function tellDepartment(
  tx: TxContext,
  ticket: Named,
  { author, isNew, attached }: { author: Author; isNew: boolean; attached: readonly Attached[] },
): Promise<void> {
  const attachments = attached.map(({ id, name }) => ({
    name,
    url: `${tx.config.publicUrl}/api/staff/tickets/attachments/${id}`,
  }));
  const from =
    author.userId === null ? author.name : nameOf(await tx.db.one(nameOfUser, { id: author.userId }));
  for (const recipient of await addressesOf(tx, ticket.department)) {
    await record(tx, ticketDepartmentTold, {
      subject: { type: 'ticket', id: ticket.id },
      // Who works for the provider is not its customers' to read.
      organizationId: null,
      data: { recipient, tid: ticket.tid, subject: ticket.subject, from, is_new: isNew, attachments },
    });
  }
}

async function addressesOf(tx: TxContext, slug: string): Promise<string[]> {
  const { email } = await departmentOf(tx, slug);
  if (email !== null) return [email];
  const { staffEmail } = tx.config;
  if (staffEmail === 'off') return [];
  return staffEmail === null ? staffAddresses(tx, ['administrator', 'support']) : [staffEmail];
}

const takingPart = statement<{ user_id: number; role: string }, { ticketId: number; organizationId: number }>(
  'tickets.takingPart',
  `select m.user_id, m.role from memberships m
   where m.organization_id = :organizationId and m.user_id in
     (select t.user_id from tickets t where t.id = :ticketId
      union select w.user_id from ticket_messages w where w.ticket_id = :ticketId and w.kind = 'customer')
   order by m.user_id`,
);

// What came by mail from somebody of this ticket; it may have become a part of another one since.
const lastMailOf = statement<{ message_id: string | null }, { ticketId: number; userId: number }>(
  'tickets.lastMailOf',
  `select c.message_id from ticket_messages m join ticket_mails c on c.ticket_message_id = m.id
   where m.ticket_id = :ticketId and c.user_id = :userId and c.state = 'reply' order by m.created_at desc, m.number desc limit 1`,
);

/**
 * Tells those of the customer who take part in a ticket by mail that it was answered or closed: who opened it or wrote in
 * it, as long as they may still read it; without any, the organization's owner.
 */
export async function tellCustomers(
  tx: TxContext,
  ticket: Named,
  {
    isClosed,
    isAsked,
    attached = [],
  }: { isClosed: boolean; isAsked: boolean; attached?: readonly Attached[] },
): Promise<void> {
  const { id: ticketId, organization_id: organizationId } = ticket;
  // A browser in which they are signed in finds the file there; it sends no header.
  const attachments = attached.map(({ id, name }) => ({
    name,
    url: `${tx.config.publicUrl}/api/dashboard/tickets/attachments/${id}?organization_id=${organizationId}`,
  }));
  const members = await tx.db.many(takingPart, { ticketId, organizationId });
  const readers = members
    .filter(({ role }) => permissionsOf(role).has('ticket.read'))
    .map((each) => each.user_id);
  const owner = readers.length > 0 ? null : await ownerOf(tx, organizationId);
  for (const userId of owner === null ? readers : [owner]) {
    await record(tx, ticketCustomerTold, {
      subject: { type: 'ticket', id: ticketId },
      // The reply is what the organization reads of; whom it was mailed to is said in the mail log.
      organizationId: null,
      data: {
        ...{ user_id: userId, tid: ticket.tid, subject: ticket.subject, ticket_id: ticketId },
        ...{ is_closed: isClosed, is_asked: isAsked, by_mail: tx.config.mailInAddress !== null },
        in_reply_to: (await tx.db.maybe(lastMailOf, { ticketId, userId }))?.message_id ?? null,
        attachments,
      },
    });
  }
}
