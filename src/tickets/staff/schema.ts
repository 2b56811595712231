import { Type } from 'typebox';
import { OrganizationName } from '../../organizations/index.ts';
import {
  Choice,
  Id,
  IdParams,
  ListQuery,
  line,
  listOf,
  MoneyText,
  meaning,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import {
  DepartmentSlug,
  filters,
  Message,
  NewAttachments,
  PriorityName,
  Reply,
  Status,
  Subject,
  Tid,
  ticketProperties,
} from '../schema.ts';
import { statusesOfStaff } from '../states.ts';
import { variableNames } from './canned.ts';

export { IdParams };

const StatusByStaff = Choice(statusesOfStaff, { description: 'What it is from now on' });

const due = {
  first_answer_due_at: Nullable(meaning('By when it has to be answered first', Timestamp)),
  solution_due_at: Nullable(
    meaning('By when it has to be solved, as long as the customer is not asked', Timestamp),
  ),
  due_at: Nullable(meaning('What of these comes first', Timestamp)),
  overdue: Type.Boolean(),
};
const StaffName = named(
  'TicketStaff',
  Type.Object({ id: Id, name: Type.String() }),
  'Somebody of the provider',
);

const QueuedTicket = named(
  'QueuedTicket',
  Type.Object({
    ...ticketProperties,
    organization: OrganizationName,
    assigned: Nullable(meaning('Who sees to it', StaffName)),
    ...due,
  }),
  'A ticket as staff sees it in the queue',
);

const StaffMessage = named(
  'StaffTicketMessage',
  Type.Object({
    ...Reply.properties,
    kind: Choice(['customer', 'staff', 'note'], { description: 'A note is for staff alone' }),
    from_tid: Nullable(meaning('Of which ticket it was before', Type.String())),
  }),
  'What somebody wrote, notes included',
);

const Beside = named(
  'TicketCustomer',
  Type.Object({
    services: Type.Array(
      Type.Object({
        id: Id,
        domain: Nullable(Type.String()),
        product: Type.String(),
        status: Type.String(),
        duedate: Nullable(Type.String()),
      }),
    ),
    open_invoices: Type.Array(
      Type.Object({ id: Id, currency: Type.String(), due: MoneyText, expires_at: Timestamp }),
    ),
    failed_actions: Type.Array(
      Type.Object({
        id: Id,
        service_id: Id,
        command: Type.String(),
        message: Nullable(Type.String()),
        created_at: Timestamp,
      }),
      { description: 'Of the last thirty days' },
    ),
    tickets: Type.Array(
      Type.Object({ tid: Type.String(), subject: Type.String(), status: Status, lastReply: Timestamp }),
    ),
  }),
  'What is to be known of the customer while answering: ten each, the newest first',
);

const StaffTicket = named(
  'StaffTicket',
  Type.Object({
    ...QueuedTicket.properties,
    first_answer_at: Nullable(Timestamp),
    messages: Type.Array(StaffMessage, { description: 'The newest 200, the oldest of them first' }),
    earlier_messages: Type.Integer({ description: 'How many were written before these; ask with `before`' }),
    merged_tids: Type.Array(Type.String()),
    helped: Nullable(Type.Boolean({ description: 'What the customer said when it was closed' })),
    writing: Type.Array(
      named(
        'TicketWriter',
        Type.Object({ id: Id, name: Type.String(), since: Timestamp }),
        'Somebody else of staff who has a reply under way',
      ),
    ),
    customer: Beside,
  }),
  'A ticket with all that was written in it',
);
export const StaffTicketData = named('StaffTicketAnswer', Type.Object({ ticket: StaffTicket }));
export const QueueList = named('TicketQueue', listOf('tickets', QueuedTicket));
export const QueueQuery = ListQuery({
  ...filters,
  assigned_to: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Who sees to it; 0 for nobody',
    }),
  ),
  organization_id: Type.Optional(Id),
  sort: SortBy(['due', 'lastReply'], 'due'),
});

export const StaffReply = named(
  'StaffTicketReply',
  Strict({
    message: Message,
    attachments: NewAttachments,
    status: Type.Optional(StatusByStaff),
    last_reply_id: Type.Optional(
      meaning('The newest reply that you have read: refused when somebody has written since', Id),
    ),
  }),
);
export const Note = named('TicketNote', Strict({ message: Message, attachments: NewAttachments }));
export const Assignment = named(
  'TicketAssignment',
  Strict({ user_id: Nullable(meaning('Somebody of staff; null for nobody', Id)) }),
);
export const Change = named(
  'TicketChange',
  Strict({
    subject: Type.Optional(Subject),
    department: Type.Optional(DepartmentSlug),
    priority: Type.Optional(PriorityName),
    status: Type.Optional(StatusByStaff),
    service_id: Type.Optional(Nullable(meaning('The service that it is about', Id))),
  }),
);
export const Merge = named('TicketMerge', Strict({ into: Tid }));
export const Split = named(
  'TicketSplit',
  Strict({
    message_ids: Type.Array(Id, {
      minItems: 1,
      maxItems: 200,
      uniqueItems: true,
      examples: [[4503599627370912]],
    }),
    subject: Subject,
  }),
);
export const Writing = named(
  'TicketWriting',
  Strict({ writing: Type.Boolean({ description: 'Whether you have a reply under way' }) }),
);
export const WritingData = named('TicketWritingAnswer', Type.Pick(StaffTicket, ['writing']));

const CannedText = Type.String({
  minLength: 1,
  maxLength: 50_000,
  pattern: '\\S',
  'x-message': 'must be more than blanks',
  description: `The answer; in it may stand ${variableNames.map((name) => `{{${name}}}`).join(', ')}`,
  examples: ['Hello {{customer.first_name}}, we look into it.'],
});
const CannedName = line(100, { examples: ['We look into it'] });
const CannedReply = named(
  'CannedReply',
  Type.Object({
    id: Id,
    name: Type.String(),
    message: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
  'An answer that is written often',
);
export const CannedData = named('CannedReplyAnswer', Type.Object({ canned_reply: CannedReply }));
export const CannedList = named('CannedReplyList', listOf('canned_replies', CannedReply));
export const CannedQuery = ListQuery({ sort: SortBy(['name'], 'name') });
export const NewCanned = named('NewCannedReply', Strict({ name: CannedName, message: CannedText }));
export const CannedChange = named(
  'CannedReplyChange',
  Strict({ name: Type.Optional(CannedName), message: Type.Optional(CannedText) }),
);
export const CannedDeleted = named('CannedReplyDeleted', Type.Object({ deleted: Type.Boolean() }));
export const Preview = named('CannedReplyPreview', Strict({ tid: Tid }));
export const PreviewData = named('CannedReplyText', Type.Object({ message: Type.String() }));
