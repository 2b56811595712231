import { routes } from '../platform/http/index.ts';
import { readAttachment } from './attachments/read.ts';
import { asSent, attachmentsOfCustomer } from './attachments/receive.ts';
import { closeTicket } from './close.ts';
import { createTicket } from './create.ts';
import { listDepartments } from './departments.ts';
import { examples } from './examples.ts';
import { rateTicket } from './feedback.ts';
import { listTickets } from './list.ts';
import { readSubject, readTicket } from './read.ts';
import { replyToTicket } from './reply.ts';
import { lockOwnTicket } from './rows.ts';
import * as S from './schema.ts';
import { changeSubject } from './subject.ts';

const group = { tag: 'Tickets', about: 'Ask the provider, and read what they answer.', examples };

const reading = { auth: 'organization', permission: 'ticket.read' } as const;
const taking = { files: attachmentsOfCustomer, drivers: ['files'] } as const;
/** What may be wrong with files that are sent. */
export const whileTaking = [
  'attachment_too_large',
  'attachment_refused',
  'attachments_full',
  'attachments_unavailable',
] as const;
const writing = { auth: 'organization', permission: 'ticket.write' } as const;

export const ticketRoutes = routes('/dashboard/tickets', group, (route) => {
  route.get(
    '',
    {
      ...reading,
      operation: 'listTickets',
      summary: 'List tickets',
      description: 'The tickets of the organization, the one with the newest reply first.',
      query: S.TicketListQuery,
      data: S.TicketList,
    },
    (ctx, req) => listTickets(ctx, req.query),
  );
  route.get(
    '/departments',
    {
      ...reading,
      operation: 'listTicketDepartments',
      summary: 'List departments',
      description: 'Whom a ticket can be for.',
      data: S.DepartmentsData,
    },
    (ctx) => listDepartments(ctx),
  );
  route.post(
    '/create',
    {
      ...writing,
      whileBlocked: true,
      operation: 'createTicket',
      summary: 'Create ticket',
      description: 'Opens a ticket. Its `tid` is the short code by which you and we call it.',
      body: S.NewTicket,
      data: S.TicketData,
      limit: 'ticket',
      ...taking,
      errors: ['unknown_department', 'not_found', ...whileTaking],
    },
    (ctx, req) => createTicket(ctx, req.body, asSent(req.files)),
  );
  route.get(
    '/attachments/:id',
    {
      ...reading,
      // Followed from a mail, where a browser sends no header.
      organization: 'header-or-query',
      operation: 'getTicketAttachment',
      summary: 'Get attachment',
      description:
        'A file that stands beside a message, byte for byte as it was sent. Browsers are told to save it and never to show it.',
      params: S.IdParams,
      query: S.AttachmentQuery,
      produces: 'application/octet-stream',
      errors: ['not_found', 'attachments_unavailable'],
      drivers: ['files'],
    },
    (ctx, req) => readAttachment(ctx, req.drivers.files, req.params.id),
  );
  route.get(
    '/:tid',
    {
      ...reading,
      operation: 'getTicketDetails',
      summary: 'Get ticket details',
      description:
        'A ticket with what was written in it. One that has become a part of another answers as that one.',
      params: S.TidParams,
      query: S.TicketQuery,
      data: S.TicketData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readTicket(ctx, req.params.tid, req.query),
  );
  route.post(
    '/:tid',
    {
      ...writing,
      whileBlocked: true,
      operation: 'replyToTicket',
      summary: 'Reply to ticket',
      description: 'Writes a reply. A ticket that is closed is open again.',
      params: S.TidParams,
      body: S.NewReply,
      data: S.TicketData,
      limit: 'ticket',
      ...taking,
      errors: ['not_found', 'busy', ...whileTaking],
    },
    (ctx, req) => replyToTicket(ctx, req.params.tid, req.body, asSent(req.files)),
  );
  route.post(
    '/:tid/close',
    {
      ...writing,
      operation: 'closeTicket',
      summary: 'Close ticket',
      description: 'Says that it is done with. A reply opens it again.',
      params: S.TidParams,
      data: S.TicketData,
      errors: ['not_found', 'ticket_closed', 'busy'],
    },
    (ctx, req) => closeTicket(ctx, req.params.tid),
  );
  route.get(
    '/:tid/subject',
    {
      ...reading,
      operation: 'getTicketSubject',
      summary: 'Get ticket subject',
      description: 'The subject alone, with the tag by which a change of it is guarded.',
      params: S.TidParams,
      data: S.SubjectData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readSubject(ctx, req.params.tid),
  );
  route.put(
    '/:tid/subject',
    {
      ...writing,
      operation: 'updateTicketSubject',
      summary: 'Update ticket subject',
      description: 'Says anew what the ticket is about.',
      params: S.TidParams,
      body: S.SubjectChange,
      data: S.TicketData,
      errors: ['not_found', 'ticket_closed', 'busy'],
      lock: (tx, req) => lockOwnTicket(tx, req.params.tid),
    },
    (ctx, req) => changeSubject(ctx, req.params.tid, req.body),
  );
});

export const feedbackRoutes = routes('/tickets/feedback', group, (route) => {
  route.post(
    '',
    {
      auth: 'public',
      actor: 'visitor',
      operation: 'rateTicket',
      summary: 'Say whether a ticket helped',
      description:
        'For whoever has the link of the mail that says that the ticket is closed. A later answer takes its place.',
      body: S.Feedback,
      data: S.FeedbackData,
      errors: ['invalid_link'],
    },
    (ctx, req) => rateTicket(ctx, req.body),
  );
});
