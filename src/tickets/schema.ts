import { Type } from 'typebox';
import {
  Choice,
  contentField,
  Id,
  IdParams,
  ListQuery,
  line,
  lineOrBlank,
  listOf,
  meaning,
  Nullable,
  named,
  PossibleActions,
  Search,
  SortBy,
  Strict,
  Timestamp,
} from '../platform/http/index.ts';
import { priorities, refusalCodes, ticketActions, ticketStatuses } from './states.ts';

export const Status = named(
  'TicketStatus',
  Choice(ticketStatuses),
  '`open` until it is answered, `answered` until its customer writes, which makes it `customer_reply`; `in_progress` ' +
    'while somebody works on it, `on_hold` while something else has to happen first',
);
export const PriorityName = named('TicketPriority', Choice(priorities));

/** One line, since it becomes the subject of mails. */
export const Subject = line(255, {
  minLength: 3,
  description: 'What it is about, in one line',
  examples: ['My server does not answer'],
});
export const Message = Type.String({
  minLength: 1,
  maxLength: 50_000,
  pattern: '\\S',
  'x-message': 'must be more than blanks',
  description:
    'Plain text or Markdown. It is kept and given back as it was written; whoever shows it makes no HTML of it',
  examples: ['Since this morning I get no answer on port 22.'],
});
export const DepartmentSlug = Type.String({
  minLength: 1,
  maxLength: 40,
  pattern: '^[a-z0-9-]+$',
  'x-message': 'must be a department, such as support',
  description: 'Who is to answer, as GET /dashboard/tickets/departments calls them',
  examples: ['support'],
});
/** Any short text: what is no code finds no ticket. */
export const Tid = Type.String({
  minLength: 1,
  maxLength: 40,
  pattern: '^[A-Za-z0-9]+$',
  'x-message': 'must be the short code of a ticket, such as a1b2c3d4',
  description: 'The short code of the ticket',
  examples: ['a1b2c3d4'],
});
export const TidParams = Strict({ tid: Tid });
export { IdParams };
export const AttachmentQuery = Strict({
  organization_id: Type.Optional(
    meaning('Of the ticket, where the header `x-organization-id` cannot be sent', Id),
  ),
});

const Writer = named(
  'TicketUser',
  Type.Object({ id: Id, first_name: Type.String(), last_name: Type.String(), email: Type.String() }),
  'A person of the customer',
);

const Attachment = named(
  'TicketAttachment',
  Type.Object({
    id: Id,
    name: meaning('Under which it can be saved', Type.String()),
    type: meaning('What its bytes say that it is', Type.String()),
    size: meaning('In bytes', Type.Integer()),
  }),
  'A file beside a message',
);

export const Reply = named(
  'TicketReply',
  Type.Object({
    id: Id,
    name: meaning('Who wrote it', Type.String()),
    email: Nullable(meaning('Their address; null of the provider’s people', Type.String())),
    adminName: Nullable(meaning('Who wrote it, when it was one of the provider’s people', Type.String())),
    adminRole: Nullable(meaning('Their role', Type.String())),
    message: meaning('As it was written; never HTML', Type.String()),
    quoted: Nullable(
      meaning(
        'What a mail repeats of what was written before, apart from what is new; to be shown when somebody asks for it',
        Type.String(),
      ),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
    user: Nullable(meaning('Who wrote it, when it was somebody of the customer with an account', Writer)),
    attachments: Type.Array(Attachment),
  }),
  'What somebody wrote in a ticket',
);

export const Possible = PossibleActions(
  { each: 'PossibleTicketAction', all: 'PossibleTicketActions' },
  ticketActions,
  refusalCodes,
);

export const ticketProperties = {
  id: Id,
  tid: Tid,
  subject: meaning('What it is about', Type.String()),
  department: meaning('Who answers', Type.String()),
  priority: PriorityName,
  status: Status,
  created_at: Timestamp,
  lastReply: meaning('When somebody wrote last', Timestamp),
  closed_at: Nullable(Timestamp),
  service_id: Nullable(meaning('The service that it is about', Id)),
  user: Nullable(
    meaning('Who opened it; null when the provider did, or somebody without an account', Writer),
  ),
};

const TicketSummary = named(
  'TicketSummary',
  Type.Object({ ...ticketProperties, actions: Possible }),
  'A ticket, without what was written in it',
);
const Ticket = named(
  'Ticket',
  Type.Object({
    ...ticketProperties,
    replies: Type.Array(Reply, { description: 'The newest 200, the oldest of them first' }),
    earlier_replies: Type.Integer({ description: 'How many were written before these; ask with `before`' }),
    merged_tids: Type.Array(Type.String(), { description: 'Tickets that have become a part of it' }),
    actions: Possible,
  }),
  'A conversation with the provider',
);
export const TicketData = named('TicketAnswer', Type.Object({ ticket: Ticket }));
export const TicketList = named('TicketList', listOf('tickets', TicketSummary));

export const filters = {
  status: Type.Optional(Status),
  department: Type.Optional(DepartmentSlug),
  priority: Type.Optional(PriorityName),
  search: Search(
    'Finds tickets that have all these words in their subject or in what was written, or words that begin with them, the ' +
      'one with the newest reply first; `sort` is left out of account',
  ),
};
export const TicketListQuery = ListQuery({
  ...filters,
  service_id: Type.Optional(Id),
  sort: SortBy(['lastReply', 'created_at'], '-lastReply'),
});
export const TicketQuery = Strict({
  before: Type.Optional(meaning('Id of a reply: those that were written before it', Id)),
});

/** As a form they are files of the field `attachments`. */
export const NewAttachments = Type.Optional(
  Type.Array(
    named(
      'NewTicketAttachment',
      Strict({
        name: lineOrBlank(255, {
          description: 'What it is called; paths and what no system takes as a name are taken out of it',
          examples: ['screenshot.png'],
        }),
        [contentField]: Type.String({
          contentEncoding: 'base64',
          description: 'Its bytes, in base64 with padding',
          examples: ['aGVsbG8K'],
        }),
      }),
      'A file to send with a message; in a form (`multipart/form-data`) it is a file of the field `attachments`',
    ),
  ),
);

export const NewTicket = named(
  'NewTicket',
  Strict({
    subject: Subject,
    department: DepartmentSlug,
    priority: PriorityName,
    message: Message,
    service_id: Type.Optional(Nullable(meaning('The service that it is about', Id))),
    attachments: NewAttachments,
  }),
);
export const NewReply = named('NewTicketReply', Strict({ message: Message, attachments: NewAttachments }));
export const SubjectChange = named('TicketSubjectChange', Strict({ subject: Subject }));
export const SubjectData = named('TicketSubject', Type.Object({ subject: Type.String() }));

export const DepartmentsData = named(
  'TicketDepartments',
  Type.Object({
    departments: Type.Array(
      named(
        'TicketDepartment',
        Type.Object({
          slug: meaning('Under which tickets name it', Type.String()),
          name: Type.String(),
          description: Type.String(),
        }),
      ),
    ),
  }),
);

export const Feedback = named(
  'TicketFeedback',
  Strict({
    token: Type.String({ minLength: 1, maxLength: 200, description: 'Of the link in the mail' }),
    helped: Type.Boolean(),
  }),
);
export const FeedbackData = named('TicketFeedbackAnswer', Type.Object({ helped: Type.Boolean() }));
