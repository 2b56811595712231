import { type Block, type MailDeclaration, mail, mailTo } from '../events/index.ts';
import { ticketCustomerTold, ticketDepartmentTold } from './events.ts';
import { feedbackLink } from './feedback.ts';
import { say } from './texts/index.ts';

const departmentTold = mailTo(
  ticketDepartmentTold,
  ({ recipient }) => recipient,
  ({ data: { tid, subject, from, is_new } }, reader) => ({
    subject: say(reader, is_new ? 'department.subjectNew' : 'department.subject', { tid, subject }),
    blocks: [
      say(reader, is_new ? 'department.opened' : 'department.wrote', { from, tid, subject }),
      say(reader, 'department.next', { tid }),
    ],
  }),
);

const customerTold = mail(
  ticketCustomerTold,
  ({ data }, reader) => {
    const { tid, subject, is_closed, is_asked, ticket_id, by_mail } = data;
    const group = is_closed ? 'closed' : 'answered';
    const helped: Block = { button: say(reader, 'closed.button'), link: feedbackLink(ticket_id) };
    return {
      subject: say(reader, `${group}.subject`, { tid, subject }),
      blocks: [
        say(reader, `${group}.what`, { tid, subject }),
        ...(is_asked ? [say(reader, 'closed.ask'), helped] : []),
        say(reader, `${group}.${by_mail ? 'nextByMail' : 'next'}`),
      ],
    };
  },
  { conversation: ({ tid, in_reply_to }) => ({ code: tid, inReplyTo: in_reply_to ?? null }) },
);

/** What people are told of tickets. What was written stands in the ticket alone. */
export const ticketMails: MailDeclaration[] = [departmentTold, customerTold];
