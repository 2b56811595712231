/** What mails about invoices, money and tax say. */
export const en = {
  shared: {
    total: 'To pay',
    due: 'Due',
    nothing: 'There is nothing to pay.',
    payNow: 'Pay now',
    seeInvoice: 'See the invoice',
    orderAgain: 'Order again',
    seeMethods: 'See your payment methods',
    seeProfile: 'See your billing profile',
    reason: 'Reason: {{reason}}',
    youOweNothing: 'You owe nothing for it.',
    onItsWay: 'If your transfer is on its way already, it becomes credit in your account.',
    partIsCredit: 'The {{credited}} that you paid towards it are credit in your account.',
    payNextWithIt: 'You can pay your next invoices with it.',
  },
  order: {
    subject: 'Your order: invoice {{id}}',
    what: 'Thank you for your order. We have reserved it for you:',
    next: 'Once it is paid, we deliver your order. Orders that are not paid by then are cancelled.',
    free: 'There is nothing to pay, so we deliver it now.',
  },
  renewal: {
    subject: 'Your renewal: invoice {{id}}',
    what: 'This is for the next period of what you have with us:',
    next: 'Pay it by then, and everything goes on.',
    credit:
      'You have {{credit}} of credit. It pays this invoice first, around {{duedate}}, and your saved payment method the rest, if there is one.',
  },
  upgrade: {
    subject: 'Your upgrade: invoice {{id}}',
    what: 'This is for the change that you asked for:',
    next: 'Once it is paid, the change is made. If it is not paid by then, everything stays as it is.',
    free: 'There is nothing to pay, so it is made at once.',
  },
  credit: {
    subject: 'Your credit: invoice {{id}}',
    what: 'You want to buy {{total}} of credit for your account.',
    next: 'Once it is paid, it is credit in your account. If it is not paid by then, the invoice is cancelled.',
  },
  demand: {
    subject: 'A new invoice: {{id}}',
    what: 'We have issued an invoice for you:',
  },
  paid: {
    subject: 'Payment received for invoice {{id}}',
    what: 'We received {{total}} for invoice {{id}}. Thank you.',
  },
  partPaid: {
    subject: 'A part of invoice {{id}} is paid',
    what: 'We received {{amount}} for invoice {{id}}. Thank you.',
    due: '{{due}} are still due, by {{duedate}}.',
    dueOfOrder: '{{due}} are still due, by {{duedate}}. Once they are paid, your order is delivered.',
    next: 'You can pay them by another transfer or with credit. What you paid becomes credit if the rest does not come.',
  },
  ended: {
    subject: 'Invoice {{id}} is cancelled',
    renewalExpired: 'Invoice {{id}} for {{total}} was not paid in time, so it is cancelled.',
    expired:
      'Invoice {{id}} for {{total}} was not paid in time, so it is cancelled and what was reserved for it is free again. You owe nothing.',
    orderAgain:
      'If you still want it, order again. If your transfer is on its way already, it becomes credit in your account.',
    asAsked:
      'Invoice {{id}} for {{total}} is cancelled, as you asked, and what was reserved for it is free again. You owe nothing.',
    because: 'Invoice {{id}} for {{total}} is cancelled: {{reason}}.',
  },
  refund: {
    subject: 'Refund for invoice {{id}}',
    asCredit: 'We gave back {{amount}} of invoice {{id}}, as credit in your account.',
    original:
      'We gave back {{amount}} of invoice {{id}}, to the card or account that you paid with. Banks take up to ten days for it.',
    takenBack:
      '{{amount}} were booked for invoice {{id}} by mistake: the payment was not yours. We have taken them back.',
    dispute: 'Your bank took back {{amount}} of invoice {{id}}.',
    part: 'We gave back {{amount}} that you paid towards invoice {{id}}, as credit in your account. The invoice is still open.',
  },
  paidAgain: {
    subject: 'Invoice {{id}} is paid again',
    why: 'Your bank gave us back {{amount}} of invoice {{id}} that it had taken. They pay for what you had, as before, and you find a document about it beside the invoice. You need not do anything.',
  },
  paidOut: {
    subject: 'We paid out {{amount}} of your credit',
    why: 'We sent {{amount}} of the credit in your account to your bank account on {{day}}. Banks take a day or two for it.',
  },
  becameCredit: {
    subject: 'Your payment for invoice {{id}} became credit',
    subjectOfRefund: 'Your refund of invoice {{id}} became credit',
    subjectOfTransfer: '{{amount}} of your transfer became credit',
    wasPaid:
      'We received {{amount}} for invoice {{id}} more than was due: it was paid already. They are now credit in your account, and you can pay your next invoices with them.',
    wasRefunded:
      'Your bank did not take the {{amount}} that we gave back of invoice {{id}}. They are now credit in your account; tell us if you want them in another way.',
    wasDisputed:
      'Your bank had taken back {{amount}} of invoice {{id}}, and has given them to us again. They are now credit in your account; tell us if you want them in another way.',
    wasCancelled:
      'We received {{amount}} for invoice {{id}}, which was cancelled before the money came. It is now credit in your account; order again and pay with it.',
    overpaid:
      'Your transfer {{reference}} was {{amount}} more than was due. They are now credit in your account, and you can pay your next invoices with them.',
  },
  declined: {
    subject: 'Your payment for invoice {{id}} was declined',
    what: 'We could not take {{amount}} for invoice {{id}}: {{reason}}',
    open: 'Nothing was taken, and the invoice is still open.',
    tryAgain: 'We try again on {{day}}. You can pay it now, with another card as well:',
    noTry: 'We do not try again by ourselves. You can pay it now, with another card as well:',
  },
  confirm: {
    subject: 'Please confirm your payment for invoice {{id}}',
    what: 'Your bank wants you to confirm the payment of {{amount}} for invoice {{id}} yourself.',
    next: 'Nothing was taken yet. Please pay it here:',
  },
  methodSaved: {
    subject: 'Payment method saved: {{method}}',
    what: '{{method}} is saved with our payment provider.',
    isDefault: 'Your renewals are charged to it.',
    ifNot: 'If that was not you, remove it in your account and tell us.',
  },
  methodRemoved: {
    subject: 'Payment method removed: {{method}}',
    what: '{{method}} is removed, and nothing is charged to it any more.',
    wasDefault:
      'Your renewals were charged to it. Save another payment method or choose one, or pay them by hand.',
  },
  taxId: {
    subject: 'The VAT id {{taxId}} is not valid',
    what: 'We looked up the VAT id {{taxId}} of your billing profile, and it is not valid. Until it is, your invoices carry tax.',
    next: 'If it was given to you a short while ago, the register may not know it yet: we ask again every day. Otherwise look at it in your billing profile, and send it once more.',
  },
} as const;
