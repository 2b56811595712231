import { Type } from 'typebox';
import { event, type NoData } from '../events/index.ts';
import { Choice, Id, Nullable } from '../platform/http/index.ts';
import { type Priority, priorities } from './states.ts';

interface TicketCreated {
  tid: string;
  subject: string;
  department: string;
  priority: Priority;
  service_id: number | null;
  by_staff: boolean;
}

interface TicketReplied {
  tid: string;
  subject: string;
  message_id: number;
  by_staff: boolean;
}

interface TicketClosed {
  tid: string;
  subject: string;
  by_staff: boolean;
}

interface TicketReopened {
  tid: string;
}

interface TicketSubjectChanged {
  tid: string;
  before: string;
  after: string;
}

interface TicketChanged {
  tid: string;
  before: object;
  after: object;
}

interface TicketNoted {
  tid: string;
  message_id: number;
}

interface TicketAssigned {
  tid: string;
  assigned_to: number | null;
  before: number | null;
}

interface TicketMoved {
  tid: string;
  into: string;
}

interface TicketRated {
  tid: string;
  helped: boolean;
}

interface MailAssigned {
  tid: string;
  mail_id: number;
  as: 'reply' | 'note';
}

interface CannedReplyNamed {
  name: string;
}

/** A file beside what a mail tells of, and where its reader finds it. */
export interface ToldAttachment {
  name: string;
  url: string;
}

interface TicketDepartmentTold {
  recipient: string;
  tid: string;
  subject: string;
  from: string;
  is_new: boolean;
  attachments: ToldAttachment[];
}

interface TicketCustomerTold {
  user_id: number;
  tid: string;
  subject: string;
  is_closed: boolean;
  is_asked: boolean;
  ticket_id: number;
  by_mail: boolean;
  in_reply_to: string | null;
  attachments: ToldAttachment[];
}

export const ticketCreated = event<TicketCreated>('ticket.created', 'somebody opened a ticket', {
  permission: 'ticket.read',
  data: {
    tid: Type.String(),
    subject: Type.String(),
    department: Type.String(),
    priority: Choice(priorities),
    service_id: Nullable(Id),
    by_staff: Type.Boolean(),
  },
});
export const ticketReplied = event<TicketReplied>('ticket.replied', 'somebody wrote a reply to a ticket', {
  permission: 'ticket.read',
  data: { tid: Type.String(), subject: Type.String(), message_id: Id, by_staff: Type.Boolean() },
});
export const ticketClosed = event<TicketClosed>('ticket.closed', 'a ticket was closed', {
  permission: 'ticket.read',
  data: { tid: Type.String(), subject: Type.String(), by_staff: Type.Boolean() },
});
export const ticketReopened = event<TicketReopened>(
  'ticket.reopened',
  'a ticket that was closed is open again',
  { permission: 'ticket.read', data: { tid: Type.String() } },
);
export const ticketSubjectChanged = event<TicketSubjectChanged>(
  'ticket.subject_changed',
  'a ticket got another subject',
  { permission: 'ticket.read', data: { tid: Type.String(), after: Type.String() } },
);
export const ticketChanged = event<TicketChanged>(
  'ticket.changed',
  'staff changed department, priority, state or service of a ticket',
  { permission: 'ticket.read', data: { tid: Type.String() } },
);
export const ticketNoted = event<TicketNoted>(
  'ticket.noted',
  'a note was written in a ticket, for staff alone',
);
export const ticketAssigned = event<TicketAssigned>('ticket.assigned', 'staff said who sees to a ticket');
export const ticketMerged = event<TicketMoved>('ticket.merged', 'a ticket became a part of another one');
export const ticketSplit = event<TicketMoved>(
  'ticket.split',
  'some of what was written in a ticket went into a ticket of its own',
);
export const ticketRated = event<TicketRated>(
  'ticket.rated',
  'a customer said whether a closed ticket had helped',
);
export const cannedReplyCreated = event<CannedReplyNamed>(
  'canned_reply.created',
  'staff wrote a canned reply',
);
export const cannedReplyChanged = event<CannedReplyNamed>(
  'canned_reply.changed',
  'staff changed a canned reply',
);
export const cannedReplyDeleted = event<CannedReplyNamed>(
  'canned_reply.deleted',
  'staff deleted a canned reply',
);
export const ticketDepartmentTold = event<TicketDepartmentTold>(
  'ticket.department_told',
  'a department was told of a new ticket or of what its customer wrote',
);
export const ticketCustomerTold = event<TicketCustomerTold>(
  'ticket.customer_told',
  'somebody who takes part in a ticket was told that it was answered or closed',
);
export const mailAssigned = event<MailAssigned>(
  'ticket_mail.assigned',
  'staff put a mail into a ticket that was no ticket’s',
);
export const mailDeleted = event<NoData>('ticket_mail.deleted', 'staff deleted a mail that was no ticket’s');
