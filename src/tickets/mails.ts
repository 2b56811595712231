import { type Block, type MailDeclaration, mail, mailTo } from '../events/index.ts';
import type { Reader } from '../platform/index.ts';
import { type ToldAttachment, ticketCustomerTold, ticketDepartmentTold } from './events.ts';
import { feedbackLink } from './feedback.ts';
import { say } from './texts/index.ts';

/** Files are named and not carried: they stay where only who may see the ticket gets them. */
function filesBeside(attachments: readonly ToldAttachment[] | undefined, reader: Reader): Block[] {
  // What was recorded before there were any has none.
  if (attachments === undefined || attachments.length === 0) return [];
  return [say(reader, 'attachments.with'), ...attachments.map(({ name, url }) => ({ button: name, url }))];
}

const departmentTold = mailTo(
  ticketDepartmentTold,
  ({ recipient }) => recipient,
  ({ data: { tid, subject, from, is_new, attachments } }, reader) => ({
    subject: say(reader, is_new ? 'department.subjectNew' : 'department.subject', { tid, subject }),
    blocks: [
      say(reader, is_new ? 'department.opened' : 'department.wrote', { from, tid, subject }),
      ...filesBeside(attachments, reader),
      say(reader, 'department.next', { tid }),
    ],
  }),
  {
    leadsTo: ({ data: { tid } }, reader) => ({
      button: say(reader, 'department.button'),
      page: `/staff/tickets/${tid}`,
    }),
  },
);

const customerTold = mail(
  ticketCustomerTold,
  ({ data }, reader) => {
    const { tid, subject, is_closed, is_asked, ticket_id, by_mail, attachments } = data;
    const group = is_closed ? 'closed' : 'answered';
    const helped: Block = { button: say(reader, 'closed.button'), link: feedbackLink(ticket_id) };
    return {
      subject: say(reader, `${group}.subject`, { tid, subject }),
      blocks: [
        say(reader, `${group}.what`, { tid, subject }),
        ...filesBeside(attachments, reader),
        ...(is_asked ? [say(reader, 'closed.ask'), helped] : []),
        say(reader, `${group}.${by_mail ? 'nextByMail' : 'next'}`),
      ],
    };
  },
  {
    conversation: ({ tid, in_reply_to }) => ({ code: tid, inReplyTo: in_reply_to ?? null }),
    leadsTo: ({ data: { tid, is_closed } }, reader) => ({
      button: say(reader, is_closed ? 'closed.see' : 'answered.button'),
      page: `/tickets/${tid}`,
    }),
  },
);

/** What people are told of tickets. What was written stands in the ticket alone. */
export const ticketMails: MailDeclaration[] = [departmentTold, customerTold];
