import { type Example, exampleIds as ids, onlyPage } from '../platform/http/index.ts';

const possible = { allowed: true, reason: null, code: null };
const customer = { id: ids.user, first_name: 'Ana', last_name: 'Novak', email: 'ana@example.com' };
/** The codes of the examples, in whose place who tries them puts those of their own. */
export const exampleTid = 'a1b2c3d4';

const summary = {
  id: 4503599627370901,
  tid: exampleTid,
  subject: 'My server does not answer',
  department: 'support',
  priority: 'high',
  status: 'open',
  created_at: '2026-02-01T09:30:00.000Z',
  lastReply: '2026-02-01T09:30:00.000Z',
  closed_at: null,
  service_id: ids.service,
  user: customer,
  actions: { reply: possible, close: possible, change_subject: possible },
};
const departments = [
  { slug: 'support', name: 'Support', description: 'Everything about your services' },
  { slug: 'billing', name: 'Billing', description: 'Invoices and payments' },
];
const opening = {
  id: 4503599627370911,
  name: 'Ana Novak',
  email: 'ana@example.com',
  adminName: null,
  adminRole: null,
  message: 'Since this morning I get no answer on port 22.',
  quoted: null,
  created_at: '2026-02-01T09:30:00.000Z',
  updated_at: '2026-02-01T09:30:00.000Z',
  user: customer,
  attachments: [{ id: 4503599627370931, name: 'core.dump', type: 'application/octet-stream', size: 4 }],
};
const more = {
  ...opening,
  attachments: [],
  id: 4503599627370912,
  message: 'It answers again.',
  quoted: null,
  created_at: '2026-02-01T09:45:00.000Z',
};
const ticket = { ...summary, replies: [opening], earlier_replies: 0, merged_tids: [] };
const written = { ...ticket, lastReply: '2026-02-01T09:45:00.000Z', replies: [opening, more] };
const renamed = { ...written, subject: 'My server did not answer for an hour' };

const organization = { id: ids.organization, name: 'Novak Labs' };
const queued = {
  id: summary.id,
  tid: exampleTid,
  subject: 'My server did not answer for an hour',
  department: 'support',
  priority: 'high',
  status: 'open',
  created_at: summary.created_at,
  lastReply: '2026-02-01T09:45:00.000Z',
  closed_at: null,
  service_id: ids.service,
  user: customer,
  organization,
  assigned: null,
  first_answer_due_at: '2026-02-01T13:30:00.000Z',
  solution_due_at: '2026-02-02T09:30:00.000Z',
  due_at: '2026-02-01T13:30:00.000Z',
  overdue: false,
};
const fromCustomer = { kind: 'customer', from_tid: null };
const answer = {
  id: 4503599627370913,
  name: 'Innkeeper Staff',
  email: null,
  adminName: 'Innkeeper Staff',
  adminRole: 'administrator',
  message: 'Hello Ana, a cable was loose. It is mended.',
  quoted: null,
  attachments: [],
  created_at: '2026-02-01T10:00:00.000Z',
  updated_at: '2026-02-01T10:00:00.000Z',
  user: null,
  kind: 'staff',
  from_tid: null,
};
const note = { ...answer, id: 4503599627370914, message: 'Rack 4, port 12.', kind: 'note' };
const atStaff = {
  ...queued,
  status: 'answered',
  lastReply: '2026-02-01T10:00:00.000Z',
  first_answer_at: '2026-02-01T10:00:00.000Z',
  first_answer_due_at: null,
  solution_due_at: null,
  due_at: null,
  messages: [{ ...opening, ...fromCustomer }, { ...more, ...fromCustomer }, answer],
  earlier_messages: 0,
  merged_tids: [],
  helped: null,
  writing: [],
  customer: { services: [], open_invoices: [], failed_actions: [], tickets: [] },
};
const noted = { ...atStaff, messages: [...atStaff.messages, note] };
const inProgress = { ...noted, status: 'in_progress', priority: 'urgent' };
const splitOff = {
  ...atStaff,
  id: 4503599627370902,
  tid: 'b2c3d4e5',
  subject: 'It answers again',
  status: 'open',
  first_answer_at: null,
  messages: [{ ...more, kind: 'customer', from_tid: exampleTid }],
};
const canned = {
  id: 4503599627370921,
  name: 'Mended',
  message: 'Hello {{customer.first_name}}, it is mended.',
  created_at: '2026-02-01T09:50:00.000Z',
  updated_at: '2026-02-01T09:50:00.000Z',
};

const unclaimed = {
  id: 4503599627370931,
  received_at: '2026-02-01T11:00:00.000Z',
  reason: 'sender_unknown',
  from_name: 'Ana Novak',
  from_address: 'ana@home.example.com',
  return_path: 'ana@home.example.com',
  proved_user_id: null,
  subject: 'Re: My server does not answer',
  attachments: [{ name: 'screen.png', type: 'image/png', size_bytes: 48_210 }],
  size_bytes: 66_912,
};

export const examples: Record<string, Example> = {
  listUnclaimedMails: { data: { mails: [unclaimed], ...onlyPage(1) } },
  getUnclaimedMail: {
    params: { id: unclaimed.id },
    data: {
      mail: {
        ...{ ...unclaimed, recipients: ['answers@in.inn.example'] },
        ...{ text: 'I write from home. It answers again.', quoted: null },
      },
    },
  },
  getRawMail: { params: { id: unclaimed.id }, data: null },
  assignUnclaimedMail: {
    params: { id: unclaimed.id },
    body: { tid: exampleTid, as: 'note' },
    data: { ticket: inProgress },
  },
  openTicketFromMail: {
    params: { id: unclaimed.id },
    body: {
      ...{ organization_id: ids.organization, department: 'support', priority: 'high' },
      subject: 'My server did not answer for an hour',
    },
    data: { ticket: inProgress },
  },
  deleteUnclaimedMail: { params: { id: unclaimed.id }, data: { deleted: true } },
  listTicketQueue: { query: { department: 'support' }, data: { tickets: [queued], ...onlyPage(1) } },
  sayWritingInTicket: {
    params: { tid: exampleTid },
    body: { writing: true },
    data: { writing: [] },
  },
  createCannedReply: {
    body: { name: 'Mended', message: 'Hello {{customer.first_name}}, it is mended.' },
    data: { canned_reply: canned },
  },
  listCannedReplies: { data: { canned_replies: [canned], ...onlyPage(1) } },
  getCannedReply: { params: { id: canned.id }, data: { canned_reply: canned } },
  updateCannedReply: {
    params: { id: canned.id },
    body: { name: 'It is mended' },
    data: { canned_reply: { ...canned, name: 'It is mended' } },
  },
  previewCannedReply: {
    params: { id: canned.id },
    body: { tid: exampleTid },
    data: { message: 'Hello Ana, it is mended.' },
  },
  deleteCannedReply: { params: { id: canned.id }, data: { deleted: true } },
  answerTicket: {
    params: { tid: exampleTid },
    body: { message: 'Hello Ana, a cable was loose. It is mended.', last_reply_id: more.id },
    data: { ticket: atStaff },
  },
  noteInTicket: {
    params: { tid: exampleTid },
    body: { message: 'Rack 4, port 12.' },
    data: { ticket: noted },
  },
  assignTicket: { params: { tid: exampleTid }, body: { user_id: null }, data: { ticket: noted } },
  updateTicket: {
    params: { tid: exampleTid },
    body: { priority: 'urgent', status: 'in_progress' },
    data: { ticket: inProgress },
  },
  getTicketAsStaff: { params: { tid: exampleTid }, data: { ticket: inProgress } },
  splitTicket: {
    params: { tid: exampleTid },
    body: { message_ids: [more.id], subject: 'It answers again' },
    data: { ticket: splitOff },
  },
  mergeTicket: {
    params: { tid: splitOff.tid },
    body: { into: exampleTid },
    data: { ticket: { ...inProgress, merged_tids: [splitOff.tid] } },
  },
  rateTicket: { body: { token: 'the token of the link', helped: true }, data: { helped: true } },
  listTickets: { query: { status: 'open' }, data: { tickets: [summary], ...onlyPage(1) } },
  listTicketDepartments: { data: { departments } },
  listTicketDepartmentsAsStaff: { data: { departments } },
  createTicket: {
    body: {
      subject: 'My server does not answer',
      department: 'support',
      priority: 'high',
      message: 'Since this morning I get no answer on port 22.',
      service_id: ids.service,
      attachments: [{ name: 'core.dump', content_base64: 'AAECAw==' }],
    },
    data: { ticket },
  },
  getTicketAttachment: { params: { id: 4503599627370931 }, data: null },
  getTicketAttachmentAsStaff: { params: { id: 4503599627370931 }, data: null },
  getTicketDetails: { params: { tid: exampleTid }, data: { ticket } },
  replyToTicket: {
    params: { tid: exampleTid },
    body: { message: 'It answers again.' },
    data: { ticket: written },
  },
  getTicketSubject: { params: { tid: exampleTid }, data: { subject: 'My server does not answer' } },
  updateTicketSubject: {
    params: { tid: exampleTid },
    body: { subject: 'My server did not answer for an hour' },
    data: { ticket: renamed },
  },
  closeTicket: {
    params: { tid: exampleTid },
    data: {
      ticket: {
        ...renamed,
        status: 'closed',
        closed_at: '2026-02-01T09:50:00.000Z',
        actions: {
          reply: possible,
          close: { allowed: false, reason: 'The ticket is closed already', code: 'ticket_closed' },
          change_subject: {
            allowed: false,
            reason: 'The ticket is closed; write a reply, which opens it again, and then change it',
            code: 'ticket_closed',
          },
        },
      },
    },
  },
};
