import { type MailDeclaration, mail } from '../events/index.ts';
import { momentFor } from '../platform/index.ts';
import { changeLink } from './emailChange/rows.ts';
import {
  accountBlocked,
  accountCorrected,
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
  staffAdded,
  verificationSent,
} from './events.ts';
import { keepLink } from './factors/reset.ts';
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

const ending = mail(apiKeyEnding, ({ data }, reader) => ({
  subject: 'An API key of yours ends soon',
  lines: [
    `Your API key "${data.name}", ${data.prefix}…, ends on ${momentFor(reader, data.expires_at)}. Programs that use it are let in no more then.`,
    'If one of them is to go on, rotate the key: it gets a new one that is kept to the same, and the old one goes on meanwhile.',
  ],
}));

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

const passwordSet = mail(passwordChanged, () => ({
  subject: 'Your password was changed',
  lines: [
    'Another password was set for your account by somebody who knew the one before. All its other sessions have ended.',
    'If that was not you, set another one by "forgotten password", and look through your API keys.',
  ],
}));

const emailWanted = mail(
  emailChangeAsked,
  ({ data }) => ({
    subject: 'Confirm your new address',
    lines: ['Follow this link within a day, and your account has this address from then on:', notYou],
    link: changeLink('confirm', data.email_change_id),
  }),
  { address: 'new_email' },
);

const emailLeaving = mail(
  emailChangeTold,
  () => ({
    subject: 'Your account is to have another address',
    lines: [
      'Somebody who is signed in wants your account to have another address. It has it once the link is followed that was sent there; until then all is as it was.',
      'If that was not you, sign in and set another password: that ends all other sessions, and the link is good no more.',
    ],
  }),
  { address: 'old_email' },
);

const emailTaken = mail(
  emailChangeRefused,
  () => ({
    subject: 'This address has an account already',
    lines: [
      'Somebody wants to give their account your address, which has an account of its own. Both stay as they are.',
      'If that was you, sign in with this address, or give that account another one first.',
    ],
  }),
  { address: 'new_email' },
);

const emailGone = mail(
  emailChanged,
  ({ data }) => ({
    subject: 'Your account has another address',
    lines: [
      'Your account has another address from now on. If that was not you, follow this link within seven days to have it back:',
      'Then all sessions end, the password is good no more, and we send you a link to set another one.',
    ],
    link: changeLink('revoke', data.email_change_id),
  }),
  { address: 'old_email' },
);

const emailBack = mail(emailChangeRevoked, ({ data }) => ({
  subject: 'Your account has its old address again',
  lines: [
    'Your account has this address again. All its sessions have ended, and its password is good no more. Set another one by this link within an hour:',
    'API keys, passkeys and an authenticator app that were added since the address was changed are gone. Look through those from before: whoever changed the address could change them too.',
  ],
  link: mailLink('reset', data.link_id),
}));

const held = mail(
  addressHeld,
  () => ({
    subject: 'This address cannot have an account yet',
    lines: [
      'Somebody registered with your address. An account gave it up less than a week ago and can still have it back, so nobody else gets it until then.',
      'If you want an account with it, register again in a week.',
    ],
  }),
  { address: 'old_email' },
);

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

const passkeyNew = mail(passkeyAdded, ({ data }) => ({
  subject: 'Your account has a new passkey',
  lines: [`From now on your account is signed in to with the passkey "${data.name}" as well.`, ifNotYou],
}));

const passkeyGone = mail(passkeyRemoved, ({ data }) => ({
  subject: 'A passkey was removed from your account',
  lines: [`Nobody signs in with the passkey "${data.name}" any more.`, ifNotYou],
}));

const passkeyCopied = mail(passkeyWentBack, ({ data }) => ({
  subject: 'A passkey of your account was refused',
  lines: [
    `Somebody showed the passkey "${data.name}", and it counted fewer uses than before. That is so when there is a copy of it. We did not let it in.`,
    'Sign in another way, remove this passkey and add a new one.',
  ],
}));

const resetAsked = mail(factorResetAsked, ({ data }) => ({
  subject: 'Your second factor will be taken away',
  lines: [
    'Our staff was told that you lost your second factor. If that is not so, or you have it again, stop it by this link:',
    'If you do nothing, authenticator app, passkeys and recovery codes of your account count no more in three days. From then on your password alone signs you in, so set up new ones then.',
  ],
  link: keepLink(data.link_id),
}));

const resetStopped = mail(factorResetStopped, () => ({
  subject: 'Your second factor stays',
  lines: [
    'It was asked to take the second factors of your account away. That was stopped, and all is as it was.',
  ],
}));

const resetDone = mail(factorReset, () => ({
  subject: 'Your second factor was taken away',
  lines: [
    'Authenticator app, passkeys and recovery codes of your account count no more, and all its sessions have ended.',
    'Sign in with your password, and set up new ones. If you did not ask for this, set a new password and tell us at once.',
  ],
}));

const impersonated = mail(impersonationStarted, ({ data }) => ({
  subject: 'Our staff looks at your account',
  lines: [
    `For thirty minutes our staff sees what you see${data.read_only ? ', and changes nothing' : ', and may change things for you'}. The reason: ${data.reason}`,
    'They do not reach passwords, second factors, keys, or your machines. What they do stands in the activity of your organization.',
    'If you did not expect this, answer this mail.',
  ],
}));

const ofStaff = mail(staffAdded, ({ data }) => ({
  subject: 'You have an account of staff',
  lines: [
    'Follow this link within an hour to set your password. It works once:',
    `Your role is ${data.role}. After you signed in, add a passkey or set up an authenticator app: without one nothing of staff opens.`,
    'If the hour is over, have a new link sent where you sign in.',
  ],
  link: mailLink('reset', data.link_id),
}));

const corrected = mail(accountCorrected, ({ data }) => ({
  subject: 'Your account was corrected',
  lines: [
    `Our staff changed this of your account: ${data.fields.join(', ')}. It shows what it says now.`,
    'If that is wrong, change it, or answer this mail.',
  ],
}));

const blocked = mail(accountBlocked, () => ({
  subject: 'Your account was blocked',
  lines: [
    'You are signed out everywhere, and neither your password nor your API keys let you in. What you have ordered goes on.',
    'Ask support what for: answer this mail.',
  ],
}));

const unblocked = mail(accountUnblocked, () => ({
  subject: 'Your account is open again',
  lines: ['You can sign in again, and API keys that were not revoked work again.'],
}));

/** Mails about who gets into an account, and how. */
export const accountMails: MailDeclaration[] = [
  ...[made, revoked, ending],
  ...[registered, again, repeated, forgotten, reset, signedIn],
  ...[passwordSet, emailWanted, emailLeaving, emailTaken, emailGone, emailBack, held],
  ...[enabled, disabled, newCodes],
  ...[passkeyNew, passkeyGone, passkeyCopied],
  ...[resetAsked, resetStopped, resetDone],
  impersonated,
  ...[ofStaff, corrected, blocked, unblocked],
];
