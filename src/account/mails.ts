import { type MailDeclaration, mail } from '../events/index.ts';
import { momentFor, type Reader } from '../platform/index.ts';
import { changeLink } from './emailChange/rows.ts';
import {
  accountBlocked,
  accountClosed,
  accountCorrected,
  accountPutBack,
  accountRegistered,
  accountUnblocked,
  addressHeld,
  apiKeyCreated,
  apiKeyEnding,
  apiKeyRevoked,
  emailChangeAsked,
  emailChanged,
  emailChangeRefused,
  emailChangeRevoked,
  emailChangeTold,
  factorReset,
  factorResetAsked,
  factorResetStopped,
  impersonationStarted,
  passkeyAdded,
  passkeyRemoved,
  passkeyWentBack,
  passwordChanged,
  passwordForgotten,
  passwordReset,
  recoveryCodesMade,
  registrationRepeated,
  secondFactorDisabled,
  secondFactorEnabled,
  sessionOpened,
  sshKeyCreated,
  staffAdded,
  verificationSent,
} from './events.ts';
import { keepLink } from './factors/reset.ts';
import { mailLink } from './signIn/links.ts';
import { say } from './texts/index.ts';

/** To where a password is set anew, for whoever was not it. */
const toPassword = (_: object, reader: Reader) => ({
  button: say(reader, 'shared.setPassword'),
  page: '/forgot-password',
});

const toKeys = (_: object, reader: Reader) => ({
  button: say(reader, 'shared.seeKeys'),
  page: '/developers',
});

const made = mail(
  apiKeyCreated,
  ({ subject: { id }, data: { name, prefix, by_other } }, reader) => ({
    subject: say(reader, by_other ? 'keyMade.subject' : 'keyOwn.subject'),
    blocks: by_other
      ? [say(reader, 'keyMade.what', { name, prefix, id }), say(reader, 'keyMade.next')]
      : [say(reader, 'keyOwn.what', { name, prefix }), say(reader, 'keyOwn.next')],
  }),
  { when: ({ by_other, by_self }) => by_other || by_self, leadsTo: toKeys },
);

const sshKeyNew = mail(
  sshKeyCreated,
  ({ data: { name, fingerprint } }, reader) => ({
    subject: say(reader, 'sshKeyAdded.subject'),
    blocks: [say(reader, 'sshKeyAdded.what', { name, fingerprint }), say(reader, 'sshKeyAdded.next')],
  }),
  { leadsTo: toPassword },
);

const revoked = mail(
  apiKeyRevoked,
  ({ subject: { id }, data: { name, prefix } }, reader) => ({
    subject: say(reader, 'keyRevoked.subject'),
    blocks: [say(reader, 'keyRevoked.what', { name, prefix, id }), say(reader, 'keyRevoked.next')],
  }),
  { when: ({ by_other }) => by_other, leadsTo: toKeys },
);

const ending = mail(
  apiKeyEnding,
  ({ data: { name, prefix, expires_at } }, reader) => ({
    subject: say(reader, 'keyEnding.subject'),
    blocks: [
      say(reader, 'keyEnding.what', { name, prefix, at: momentFor(reader, expires_at) }),
      say(reader, 'keyEnding.next'),
    ],
  }),
  { leadsTo: toKeys },
);

const putBack = mail(
  accountPutBack,
  ({ data: { made_at } }, reader) => ({
    subject: say(reader, 'putBack.subject'),
    blocks: [
      say(reader, 'putBack.what', { at: momentFor(reader, made_at) }),
      say(reader, 'putBack.keys'),
      say(reader, 'putBack.rest'),
    ],
  }),
  { leadsTo: toKeys },
);

const confirmation = (reader: Reader, linkId: number) => ({
  subject: say(reader, 'verify.subject'),
  blocks: [
    say(reader, 'verify.what'),
    { button: say(reader, 'shared.confirmAddress'), link: mailLink('verify', linkId) },
    say(reader, 'shared.ifNotAsked'),
  ],
});
const registered = mail(accountRegistered, ({ data }, reader) => confirmation(reader, data.link_id), {
  isAwaited: true,
});
const again = mail(verificationSent, ({ data }, reader) => confirmation(reader, data.link_id), {
  isAwaited: true,
});

/** The button by which a password is set anew. */
const setPassword = (reader: Reader, linkId: number) => ({
  button: say(reader, 'shared.setPassword'),
  link: mailLink('reset', linkId),
});

const repeated = mail(
  registrationRepeated,
  ({ data }, reader) => ({
    subject: say(reader, 'repeated.subject'),
    blocks: [say(reader, 'repeated.what'), setPassword(reader, data.link_id), say(reader, 'repeated.ifNot')],
  }),
  { isAwaited: true },
);

const forgotten = mail(
  passwordForgotten,
  ({ data }, reader) => ({
    subject: say(reader, 'forgotten.subject'),
    blocks: [
      say(reader, 'forgotten.what'),
      setPassword(reader, data.link_id),
      say(reader, 'shared.ifNotAsked'),
    ],
  }),
  { isAwaited: true },
);

const reset = mail(
  passwordReset,
  (_, reader) => ({
    subject: say(reader, 'passwordReset.subject'),
    blocks: [say(reader, 'passwordReset.what'), say(reader, 'passwordReset.ifNot')],
  }),
  { leadsTo: toPassword },
);

const passwordSet = mail(
  passwordChanged,
  (_, reader) => ({
    subject: say(reader, 'passwordChanged.subject'),
    blocks: [say(reader, 'passwordChanged.what'), say(reader, 'passwordChanged.ifNot')],
  }),
  { leadsTo: toPassword },
);

const emailWanted = mail(
  emailChangeAsked,
  ({ data }, reader) => ({
    subject: say(reader, 'emailWanted.subject'),
    blocks: [
      say(reader, 'emailWanted.what'),
      { button: say(reader, 'shared.confirmAddress'), link: changeLink('confirm', data.email_change_id) },
      say(reader, 'shared.ifNotAsked'),
    ],
  }),
  { address: 'new_email', isAwaited: true },
);

const emailLeaving = mail(
  emailChangeTold,
  (_, reader) => ({
    subject: say(reader, 'emailLeaving.subject'),
    blocks: [say(reader, 'emailLeaving.what'), say(reader, 'emailLeaving.ifNot')],
  }),
  { address: 'old_email' },
);

const emailTaken = mail(
  emailChangeRefused,
  (_, reader) => ({
    subject: say(reader, 'emailTaken.subject'),
    blocks: [say(reader, 'emailTaken.what'), say(reader, 'emailTaken.next')],
  }),
  { address: 'new_email' },
);

const emailGone = mail(
  emailChanged,
  ({ data }, reader) => ({
    subject: say(reader, 'emailGone.subject'),
    blocks: [
      say(reader, 'emailGone.what'),
      { button: say(reader, 'emailGone.button'), link: changeLink('revoke', data.email_change_id) },
      say(reader, 'emailGone.next'),
    ],
  }),
  { address: 'old_email', isAwaited: true },
);

const emailBack = mail(
  emailChangeRevoked,
  ({ data }, reader) => ({
    subject: say(reader, 'emailBack.subject'),
    blocks: [
      say(reader, 'emailBack.what'),
      setPassword(reader, data.link_id),
      say(reader, 'emailBack.next'),
      ...(data.ssh_keys?.length
        ? [say(reader, 'emailBack.sshKeys', { names: data.ssh_keys.join(', ') })]
        : []),
    ],
  }),
  { isAwaited: true },
);

const held = mail(
  addressHeld,
  (_, reader) => ({
    subject: say(reader, 'addressHeld.subject'),
    blocks: [say(reader, 'addressHeld.what'), say(reader, 'addressHeld.next')],
  }),
  { address: 'old_email' },
);

const signedIn = mail(
  sessionOpened,
  ({ data: { user_agent: program } }, reader) => ({
    subject: say(reader, 'signedIn.subject'),
    blocks: [
      program === null ? say(reader, 'signedIn.whatUnknown') : say(reader, 'signedIn.what', { program }),
      say(reader, 'signedIn.ifNot'),
    ],
  }),
  { when: ({ new_device }) => new_device, leadsTo: toPassword },
);

const enabled = mail(
  secondFactorEnabled,
  (_, reader) => ({
    subject: say(reader, 'factorOn.subject'),
    blocks: [say(reader, 'factorOn.what'), say(reader, 'shared.ifNotYouPassword')],
  }),
  { leadsTo: toPassword },
);

const disabled = mail(
  secondFactorDisabled,
  (_, reader) => ({
    subject: say(reader, 'factorOff.subject'),
    blocks: [say(reader, 'factorOff.what'), say(reader, 'shared.ifNotYouPassword')],
  }),
  { leadsTo: toPassword },
);

const newCodes = mail(
  recoveryCodesMade,
  (_, reader) => ({
    subject: say(reader, 'newCodes.subject'),
    blocks: [say(reader, 'newCodes.what'), say(reader, 'shared.ifNotYouPassword')],
  }),
  { leadsTo: toPassword },
);

const passkeyNew = mail(
  passkeyAdded,
  ({ data: { name } }, reader) => ({
    subject: say(reader, 'passkeyAdded.subject'),
    blocks: [say(reader, 'passkeyAdded.what', { name }), say(reader, 'shared.ifNotYouPassword')],
  }),
  { leadsTo: toPassword },
);

const passkeyGone = mail(
  passkeyRemoved,
  ({ data: { name } }, reader) => ({
    subject: say(reader, 'passkeyRemoved.subject'),
    blocks: [say(reader, 'passkeyRemoved.what', { name }), say(reader, 'shared.ifNotYouPassword')],
  }),
  { leadsTo: toPassword },
);

const passkeyCopied = mail(passkeyWentBack, ({ data: { name } }, reader) => ({
  subject: say(reader, 'passkeyCopied.subject'),
  blocks: [say(reader, 'passkeyCopied.what', { name }), say(reader, 'passkeyCopied.next')],
}));

const resetAsked = mail(
  factorResetAsked,
  ({ data }, reader) => ({
    subject: say(reader, 'resetAsked.subject'),
    blocks: [
      say(reader, 'resetAsked.what'),
      { button: say(reader, 'resetAsked.button'), link: keepLink(data.link_id) },
      say(reader, 'resetAsked.next'),
    ],
  }),
  { isAwaited: true },
);

const resetStopped = mail(factorResetStopped, (_, reader) => ({
  subject: say(reader, 'resetStopped.subject'),
  blocks: [say(reader, 'resetStopped.what')],
}));

const resetDone = mail(factorReset, (_, reader) => ({
  subject: say(reader, 'resetDone.subject'),
  blocks: [say(reader, 'resetDone.what'), say(reader, 'resetDone.next')],
}));

const impersonated = mail(impersonationStarted, ({ data: { read_only, reason } }, reader) => ({
  subject: say(reader, 'impersonated.subject'),
  blocks: [
    say(reader, read_only ? 'impersonated.whatReading' : 'impersonated.whatChanging'),
    say(reader, 'impersonated.reason', { reason }),
    say(reader, 'impersonated.limits'),
    say(reader, 'impersonated.ifNot'),
  ],
}));

const roles = ['administrator', 'billing', 'support', 'operator'] as const;

const ofStaff = mail(
  staffAdded,
  ({ data: { role, link_id } }, reader) => {
    const known = roles.find((each) => each === role);
    return {
      subject: say(reader, 'ofStaff.subject'),
      blocks: [
        say(reader, 'ofStaff.what'),
        setPassword(reader, link_id),
        say(reader, 'ofStaff.role', { role: known === undefined ? role : say(reader, `roles.${known}`) }),
        say(reader, 'ofStaff.late'),
      ],
    };
  },
  { isAwaited: true },
);

const fields = ['email', 'first_name', 'last_name', 'phone', 'billing_email', 'abuse_email'] as const;

const corrected = mail(accountCorrected, ({ data }, reader) => {
  const names = data.fields.map((name) => {
    const known = fields.find((each) => each === name);
    return known === undefined ? name : say(reader, `fields.${known}`);
  });
  return {
    subject: say(reader, 'corrected.subject'),
    blocks: [say(reader, 'corrected.what', { fields: names.join(', ') }), say(reader, 'corrected.ifWrong')],
  };
});

const blocked = mail(accountBlocked, (_, reader) => ({
  subject: say(reader, 'blocked.subject'),
  blocks: [say(reader, 'blocked.what'), say(reader, 'blocked.next')],
}));

const unblocked = mail(accountUnblocked, (_, reader) => ({
  subject: say(reader, 'unblocked.subject'),
  blocks: [say(reader, 'unblocked.what')],
}));

const closed = mail(
  accountClosed,
  (_, reader) => ({
    subject: say(reader, 'closed.subject'),
    blocks: [say(reader, 'closed.what'), say(reader, 'closed.kept')],
  }),
  { address: 'old_email' },
);

/** Mails about who gets into an account, and how. */
export const accountMails: MailDeclaration[] = [
  ...[made, revoked, ending, putBack, sshKeyNew],
  ...[registered, again, repeated, forgotten, reset, signedIn],
  ...[passwordSet, emailWanted, emailLeaving, emailTaken, emailGone, emailBack, held],
  ...[enabled, disabled, newCodes],
  ...[passkeyNew, passkeyGone, passkeyCopied],
  ...[resetAsked, resetStopped, resetDone],
  impersonated,
  ...[ofStaff, corrected, blocked, unblocked, closed],
];
