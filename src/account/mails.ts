import { type MailDeclaration, mail } from '../events/index.ts';
import { apiKeyCreated, apiKeyRevoked } from './events.ts';

const made = mail(
  apiKeyCreated,
  ({ subject, data }) => ({
    subject: 'An API key was made for you',
    lines: [
      `Somebody else made an API key of your account: "${data.name}", ${data.prefix}…, number ${subject.id}.`,
      'Whoever holds it can do what you can do with it. If you did not ask for it, revoke it and ask who made it.',
    ],
  }),
  { when: ({ by_other }) => by_other },
);

const revoked = mail(
  apiKeyRevoked,
  ({ subject, data }) => ({
    subject: 'An API key of yours was revoked',
    lines: [
      `Somebody else revoked your API key "${data.name}", ${data.prefix}…, number ${subject.id}. It works no more.`,
      'If a program of yours needs it, make another one for it.',
    ],
  }),
  { when: ({ by_other }) => by_other },
);

/** Mails about an account that somebody else changed. */
export const accountMails: MailDeclaration[] = [made, revoked];
