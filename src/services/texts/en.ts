/** What mails about orders and services say. `{{name}}` is what people call a service: its hostname, or its product. */
export const en = {
  shared: {
    look: 'See {{name}}',
    payNow: 'Pay now',
    reason: 'Reason: {{reason}}',
  },
  ready: {
    subject: '{{name}} is ready',
    server: 'Your server {{name}} is running.',
    other: 'What you ordered is ready: {{what}}.',
    signIn: 'Sign in with the password of your order, or with any SSH key of your account:',
  },
  renewed: {
    subject: '{{name}} is renewed until {{duedate}}',
    what: '{{what}} is paid until {{duedate}}. Thank you.',
  },
  renewalBack: {
    subject: '{{name}} is paid until {{duedate}}',
    what: 'Money that was paid for {{what}} has gone back.',
    next: 'It is paid until {{duedate}} now. We tell you before anything happens to it.',
  },
  traffic: {
    subject: '{{name}} has used {{percent}} % of its traffic in {{month}}',
    total:
      '{{name}} has sent and received {{used}} in {{month}} so far. Its price includes {{included}} a month.',
    percentile95:
      'The 95th percentile of {{name}} is {{used}} in {{month}} so far. Its price includes {{included}}.',
    soon: 'What goes beyond that stands on its next invoice. We tell you once more when all of it is used.',
    beyond: 'What goes beyond that stands on its next invoice. Nothing is slowed down or cut off.',
  },
  suspended: {
    subject: '{{name}} is suspended',
    what: '{{name}} is suspended: it is switched off and cannot be used. Nothing of it is deleted.',
  },
  unsuspended: {
    subject: '{{name}} is no longer suspended',
    byHand:
      '{{name}} is no longer suspended. Our staff is switching it on again, and we tell you once it is.',
    what: '{{name}} can be used again, as it was before.',
  },
  terminated: {
    subject: '{{name}} has ended',
    byHand:
      '{{name}} has ended. Our staff is taking it down, with all that is stored on it, and we tell you once it is gone.',
    what: '{{name}} has ended. What was stored on it is deleted, and its addresses are no longer yours.',
    invoices: 'Invoices for it that were open are cancelled.',
  },
  held: {
    subject: 'We look at your order {{id}}',
    what: 'Your order {{id}} is paid. One of us looks at it before it is delivered; you need not do anything.',
    next: 'If we cannot take it, all that you paid goes back to you.',
  },
  released: {
    subject: 'Your order {{id}} goes on',
    what: 'We have looked at your order {{id}}. It is being set up, and we tell you once it is ready.',
  },
  refused: {
    subject: 'We cannot take your order {{id}}',
    what: 'We have looked at your order {{id}} and cannot take it. All that you paid goes back to you, and you owe us nothing.',
  },
  beingSetUp: {
    subject: 'We are setting up {{name}}',
    what: '{{name}} is paid, and our staff is setting it up by hand. We tell you once it is ready; you need not do anything. The time that you paid for begins on that day.',
  },
  changeDone: {
    subject: '{{name}} is changed to what you chose',
    what: 'Our staff has done what was left to do: {{name}} is changed to what you chose.',
  },
  unsuspendDone: {
    subject: '{{name}} can be used again, as it was before',
    what: 'Our staff has done what was left to do: {{name}} can be used again, as it was before.',
  },
  terminateDone: {
    subject: '{{name}} is taken down, with all that was stored on it',
    what: 'Our staff has done what was left to do: {{name}} is taken down, with all that was stored on it.',
  },
  ends: {
    subject: '{{name}} ends on {{day}}',
    what: 'You cancelled {{name}}. It runs until {{day}}; then all that is stored on it is deleted.',
    next: 'Until then you can take the cancellation back.',
  },
  goesOn: {
    subject: '{{name}} goes on',
    what: 'You took your cancellation of {{name}} back. It goes on as before.',
  },
  changed: {
    subject: '{{name}} is {{product}} now',
    what: '{{name}} was {{before}} and is {{product}} now.',
    paidUntil: 'Paid until',
    price: 'Price for {{period}}, before tax',
    byHand: 'Our staff is changing it by hand, and we tell you once that is done.',
  },
  reminded: {
    subject: 'Invoice {{id}} is due on {{duedate}}',
    what: 'Invoice {{id}} for {{name}} is not paid yet: {{due}}, by {{duedate}}.',
    next: 'If your payment is on its way, there is nothing for you to do.',
  },
  overdue: {
    subject: 'Invoice {{id}} is overdue',
    lastSubject: 'Last reminder: invoice {{id}} is overdue',
    what: 'Invoice {{id}} for {{name}} was due on {{duedate}}, and {{due}} are not paid.',
    suspends: 'Unless it is paid, {{name}} is suspended from {{day}} on and cannot be used.',
    next: 'If you need more time, write to us before then.',
    nextOpen: 'If you need more time, write to us.',
  },
  ending: {
    subject: '{{name}} ends on {{day}}',
    what: '{{name}} is not renewed by itself, so it ends on {{day}}. What is stored on it is deleted then.',
    next: 'To keep it, renew it before that day, or have it renewed by itself again.',
  },
  priceAnnounced: {
    subject: '{{name}} costs {{price}} from {{day}} on',
    what: 'The price of {{name}} changes with its renewal on {{day}}:',
    before: 'Until then, for {{period}}',
    after: 'Afterwards, for {{period}}',
    tax: 'Both are before tax. What you have paid for, and an invoice that is open, keep their price.',
    choice:
      'If you agree there is nothing for you to do. If not, cancel it before {{day}} to the end of its period; it then costs you nothing more.',
  },
  priceKept: {
    subject: '{{name}} keeps its price',
    what: 'We told you of a new price of {{name}}. That is off: it costs {{price}} as before.',
    next: 'An invoice that asked for the new price is cancelled.',
  },
  periods: {
    monthly: 'a month',
    quarterly: 'a quarter',
    semiannually: 'half a year',
    annually: 'a year',
    biennially: 'two years',
    triennially: 'three years',
  },
  movedAway: {
    subject: '{{name}} was moved to another organization',
    what: '{{name}} is of another organization now, which pays for it from now on. What you paid for it stays yours.',
    ifNot:
      'An owner of yours did this, who is in charge there as well. If you did not expect it, answer this mail.',
  },
  movedIn: {
    subject: '{{name}} was moved to your organization',
    what: '{{name}} is of your organization now, which pays for it from the next period on.',
    price:
      'A new price was announced for it, which goes along: from the renewal on {{day}} a period costs {{price}} before tax.',
    next: 'Passwords and SSH keys of a machine stay good as they are. Change them if others know them.',
  },
} as const;
