import { type MailDeclaration, mail, mailTo } from '../events/index.ts';
import type { Happened } from '../platform/index.ts';
import {
  type InvitationSent,
  invitationAccepted,
  invitationSentAgain,
  memberInvited,
  memberRemoved,
  memberRoleChanged,
} from './events.ts';
import { invitationLink } from './invitations/link.ts';

/** Names come from people, and must not begin a line of their own. */
const quoted = (name: string) => `"${name.replace(/[\p{Cc}]+/gu, ' ').trim()}"`;

/** The same for every address: whether there is an account is not for who invites to learn. */
const invitation = ({ subject, data }: Happened<InvitationSent>) => ({
  subject: `${quoted(data.invited_by)} invites you to ${quoted(data.organization)}`,
  lines: [
    `${quoted(data.invited_by)} invites you to act for the organization ${quoted(data.organization)}, as ${data.role}. Follow this link within a week, signed in with this address, to accept:`,
    'Without an account, register first, with this address. If you do not know who asks, do nothing: without the link nothing happens.',
  ],
  link: invitationLink(subject.id, data.sending),
});
const invited = mailTo(memberInvited, ({ email }) => email, invitation);
const invitedAgain = mailTo(invitationSentAgain, ({ email }) => email, invitation);

const accepted = mail(invitationAccepted, ({ data }) => ({
  subject: `Your invitation to ${quoted(data.organization)} was accepted`,
  lines: [
    `Whoever you invited at ${quoted(data.email)} acts for the organization ${quoted(data.organization)} now, as ${data.role}.`,
    'If that was a mistake, an owner or administrator takes them out of it.',
  ],
}));

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
export const organizationMails: MailDeclaration[] = [invited, invitedAgain, accepted, roleChanged, removed];
