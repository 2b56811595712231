import { type MailDeclaration, mail } from '../events/index.ts';
import { moved } from './events.ts';
import { say } from './texts/index.ts';

const movedMail = mail(
  moved,
  ({ data: { hostname: name, new_password: isNew } }, reader) => ({
    subject: say(reader, 'moved.subject', { name }),
    blocks: [
      say(reader, 'moved.what', { name }),
      say(reader, 'moved.lost'),
      ...(isNew ? [say(reader, 'moved.password')] : []),
    ],
  }),
  {
    leadsTo: ({ subject: { id }, data: { hostname: name } }, reader) => ({
      button: say(reader, 'moved.look', { name }),
      page: `/services/${id}`,
    }),
  },
);

/** What customers are told of their servers. */
export const dedicatedMails: MailDeclaration[] = [movedMail];
