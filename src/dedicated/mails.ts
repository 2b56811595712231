import { type MailDeclaration, mail } from '../events/index.ts';
import { inOrder, moved, outOfOrder } from './events.ts';
import { say } from './texts/index.ts';

interface OfServer {
  subject: { id: number };
  data: { hostname: string };
}

const leadsTo = (
  { subject: { id }, data: { hostname: name } }: OfServer,
  reader: Parameters<typeof say>[0],
) => ({
  button: say(reader, 'moved.look', { name }),
  page: `/services/${id}`,
});

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
  { leadsTo },
);

const outOfOrderMail = mail(
  outOfOrder,
  ({ data: { hostname: name, taken_away: isTaken } }, reader) => ({
    subject: say(reader, 'outOfOrder.subject', { name }),
    blocks: [
      say(reader, isTaken ? 'outOfOrder.taken' : 'outOfOrder.what', { name }),
      say(reader, isTaken ? 'outOfOrder.another' : 'outOfOrder.next'),
      say(reader, 'outOfOrder.ticket'),
    ],
  }),
  { leadsTo },
);

const inOrderMail = mail(
  inOrder,
  ({ data: { hostname: name } }, reader) => ({
    subject: say(reader, 'inOrder.subject', { name }),
    blocks: [
      say(reader, 'inOrder.what', { name }),
      say(reader, 'inOrder.start'),
      say(reader, 'inOrder.ticket'),
    ],
  }),
  { leadsTo },
);

/** What customers are told of their servers. */
export const dedicatedMails: MailDeclaration[] = [movedMail, outOfOrderMail, inOrderMail];
