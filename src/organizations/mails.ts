import { type MailDeclaration, mail } from '../events/index.ts';
import { memberRemoved, memberRoleChanged } from './events.ts';

/** Names come from people, and must not begin a line of their own. */
const quoted = (name: string) => `"${name.replace(/[\p{Cc}]+/gu, ' ').trim()}"`;

const roleChanged = mail(memberRoleChanged, ({ data }) => ({
  subject: `Your role in ${quoted(data.organization)} changed`,
  lines: [
    `You were ${data.before} of the organization ${quoted(data.organization)}, and are ${data.role} now.`,
    'If you did not expect this, ask its owner.',
  ],
}));

const removed = mail(memberRemoved, ({ data }) => ({
  subject: `You are no longer a member of ${quoted(data.organization)}`,
  lines: data.left
    ? [
        `You left the organization ${quoted(data.organization)}.`,
        'If that was not you, somebody gets into your account: set a new password, which ends all sessions, and look through your API keys.',
      ]
    : [
        `You were taken out of the organization ${quoted(data.organization)}.`,
        'What you ordered for it goes on and is its own; your account and your other organizations are as they were.',
      ],
}));

/** Mails about who is in an organization. */
export const organizationMails: MailDeclaration[] = [roleChanged, removed];
