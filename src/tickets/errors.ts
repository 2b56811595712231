import { errors } from '../platform/index.ts';

const ticketErrors = errors({
  unknown_department: [
    400,
    'There is no such department; GET /dashboard/tickets/departments tells which there are',
  ],
  ticket_closed: [409, 'The ticket is closed; a reply opens it again'],
  ticket_moved_on: [409, 'Somebody wrote in the ticket since you read it; read it again before you answer'],
  attachment_too_large: [413, 'One of the files is too large'],
  attachment_refused: [400, 'One of the files is not what it is said to be; see details'],
  attachments_full: [
    429,
    'Your organization has sent as many files as it may within a day; send the others tomorrow, or by other ways',
  ],
  attachments_unavailable: [
    503,
    'Files cannot be kept or read right now, and nothing of this was sent; try again shortly, or send it without files',
  ],
  ticket_same: [409, 'These are one ticket already'],
  ticket_of_another: [409, 'These are tickets of two customers; only those of one can be merged'],
  ticket_split_empty: [
    400,
    'Leave something to read in the ticket, and take something along that is no note',
  ],
  not_staff: [400, 'Nobody of staff who is let in has this id; GET /staff/staff tells who there is'],
  canned_reply_unfilled: [409, 'Something of the text would be empty'],
  canned_reply_unknown_variable: [400, 'The text names something that is not known'],
  duplicate_canned_reply: [
    409,
    'There is a canned reply of this name already; change that one, or choose another name',
  ],
});

type TicketErrors = typeof ticketErrors;

declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends TicketErrors {}
}
