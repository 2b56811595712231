import { Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  listOf,
  meaning,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { DepartmentSlug, PriorityName, Subject, Tid } from '../schema.ts';
import { reasons } from './rows.ts';

const Attachment = named(
  'MailAttachment',
  Type.Object({ name: Type.String(), type: Type.String(), size_bytes: Type.Integer() }),
  'Of a mail that came in: what it says of an attachment',
);

const properties = {
  id: Id,
  received_at: Timestamp,
  reason: named(
    'UnclaimedReason',
    Choice(reasons),
    'Why it is nobody’s: it answers nothing of ours (`no_ticket`), nobody has an account with its address ' +
      '(`sender_unknown`), nothing proves that it is from there (`sender_not_proved`), the address that it came to was given ' +
      'to somebody else (`address_not_theirs`), its sender may not write in the ticket (`sender_not_allowed`), wrote too ' +
      'much within an hour (`too_many`), it is over 25 MiB (`too_large`) or cannot be read (`unreadable`)',
  ),
  from_name: Nullable(meaning('Who it says it is from', Type.String())),
  from_address: Nullable(meaning('The same', Type.String())),
  return_path: Nullable(meaning('Where it comes back to; null when nobody said', Type.String())),
  proved_user_id: Nullable(meaning('The account that it is proved to be from', Id)),
  subject: Nullable(Type.String()),
  attachments: Type.Array(Attachment),
  size_bytes: Type.Integer(),
};

const Summary = named(
  'UnclaimedMailSummary',
  Type.Object(properties),
  'A mail that came in and is no ticket’s',
);
const Mail = named(
  'UnclaimedMail',
  Type.Object({
    ...properties,
    recipients: meaning('Which addresses of ours it was for, as its server said', Type.Array(Type.String())),
    text: Nullable(meaning('As plain text; null when it cannot be read', Type.String())),
    quoted: Nullable(meaning('What it repeats of what was written before', Type.String())),
  }),
  'A mail that came in and is no ticket’s, with what is written in it',
);

export const UnclaimedQuery = ListQuery({ sort: SortBy(['received_at'], '-received_at') });
export const UnclaimedList = named('UnclaimedMailList', listOf('mails', Summary));
export const UnclaimedData = named('UnclaimedMailAnswer', Type.Object({ mail: Mail }));
export const MailIdParams = Strict({ id: Id });
export const Assignment = named(
  'MailAssignment',
  Strict({
    tid: Tid,
    as: meaning(
      '`reply`: what the customer wrote, who is shown by name and address of the mail; `note`: for staff alone',
      Choice(['reply', 'note'] as const),
    ),
  }),
);
export const MailDeleted = named('UnclaimedMailDeleted', Type.Object({ deleted: Type.Boolean() }));
export const Opening = named(
  'TicketOfMail',
  Strict({ organization_id: Id, department: DepartmentSlug, priority: PriorityName, subject: Subject }),
);
