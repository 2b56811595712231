import { type MailDeclaration, type MailText, mail } from '../events/index.ts';
import {
  creditGranted,
  invoiceCancelled,
  invoiceCreated,
  invoiceExpired,
  invoicePaid,
  invoicePartPaid,
  invoicePartReturned,
  invoiceRefunded,
  paymentConfirmationWanted,
  paymentDeclined,
  paymentMethodRemoved,
  paymentMethodSaved,
} from './events.ts';
import type { InvoiceKind } from './invoices/kind.ts';
import { taxMails } from './tax/mails.ts';

interface Bill {
  total: string;
  currency: string;
  duedate: string;
}

const isFree = ({ total }: Bill) => Number(total) === 0;

const howToPay = ({ total, currency, duedate }: Bill) => [
  `To pay: ${total} ${currency}, by ${duedate}.`,
  'Once it is paid, we deliver your order. Orders that are not paid by then are cancelled.',
];

interface Created extends Bill {
  items: { description: string; amount: string }[];
}

const linesOf = ({ items, currency }: Created) =>
  items.map((item) => `  ${item.description}: ${item.amount} ${currency}`);

function order(id: number, data: Created): MailText {
  return {
    subject: `Your order: invoice ${id}`,
    lines: [
      'Thank you for your order. We have reserved it for you:',
      '',
      ...linesOf(data),
      '',
      ...(isFree(data) ? ['There is nothing to pay, so we deliver it now.'] : howToPay(data)),
    ],
  };
}

function renewal(id: number, data: Created): MailText {
  const { total, currency, duedate } = data;
  return {
    subject: `Your renewal: invoice ${id}`,
    lines: [
      'This is for the next period of what you have with us:',
      '',
      ...linesOf(data),
      '',
      isFree(data)
        ? 'There is nothing to pay.'
        : `To pay: ${total} ${currency}, by ${duedate}. Once it is paid, your due date moves.`,
    ],
  };
}

function credit(id: number, { total, currency, duedate }: Created): MailText {
  return {
    subject: `Your credit: invoice ${id}`,
    lines: [
      `You want to buy ${total} ${currency} of credit for your account.`,
      '',
      `To pay: ${total} ${currency}, by ${duedate}. Once it is paid, it is credit in your account.`,
      'If it is not paid by then, the invoice is cancelled.',
    ],
  };
}

/** What nobody ordered: a late fee, and what staff invoices. */
function demand(id: number, data: Created): MailText {
  const { total, currency, duedate } = data;
  return {
    subject: `A new invoice: ${id}`,
    lines: [
      'We have issued an invoice for you:',
      '',
      ...linesOf(data),
      '',
      isFree(data) ? 'There is nothing to pay.' : `To pay: ${total} ${currency}, by ${duedate}.`,
    ],
  };
}

/** A change of what somebody has; nothing of it is cancelled when nobody pays. */
function upgrade(id: number, data: Created): MailText {
  const { total, currency, duedate } = data;
  return {
    subject: `Your upgrade: invoice ${id}`,
    lines: [
      'This is for the change that you asked for:',
      '',
      ...linesOf(data),
      '',
      ...(isFree(data)
        ? ['There is nothing to pay, so it is made at once.']
        : [
            `To pay: ${total} ${currency}, by ${duedate}. Once it is paid, the change is made.`,
            'If it is not paid by then, everything stays as it is.',
          ]),
    ],
  };
}

const textOf: Partial<Record<InvoiceKind, typeof order>> = {
  ...{ renewal, upgrade, top_up: credit },
  ...{ late_fee: demand, manual: demand },
};

const created = mail(invoiceCreated, ({ subject: { id }, data }) => (textOf[data.kind] ?? order)(id, data), {
  isBill: true,
});

const paid = mail(
  invoicePaid,
  ({ subject, data }) => ({
    subject: `Payment received for invoice ${subject.id}`,
    lines: [`We received ${data.total} ${data.currency} for invoice ${subject.id}. Thank you.`],
  }),
  { isBill: true, about: 'payments' },
);

const partPaid = mail(
  invoicePartPaid,
  ({ subject, data }) => ({
    subject: `A part of invoice ${subject.id} is paid`,
    lines: [
      `We received ${data.amount} ${data.currency} for invoice ${subject.id}. Thank you.`,
      `${data.due} ${data.currency} are still due, by ${data.duedate}.${data.kind === 'order' ? ' Once they are paid, your order is delivered.' : ''}`,
      '',
      'You can pay them by another transfer or with credit. What you paid becomes credit if the rest does not come.',
    ],
  }),
  { isBill: true },
);

/** What an invoice that ends leaves of the money that was paid towards it. */
const whatIsLeft = ({ credited, currency }: { credited?: string; currency: string }) =>
  credited === undefined
    ? []
    : ['', `The ${credited} ${currency} that you paid towards it are credit in your account.`];

const expired = mail(
  invoiceExpired,
  ({ subject, data }) => ({
    subject: `Invoice ${subject.id} is cancelled`,
    lines: [
      ...(data.kind === 'renewal'
        ? [
            `Invoice ${subject.id} for ${data.total} ${data.currency} was not paid in time, so it is cancelled.`,
          ]
        : [
            `Invoice ${subject.id} for ${data.total} ${data.currency} was not paid in time, so it is cancelled and what`,
            'was reserved for it is free again. You owe nothing.',
          ]),
      ...whatIsLeft(data),
      '',
      'If you still want it, order again. If your transfer is on its way already, it becomes credit in your account.',
    ],
  }),
  { isBill: true },
);

const cancelled = mail(
  invoiceCancelled,
  ({ subject, data }) => ({
    subject: `Invoice ${subject.id} is cancelled`,
    lines: [
      ...(data.reason === undefined
        ? [
            `Invoice ${subject.id} for ${data.total} ${data.currency} is cancelled, as you asked, and what was reserved for it`,
            'is free again. You owe nothing.',
          ]
        : [
            `Invoice ${subject.id} for ${data.total} ${data.currency} is cancelled: ${data.reason}.`,
            'You owe nothing for it.',
          ]),
      ...whatIsLeft(data),
      '',
      'If your transfer is on its way already, it becomes credit in your account.',
    ],
  }),
  { isBill: true },
);

const wentBack = (
  id: number,
  { amount, currency, method }: { amount: string; currency: string; method: string },
) => {
  const gone = `We gave back ${amount} ${currency} of invoice ${id}`;
  if (method === 'credit')
    return [`${gone}, as credit in your account.`, 'You can pay your next invoices with it.'];
  if (method === 'taken_back')
    return [
      `${amount} ${currency} were booked for invoice ${id} by mistake: the payment was not yours.`,
      'We have taken them back.',
    ];
  if (method === 'dispute') return [`Your bank took back ${amount} ${currency} of invoice ${id}.`];
  return [`${gone}, to the card or account that you paid with. Banks take up to ten days for it.`];
};

const refunded = mail(
  invoiceRefunded,
  ({ subject, data }) => ({
    subject: `Refund for invoice ${subject.id}`,
    lines: [...wentBack(subject.id, data), '', `Reason: ${data.reason}`],
  }),
  { isBill: true },
);

const partReturned = mail(
  invoicePartReturned,
  ({ subject, data }) => ({
    subject: `Refund for invoice ${subject.id}`,
    lines: [
      `We gave back ${data.amount} ${data.currency} that you paid towards invoice ${subject.id}, as credit in your account.`,
      'The invoice is still open.',
      '',
      `Reason: ${data.reason}`,
    ],
  }),
  { isBill: true },
);

const becameCredit = mail(
  creditGranted,
  ({ data }) => (data.invoice_id === null ? overpaid(data) : late(data)),
  { isBill: true, when: ({ invoice_id, reference }) => invoice_id !== null || reference !== undefined },
);

interface Credited {
  amount: string;
  currency: string;
  invoice_id: number | null;
  reference?: string;
  invoice_was?: 'cancelled' | 'paid' | 'refunded';
}

function late({ amount, currency, invoice_id, invoice_was }: Credited): MailText {
  const subject = `Your payment for invoice ${invoice_id} became credit`;
  if (invoice_was === 'paid') {
    const lines = [
      `We received ${amount} ${currency} for invoice ${invoice_id} more than was due: it was paid already. They are now credit`,
      'in your account, and you can pay your next invoices with them.',
    ];
    return { subject, lines };
  }
  if (invoice_was === 'refunded') {
    const lines = [
      `Your bank did not take the ${amount} ${currency} that we gave back of invoice ${invoice_id}. They are now credit in your`,
      'account; tell us if you want them in another way.',
    ];
    return { subject: `Your refund of invoice ${invoice_id} became credit`, lines };
  }
  return {
    subject,
    lines: [
      `We received ${amount} ${currency} for invoice ${invoice_id}, which was cancelled before the`,
      'money came. It is now credit in your account; order again and pay with it.',
    ],
  };
}

function overpaid({ amount, currency, reference }: Credited): MailText {
  return {
    subject: `${amount} ${currency} of your transfer became credit`,
    lines: [
      `Your transfer ${reference} was ${amount} ${currency} more than was due. They are now credit in your account,`,
      'and you can pay your next invoices with them.',
    ],
  };
}

const declined = mail(
  paymentDeclined,
  ({ subject, data }) => ({
    subject: `Your payment for invoice ${subject.id} was declined`,
    lines: [
      `We could not take ${data.amount} ${data.currency} for invoice ${subject.id}: ${data.reason}`,
      'Nothing was taken, and the invoice is still open.',
      '',
      ...(data.next_try_on === null
        ? ['We do not try again by ourselves.']
        : [`We try again on ${data.next_try_on}.`]),
      'You can pay it now, with another card as well:',
      data.pay_url,
    ],
  }),
  { isBill: true },
);

const confirmationWanted = mail(
  paymentConfirmationWanted,
  ({ subject, data }) => ({
    subject: `Please confirm your payment for invoice ${subject.id}`,
    lines: [
      `Your bank wants you to confirm the payment of ${data.amount} ${data.currency} for invoice ${subject.id} yourself.`,
      'Nothing was taken yet. Please pay it here:',
      data.pay_url,
    ],
  }),
  { isBill: true },
);

const methodSaved = mail(
  paymentMethodSaved,
  ({ data }) => ({
    subject: `Payment method saved: ${data.method}`,
    lines: [
      `${data.method} is saved with our payment provider.`,
      ...(data.is_default ? ['Your renewals are charged to it.'] : []),
      '',
      'If that was not you, remove it in your account and tell us.',
    ],
  }),
  { isBill: true },
);

const methodRemoved = mail(
  paymentMethodRemoved,
  ({ data }) => ({
    subject: `Payment method removed: ${data.method}`,
    lines: [`${data.method} is removed, and nothing is charged to it any more.`],
  }),
  { isBill: true },
);

/** What customers are told of their invoices and how they pay them. */
export const billingMails: MailDeclaration[] = [
  ...[created, paid, partPaid, expired, cancelled, refunded, partReturned, becameCredit],
  ...[declined, confirmationWanted, methodSaved, methodRemoved],
  ...taxMails,
];
