import { type MailDeclaration, mailTo } from '../events/index.ts';
import { staffTold } from './events.ts';

const shown = 20;

const told = mailTo(
  staffTold,
  ({ recipient }) => recipient,
  ({ data: { title, concerns } }) => ({
    subject: `${title}: ${concerns.length}`,
    lines: [
      `${title}, since the last mail of this kind:`,
      '',
      ...concerns.slice(0, shown).map(({ id, message }) => `  ${id}  ${message}`),
      ...(concerns.length > shown ? [`  and ${concerns.length - shown} more`] : []),
      '',
      'All that needs a person: GET /api/staff/attention',
    ],
  }),
);

/** What the provider's own people are told. */
export const staffMails: MailDeclaration[] = [told];
