import { type MailDeclaration, mailTo } from '../events/index.ts';
import { staffTold } from './events.ts';
import { say } from './texts/index.ts';

const shown = 20;

const told = mailTo(
  staffTold,
  ({ recipient }) => recipient,
  ({ data: { title, concerns } }, reader) => ({
    subject: say(reader, 'told.subject', { title, number: concerns.length }),
    blocks: [
      say(reader, 'told.what', { title }),
      ...concerns.slice(0, shown).map(({ id, message }) => say(reader, 'told.concern', { id, message })),
      ...(concerns.length > shown ? [say(reader, 'told.more', { number: concerns.length - shown })] : []),
      say(reader, 'told.all'),
    ],
  }),
  { isStaffs: true, leadsTo: (_, reader) => ({ button: say(reader, 'told.button'), page: '/staff' }) },
);

/** What the provider's own people are told. */
export const staffMails: MailDeclaration[] = [told];
