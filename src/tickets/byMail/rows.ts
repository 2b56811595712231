import { statement } from '../../platform/index.ts';

export const mailStates = [
  'received',
  'reply',
  'note',
  'machine',
  'report',
  'repeated',
  'unclaimed',
  'assigned',
  'deleted',
] as const;
export type MailState = (typeof mailStates)[number];

/** Why a mail is nobody's, or no more than a note. */
export const reasons = [
  'no_ticket',
  'sender_unknown',
  'sender_not_proved',
  'address_not_theirs',
  'sender_not_allowed',
  'too_many',
  'reopened_too_often',
  'too_large',
  'unreadable',
] as const;
export type Reason = (typeof reasons)[number];

export interface NamedAttachment {
  name: string;
  type: string;
  size_bytes: number;
}

export interface MailRow {
  id: number;
  file: string;
  size_bytes: number;
  return_path: string | null;
  recipients: string[];
  client_ip: string | null;
  client_name: string | null;
  is_cut: boolean;
  received_at: Date;
  state: MailState;
  reason: Reason | null;
  message_id: string | null;
  from_name: string | null;
  from_address: string | null;
  subject: string | null;
  text: string | null;
  quoted: string | null;
  attachments: NamedAttachment[] | null;
  decided_at: Date | null;
  ticket_id: number | null;
  /** Whose it is proved to be. */
  user_id: number | null;
}

export const mailColumns = `m.id, m.file, m.size_bytes, m.return_path, m.recipients, m.client_ip, m.client_name, m.is_cut,
  m.received_at, m.state, m.reason, m.message_id, m.from_name, m.from_address, m.subject, m.text, m.quoted, m.attachments,
  m.decided_at, m.ticket_id, m.user_id`;

export const mailById = statement<MailRow, { id: number }>(
  'tickets.mailById',
  `select ${mailColumns} from ticket_mails m where m.id = :id`,
);

export const lockMailById = statement<MailRow, { id: number }>(
  'tickets.lockMailById',
  `select ${mailColumns} from ticket_mails m where m.id = :id for update`,
);

export const endMail = statement<
  never,
  {
    id: number;
    state: MailState;
    reason: Reason | null;
    organizationId: number | null;
    ticketId: number | null;
    userId: number | null;
    messageId: number | null;
    reopened: boolean;
    now: Date;
  }
>(
  'tickets.endMail',
  `update ticket_mails set state = :state, reason = :reason, organization_id = :organizationId, ticket_id = :ticketId,
     user_id = :userId, ticket_message_id = :messageId, reopened = :reopened, decided_at = :now
   where id = :id`,
);
