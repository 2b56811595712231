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
const invited = mailTo(memberInvited, ({ email }) => email, invitation, { isAwaited: true });
const invitedAgain = mailTo(invitationSentAgain, ({ email }) => email, invitation, { isAwaited: true });

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

const blocked = mail(organizationBlocked, ({ data: { organization } }, reader) => ({
  subject: say(reader, 'blocked.subject', { organization }),
  blocks: [say(reader, 'blocked.what', { organization }), say(reader, 'blocked.next')],
}));

const unblocked = mail(organizationUnblocked, ({ data: { organization } }, reader) => ({
  subject: say(reader, 'unblocked.subject', { organization }),
  blocks: [say(reader, 'unblocked.what', { organization })],
}));

const fields = ['name', 'country', 'require_2fa'] as const;

const corrected = mail(organizationCorrected, ({ data }, reader) => {
  const names = fields
    .filter((name) => data.fields.includes(name))
    .map((name) => say(reader, `fields.${name}`));
  return {
    subject: say(reader, 'corrected.subject', { organization: data.organization }),
    blocks: [say(reader, 'corrected.what', { fields: names.join(', ') }), say(reader, 'corrected.ifWrong')],
  };
});

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
