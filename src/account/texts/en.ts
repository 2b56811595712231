/** What mails about an account say. */
export const en = {
  shared: {
    ifNotAsked: 'If you did not ask for this, do nothing: without the link nothing happens.',
    ifNotYouPassword:
      'If that was not you, somebody knows your password: set a new one, which ends all sessions, and ask support.',
    setPassword: 'Set a new password',
    seeKeys: 'See your API keys',
    confirmAddress: 'Confirm address',
  },
  keyMade: {
    subject: 'An API key was made for you',
    what: 'Somebody else made an API key of your account: "{{name}}", {{prefix}}…, number {{id}}.',
    next: 'Whoever holds it can do what you can do with it. If you did not ask for it, revoke it and ask who made it.',
  },
  keyOwn: {
    subject: 'Your account has a new API key',
    what: 'An API key was made in your account: "{{name}}", {{prefix}}…. Whoever holds it can do with it what it is for.',
    next: 'If that was not you, revoke it, set a new password, which ends all sessions, and look through your other keys.',
  },
  sshKeyAdded: {
    subject: 'Your account has a new SSH key',
    what: 'The SSH key "{{name}}", {{fingerprint}}, was added to your account. Machines ordered from now on let it in.',
    next: 'If that was not you, delete it, set a new password, which ends all sessions, and look at who your machines let in.',
  },
  keyRevoked: {
    subject: 'An API key of yours was revoked',
    what: 'Somebody else revoked your API key "{{name}}", {{prefix}}…, number {{id}}. It works no more.',
    next: 'If a program of yours needs it, make another one for it.',
  },
  keyEnding: {
    subject: 'An API key of yours ends soon',
    what: 'Your API key "{{name}}", {{prefix}}…, ends on {{at}}. Programs that use it are let in no more then.',
    next: 'If one of them is to go on, rotate the key: it gets a new one that is kept to the same, and the old one goes on meanwhile.',
  },
  putBack: {
    subject: 'Please look through your API keys',
    what: 'Something broke here, and your account is again as it was on {{at}}. What you changed in it after that is undone, and you were signed out everywhere.',
    keys: 'An API key that you revoked after that is good again: revoke it once more. A key that you made after that is none any more.',
    rest: 'Look through your password, second factor, passkeys and SSH keys as well, and through who is in your organization.',
  },
  verify: {
    subject: 'Confirm your address',
    what: 'Follow this link within a day to confirm your e-mail address.',
  },
  repeated: {
    subject: 'You have an account already',
    what: 'Somebody registered with your address, for which there is an account. If that was you, sign in with it. Should you have forgotten its password, set another one by this link within an hour.',
    ifNot: 'If it was not you, do nothing: your account is as it was.',
  },
  forgotten: {
    subject: 'Set a new password',
    what: 'Follow this link within an hour to set a new password. It works once.',
  },
  passwordReset: {
    subject: 'Your password was changed',
    what: 'The password of your account was set anew by a link in a mail, and all its sessions have ended.',
    ifNot:
      'If that was not you, somebody reads your mails: secure your mailbox, set the password again, and look through your API keys.',
  },
  passwordChanged: {
    subject: 'Your password was changed',
    what: 'Another password was set for your account by somebody who knew the one before. All its other sessions have ended.',
    ifNot: 'If that was not you, set another one by "forgotten password", and look through your API keys.',
  },
  emailWanted: {
    subject: 'Confirm your new address',
    what: 'Follow this link within a day, and your account has this address from then on.',
  },
  emailLeaving: {
    subject: 'Your account is to have another address',
    what: 'Somebody who is signed in wants your account to have another address. It has it once the link is followed that was sent there; until then all is as it was.',
    ifNot:
      'If that was not you, sign in and set another password: that ends all other sessions, and the link is good no more.',
  },
  emailTaken: {
    subject: 'This address has an account already',
    what: 'Somebody wants to give their account your address, which has an account of its own. Both stay as they are.',
    next: 'If that was you, sign in with this address, or give that account another one first.',
  },
  emailGone: {
    subject: 'Your account has another address',
    what: 'Your account has another address from now on. If that was not you, follow this link within seven days to have it back.',
    button: 'Take my address back',
    next: 'Then all sessions end, the password is good no more, and we send you a link to set another one.',
  },
  emailBack: {
    subject: 'Your account has its old address again',
    what: 'Your account has this address again. All its sessions have ended, and its password is good no more. Set another one by this link within an hour.',
    next: 'API keys, SSH keys, passkeys and an authenticator app that were added since the address was changed are gone. Look through those from before: whoever changed the address could change them too.',
    sshKeys:
      'These SSH keys were among them: {{names}}. A machine that lets one of them in does so until you take it away there: look at the keys of each.',
  },
  addressHeld: {
    subject: 'This address cannot have an account yet',
    what: 'Somebody registered with your address. An account gave it up less than a week ago and can still have it back, so nobody else gets it until then.',
    next: 'If you want an account with it, register again in a week.',
  },
  signedIn: {
    subject: 'Somebody signed in to your account',
    what: 'Your account was signed in to in a browser or program that it had not seen before: {{program}}.',
    whatUnknown:
      'Your account was signed in to in a browser or program that it had not seen before, and which did not say what it is.',
    ifNot:
      'If that was not you, set a new password, which ends all sessions, and look through your API keys.',
  },
  factorOn: {
    subject: 'Your account has a second factor',
    what: 'From now on your account asks for a code of your authenticator app.',
  },
  factorOff: {
    subject: 'Your account has no second factor any more',
    what: 'From now on your account is signed in to without a code of your authenticator app.',
  },
  newCodes: {
    subject: 'Your account has new recovery codes',
    what: 'Ten new recovery codes were made for your account. The old ones are good no more.',
  },
  passkeyAdded: {
    subject: 'Your account has a new passkey',
    what: 'From now on your account is signed in to with the passkey "{{name}}" as well.',
  },
  passkeyRemoved: {
    subject: 'A passkey was removed from your account',
    what: 'Nobody signs in with the passkey "{{name}}" any more.',
  },
  passkeyCopied: {
    subject: 'A passkey of your account was refused',
    what: 'Somebody showed the passkey "{{name}}", and it counted fewer uses than before. That is so when there is a copy of it. We did not let it in.',
    next: 'Sign in another way, remove this passkey and add a new one.',
  },
  resetAsked: {
    subject: 'Your second factor will be taken away',
    what: 'Our staff was told that you lost your second factor. If that is not so, or you have it again, stop it by this link.',
    button: 'Keep my second factor',
    next: 'If you do nothing, authenticator app, passkeys and recovery codes of your account count no more in three days. From then on your password alone signs you in, so set up new ones then.',
  },
  resetStopped: {
    subject: 'Your second factor stays',
    what: 'It was asked to take the second factors of your account away. That was stopped, and all is as it was.',
  },
  resetDone: {
    subject: 'Your second factor was taken away',
    what: 'Authenticator app, passkeys and recovery codes of your account count no more, and all its sessions have ended.',
    next: 'Sign in with your password, and set up new ones. If you did not ask for this, set a new password and tell us at once.',
  },
  impersonated: {
    subject: 'Our staff looks at your account',
    whatReading: 'For thirty minutes our staff sees what you see, and changes nothing.',
    whatChanging: 'For thirty minutes our staff sees what you see, and may change things for you.',
    reason: 'The reason: {{reason}}',
    limits:
      'They do not reach passwords, second factors, keys, or your machines. What they do stands in the activity of your organization.',
    ifNot: 'If you did not expect this, answer this mail.',
  },
  ofStaff: {
    subject: 'You have an account of staff',
    what: 'Follow this link within an hour to set your password. It works once.',
    role: 'Your role is {{role}}. After you signed in, add a passkey or set up an authenticator app: without one nothing of staff opens.',
    late: 'If the hour is over, have a new link sent where you sign in.',
  },
  corrected: {
    subject: 'Your account was corrected',
    what: 'Our staff changed this of your account: {{fields}}. It shows what it says now.',
    ifWrong: 'If that is wrong, change it, or answer this mail.',
  },
  fields: {
    email: 'address',
    first_name: 'first name',
    last_name: 'last name',
    phone: 'phone',
    billing_email: 'address for invoices',
    abuse_email: 'address for abuse',
  },
  blocked: {
    subject: 'Your account was blocked',
    what: 'You are signed out everywhere, and neither your password nor your API keys let you in. What you have ordered goes on.',
    next: 'Ask support what for: answer this mail.',
  },
  unblocked: {
    subject: 'Your account is open again',
    what: 'You can sign in again, and API keys that were not revoked work again.',
  },
  unsubscribe: {
    title: 'Mails that you do not want',
    payments: 'Do you want no more mails about payments that we received? Invoices and reminders go on.',
    services:
      'Do you want no more mails about how your services get on, such as that one is ready or renewed? What you have to know goes on.',
    button: 'Unsubscribe',
    done: 'Done: you get no more mails of this kind. You can switch them on again in the preferences of your account.',
  },
  roles: {
    administrator: 'administrator',
    billing: 'billing',
    support: 'support',
    operator: 'operator',
  },
  closed: {
    subject: 'Your account is closed',
    what: 'You closed your account. Nobody signs in to it any more, and its name and addresses are forgotten; this one in a week, with the mails that were sent to it.',
    kept: 'Invoices and payments are kept without them, as long as the law wants. If you want an account again, register with this address or another.',
  },
} as const;
