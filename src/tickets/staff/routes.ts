import { routes } from '../../platform/http/index.ts';
import { readAttachmentAsStaff } from '../attachments/read.ts';
import { asSent, attachmentsOfStaff } from '../attachments/receive.ts';
import { listDepartments } from '../departments.ts';
import { examples } from '../examples.ts';
import { whileTaking } from '../routes.ts';
import { lockTicket } from '../rows.ts';
import { DepartmentsData, TicketQuery, TidParams } from '../schema.ts';
import * as canned from './canned.ts';
import { mergeTicket, splitTicket } from './parts.ts';
import { listQueue } from './queue.ts';
import { readTicketAsStaff } from './read.ts';
import * as S from './schema.ts';
import { answerTicket, assignTicket, changeTicket, noteInTicket } from './work.ts';
import { sayWriting } from './writing.ts';

const group = { tag: 'Staff: tickets', about: 'What customers ask, by what is due first.', examples };

const staff = { auth: 'staff' } as const;
const taking = { files: attachmentsOfStaff, drivers: ['files'] } as const;
const one = { ...staff, params: TidParams, data: S.StaffTicketData } as const;
const keeper = { ...staff, staffRoles: ['administrator', 'support'] } as const;

export const ticketStaffRoutes = routes('/staff/tickets', group, (route) => {
  route.get(
    '',
    {
      ...staff,
      operation: 'listTicketQueue',
      summary: 'List the queue of tickets',
      description:
        'Tickets that are not closed, the one first that is due first; `status=closed` has those that are, the newest reply ' +
        'first. What is searched for is also found in notes and in what is closed.',
      query: S.QueueQuery,
      data: S.QueueList,
    },
    (ctx, req) => listQueue(ctx, req.query),
  );
  route.get(
    '/departments',
    {
      ...staff,
      operation: 'listTicketDepartmentsAsStaff',
      summary: 'List departments as staff',
      description:
        'Whom a ticket can be for, as customers are told; their hours and targets stand in the settings `support`.',
      data: DepartmentsData,
    },
    (ctx) => listDepartments(ctx),
  );
  route.get(
    '/attachments/:id',
    {
      ...staff,
      operation: 'getTicketAttachmentAsStaff',
      summary: 'Get attachment as staff',
      description: 'A file of any ticket, those of notes too, to be saved and never shown by a browser.',
      params: S.IdParams,
      produces: 'application/octet-stream',
      errors: ['not_found', 'attachments_unavailable'],
      drivers: ['files'],
    },
    (ctx, req) => readAttachmentAsStaff(ctx, req.drivers.files, req.params.id),
  );
  route.get(
    '/:tid',
    {
      ...one,
      operation: 'getTicketAsStaff',
      summary: 'Get ticket as staff',
      description: 'All that was written, notes included, and what is to be known of the customer.',
      query: TicketQuery,
      errors: ['not_found'],
      // Others write, and services go on, while somebody decides about the ticket.
      etag: { without: ['writing', 'customer', 'overdue'] },
    },
    (ctx, req) => readTicketAsStaff(ctx, req.params.tid, req.query),
  );
  route.patch(
    '/:tid',
    {
      ...one,
      operation: 'updateTicket',
      summary: 'Change a ticket',
      description:
        'Changes what the body names. By when it is due follows from department, priority and status; closing it tells the ' +
        'customer, who is asked once whether it helped.',
      body: S.Change,
      errors: ['not_found', 'unknown_department', 'forbidden', 'busy'],
      lock: (tx, req) => lockTicket(tx, req.params.tid),
    },
    (ctx, req) => changeTicket(ctx, req.params.tid, req.body),
  );
  route.post(
    '/:tid/replies',
    {
      ...one,
      operation: 'answerTicket',
      summary: 'Answer a ticket',
      description:
        'Those of the customer who take part are told by mail. The ticket is `answered` then, unless `status` says otherwise.',
      body: S.StaffReply,
      ...taking,
      errors: ['not_found', 'ticket_moved_on', 'canned_reply_unfilled', 'busy', ...whileTaking],
    },
    (ctx, req) => answerTicket(ctx, req.params.tid, req.body, asSent(req.files)),
  );
  route.post(
    '/:tid/notes',
    {
      ...one,
      operation: 'noteInTicket',
      summary: 'Write a note in a ticket',
      description: 'For staff alone. No customer sees it, nor that there is one.',
      body: S.Note,
      ...taking,
      errors: ['not_found', 'busy', ...whileTaking],
    },
    (ctx, req) => noteInTicket(ctx, req.params.tid, req.body, asSent(req.files)),
  );
  route.post(
    '/:tid/assign',
    {
      ...one,
      operation: 'assignTicket',
      summary: 'Assign a ticket',
      description: 'Says who of staff sees to it.',
      body: S.Assignment,
      errors: ['not_found', 'not_staff', 'busy'],
    },
    (ctx, req) => assignTicket(ctx, req.params.tid, req.body),
  );
  route.post(
    '/:tid/writing',
    {
      ...staff,
      params: TidParams,
      operation: 'sayWritingInTicket',
      summary: 'Say that you write in a ticket',
      description:
        'Tells who else has a reply under way. It counts for a minute; say it again while you write.',
      body: S.Writing,
      data: S.WritingData,
      errors: ['not_found', 'busy'],
    },
    (ctx, req) => sayWriting(ctx, req.params.tid, req.body),
  );
  route.post(
    '/:tid/merge',
    {
      ...one,
      ...keeper,
      operation: 'mergeTicket',
      summary: 'Merge a ticket into another',
      description:
        'All that was written in it stands in the other one, in the order of time. It answers as that one from then on; this ' +
        'cannot be undone.',
      body: S.Merge,
      errors: ['not_found', 'ticket_same', 'ticket_of_another', 'busy'],
    },
    (ctx, req) => mergeTicket(ctx, req.params.tid, req.body),
  );
  route.post(
    '/:tid/split',
    {
      ...one,
      ...keeper,
      operation: 'splitTicket',
      summary: 'Split a ticket',
      description:
        'Takes the messages that are named along into a new ticket of the same customer, and answers with it.',
      body: S.Split,
      errors: ['not_found', 'ticket_split_empty', 'busy'],
    },
    (ctx, req) => splitTicket(ctx, req.params.tid, req.body),
  );
});

export const cannedReplyRoutes = routes('/staff/canned-replies', group, (route) => {
  route.get(
    '',
    {
      ...staff,
      operation: 'listCannedReplies',
      summary: 'List canned replies',
      description: 'Answers that are written often, by name.',
      query: S.CannedQuery,
      data: S.CannedList,
    },
    (ctx, req) => canned.listCannedReplies(ctx, req.query),
  );
  route.post(
    '',
    {
      ...keeper,
      operation: 'createCannedReply',
      summary: 'Create canned reply',
      description: 'Keeps an answer. What stands in {{…}} is put in for each ticket.',
      body: S.NewCanned,
      data: S.CannedData,
      errors: ['canned_reply_unknown_variable', 'duplicate_canned_reply'],
    },
    (ctx, req) => canned.createCannedReply(ctx, req.body),
  );
  route.get(
    '/:id',
    {
      ...staff,
      operation: 'getCannedReply',
      summary: 'Get canned reply',
      description: 'One answer as it is kept.',
      params: S.IdParams,
      data: S.CannedData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => canned.readCannedReply(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      ...keeper,
      operation: 'updateCannedReply',
      summary: 'Change canned reply',
      description: 'Changes its name or its text; what was answered with it stays.',
      params: S.IdParams,
      body: S.CannedChange,
      data: S.CannedData,
      errors: ['not_found', 'canned_reply_unknown_variable', 'duplicate_canned_reply'],
      lock: (tx, req) => canned.lockCannedReply(tx, req.params.id),
    },
    (ctx, req) => canned.changeCannedReply(ctx, req.params.id, req.body),
  );
  route.delete(
    '/:id',
    {
      ...keeper,
      operation: 'deleteCannedReply',
      summary: 'Delete canned reply',
      description: 'It is not offered any more; what was answered with it stays.',
      params: S.IdParams,
      data: S.CannedDeleted,
      errors: ['not_found'],
      lock: (tx, req) => canned.lockCannedReply(tx, req.params.id),
    },
    (ctx, req) => canned.deleteCannedReply(ctx, req.params.id),
  );
  route.post(
    '/:id/preview',
    {
      ...staff,
      operation: 'previewCannedReply',
      summary: 'Preview a canned reply in a ticket',
      description:
        'The text with everything put in, to be read and sent as a reply. Refused when something of it would be empty.',
      params: S.IdParams,
      body: S.Preview,
      data: S.PreviewData,
      errors: ['not_found', 'canned_reply_unfilled'],
    },
    (ctx, req) => canned.previewCannedReply(ctx, req.params.id, req.body),
  );
});
