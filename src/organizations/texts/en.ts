/** What mails about organizations say. */
export const en = {
  invitation: {
    subject: '"{{by}}" invites you to "{{organization}}"',
    what: '"{{by}}" invites you to act for the organization "{{organization}}", as {{role}}. Follow this link within a week, signed in with this address, to accept.',
    button: 'Accept the invitation',
    next: 'Without an account, register first, with this address. If you do not know who asks, do nothing: without the link nothing happens.',
  },
  accepted: {
    subject: 'Your invitation to "{{organization}}" was accepted',
    what: 'Whoever you invited at "{{email}}" acts for the organization "{{organization}}" now, as {{role}}.',
    ifWrong: 'If that was a mistake, an owner or administrator takes them out of it.',
  },
  roleChanged: {
    subject: 'Your role in "{{organization}}" changed',
    what: 'You were {{before}} of the organization "{{organization}}", and are {{role}} now.',
    ifNot: 'If you did not expect this, ask its owner.',
  },
  removed: {
    subject: 'You are no longer a member of "{{organization}}"',
    left: 'You left the organization "{{organization}}".',
    leftNotYou:
      'If that was not you, somebody gets into your account: set a new password, which ends all sessions, and look through your API keys.',
    takenOut: 'You were taken out of the organization "{{organization}}".',
    takenOutNext:
      'What you ordered for it goes on and is its own; your account and your other organizations are as they were.',
  },
  roles: {
    owner: 'owner',
    admin: 'administrator',
    billing: 'billing',
    technical: 'technical',
    support: 'support',
    viewer: 'viewer',
  },
  blocked: {
    subject: 'Your organization "{{organization}}" is blocked',
    what: 'The organization "{{organization}}" orders and changes nothing for now. What runs goes on, and invoices can be paid.',
    next: 'Ask support what for: answer this mail.',
  },
  unblocked: {
    subject: 'Your organization "{{organization}}" is open again',
    what: 'The organization "{{organization}}" orders and changes things again as before.',
  },
  corrected: {
    subject: 'Your organization "{{organization}}" was corrected',
    what: 'Our staff changed this of your organization: {{fields}}. It shows what it says now.',
    ifWrong: 'If that is wrong, change it, or answer this mail.',
  },
  fields: {
    name: 'name',
    country: 'country',
    require_2fa: 'second factor for everybody',
  },
} as const;
