import { type MailDeclaration, mail } from '../events/index.ts';
import {
  accountRegistered,
  apiKeyCreated,
  apiKeyRevoked,
  passwordForgotten,
  passwordReset,
  recoveryCodesMade,
  registrationRepeated,
  secondFactorDisabled,
  secondFactorEnabled,
  sessionOpened,
  verificationSent,
} from './events.ts';
import { mailLink } from './signIn/links.ts';

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

const confirm = 'Follow this link within a day to confirm your address:';
const notYou = 'If you did not ask for this, do nothing: without the link it leads nowhere.';

const registered = mail(accountRegistered, ({ data }) => ({
  subject: 'Confirm your address',
  lines: [confirm, notYou],
  link: mailLink('verify', data.link_id),
}));

const again = mail(verificationSent, ({ data }) => ({
  subject: 'Confirm your address',
  lines: [confirm, notYou],
  link: mailLink('verify', data.link_id),
}));

const repeated = mail(registrationRepeated, ({ data }) => ({
  subject: 'You have an account already',
  lines: [
    'Somebody registered with your address, for which there is an account. If that was you, sign in with it. Should you have forgotten its password, set another one by this link within an hour:',
    'If it was not you, do nothing: your account is as it was.',
  ],
  link: mailLink('reset', data.link_id),
}));

const forgotten = mail(passwordForgotten, ({ data }) => ({
  subject: 'Set a new password',
  lines: ['Follow this link within an hour to set a new password. It works once:', notYou],
  link: mailLink('reset', data.link_id),
}));

const reset = mail(passwordReset, () => ({
  subject: 'Your password was changed',
  lines: [
    'The password of your account was set anew by a link in a mail, and all its sessions have ended.',
    'If that was not you, somebody reads your mails: secure your mailbox, set the password again, and look through your API keys.',
  ],
}));

const signedIn = mail(
  sessionOpened,
  ({ data }) => ({
    subject: 'Somebody signed in to your account',
    lines: [
      `Your account was signed in to in a browser or program that it had not seen before: ${data.user_agent ?? 'it did not say which'}.`,
      'If that was not you, set a new password, which ends all sessions, and look through your API keys.',
    ],
  }),
  { when: ({ new_device }) => new_device },
);

const ifNotYou =
  'If that was not you, somebody knows your password: set a new one, which ends all sessions, and ask support.';

const enabled = mail(secondFactorEnabled, () => ({
  subject: 'Your account has a second factor',
  lines: ['From now on your account asks for a code of your authenticator app.', ifNotYou],
}));

const disabled = mail(secondFactorDisabled, () => ({
  subject: 'Your account has no second factor any more',
  lines: ['From now on your account is signed in to without a code of your authenticator app.', ifNotYou],
}));

const newCodes = mail(recoveryCodesMade, () => ({
  subject: 'Your account has new recovery codes',
  lines: ['Ten new recovery codes were made for your account. The old ones are good no more.', ifNotYou],
}));

/** Mails about who gets into an account, and how. */
export const accountMails: MailDeclaration[] = [
  ...[made, revoked],
  ...[registered, again, repeated, forgotten, reset, signedIn],
  ...[enabled, disabled, newCodes],
];
