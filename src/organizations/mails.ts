import { type MailDeclaration, mail, mailTo } from '../events/index.ts';
import type { Happened, Reader } from '../platform/index.ts';
import {
  type InvitationSent,
  invitationAccepted,
  invitationSentAgain,
  memberInvited,
  memberRemoved,
  memberRoleChanged,
  organizationBlocked,
  organizationCorrected,
  organizationUnblocked,
} from './events.ts';
import { invitationLink } from './invitations/link.ts';
import { say } from './texts/index.ts';

/** The same for every address: whether there is an account is not for who invites to learn. */
const invitation = ({ subject, data }: Happened<InvitationSent>, reader: Reader) => {
  const { invited_by: by, organization, sending } = data;
  const role = say(reader, `roles.${data.role}`);
  return {
    subject: say(reader, 'invitation.subject', { by, organization }),
    blocks: [
      say(reader, 'invitation.what', { by, organization, role }),
      { button: say(reader, 'invitation.button'), link: invitationLink(subject.id, sending) },
      say(reader, 'invitation.next'),
    ],
  };
};
const invited = mailTo(memberInvited, ({ email }) => email, invitation);
const invitedAgain = mailTo(invitationSentAgain, ({ email }) => email, invitation);

const accepted = mail(invitationAccepted, ({ data: { organization, email, ...data } }, reader) => {
  const role = say(reader, `roles.${data.role}`);
  return {
    subject: say(reader, 'accepted.subject', { organization }),
    blocks: [say(reader, 'accepted.what', { organization, email, role }), say(reader, 'accepted.ifWrong')],
  };
});

const roleChanged = mail(memberRoleChanged, ({ data: { organization, ...data } }, reader) => {
  const role = say(reader, `roles.${data.role}`);
  const before = say(reader, `roles.${data.before}`);
  return {
    subject: say(reader, 'roleChanged.subject', { organization }),
    blocks: [
      say(reader, 'roleChanged.what', { organization, role, before }),
      say(reader, 'roleChanged.ifNot'),
    ],
  };
});

const removed = mail(memberRemoved, ({ data: { organization, left } }, reader) => ({
  subject: say(reader, 'removed.subject', { organization }),
  blocks: left
    ? [say(reader, 'removed.left', { organization }), say(reader, 'removed.leftNotYou')]
    : [say(reader, 'removed.takenOut', { organization }), say(reader, 'removed.takenOutNext')],
}));

const blocked = mail(organizationBlocked, ({ data }) => ({
  subject: `Your organization ${quoted(data.organization)} is blocked`,
  lines: [
    `The organization ${quoted(data.organization)} orders and changes nothing for now. What runs goes on, and invoices can be paid.`,
    'Ask support what for: answer this mail.',
  ],
}));

const unblocked = mail(organizationUnblocked, ({ data }) => ({
  subject: `Your organization ${quoted(data.organization)} is open again`,
  lines: [`The organization ${quoted(data.organization)} orders and changes things again as before.`],
}));

const corrected = mail(organizationCorrected, ({ data }) => ({
  subject: `Your organization ${quoted(data.organization)} was corrected`,
  lines: [
    `Our staff changed this of your organization: ${data.fields.join(', ')}. It shows what it says now.`,
    'If that is wrong, change it, or answer this mail.',
  ],
}));

/** Mails about who is in an organization. */
export const organizationMails: MailDeclaration[] = [
  invited,
  invitedAgain,
  accepted,
  roleChanged,
  removed,
  blocked,
  unblocked,
  corrected,
];
