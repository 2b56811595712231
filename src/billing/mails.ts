import { type MailDeclaration, mail } from '../events/index.ts';
import {
  creditGranted,
  invoiceCancelled,
  invoiceCreated,
  invoiceExpired,
  invoicePaid,
  invoiceRefunded,
} from './events.ts';

interface Bill {
  total: string;
  currency: string;
  duedate: string;
}

const isFree = ({ total }: Bill) => Number(total) === 0;

const howToPay = ({ total, currency, duedate }: Bill) => [
  `To pay: ${total} ${currency}, by ${duedate}.`,
  'Once it is paid, your order is delivered at once. Orders that are not paid by then are cancelled.',
];

const ordered = mail(
  invoiceCreated,
  ({ subject, data }) => ({
    subject: `Your order: invoice ${subject.id}`,
    lines: [
      'Thank you for your order. We have reserved it for you:',
      '',
      ...data.items.map((item) => `  ${item.description}: ${item.amount} ${data.currency}`),
      '',
      ...(isFree(data) ? ['There is nothing to pay, so it is delivered at once.'] : howToPay(data)),
    ],
  }),
  { isBill: true },
);

const paid = mail(
  invoicePaid,
  ({ subject, data }) => ({
    subject: `Payment received for invoice ${subject.id}`,
    lines: [`We received ${data.total} ${data.currency} for invoice ${subject.id}. Thank you.`],
  }),
  { isBill: true },
);

const expired = mail(
  invoiceExpired,
  ({ subject, data }) => ({
    subject: `Invoice ${subject.id} is cancelled`,
    lines: [
      `Invoice ${subject.id} over ${data.total} ${data.currency} was not paid in time, so it is cancelled and what`,
      'was reserved for it is free again. You owe nothing.',
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
      `Invoice ${subject.id} over ${data.total} ${data.currency} is cancelled, as you asked, and what was reserved for it`,
      'is free again. You owe nothing.',
      '',
      'If your transfer is on its way already, it becomes credit in your account.',
    ],
  }),
  { isBill: true },
);

const refunded = mail(
  invoiceRefunded,
  ({ subject, data }) => ({
    subject: `Refund for invoice ${subject.id}`,
    lines: [
      `We gave back ${data.amount} ${data.currency} of invoice ${subject.id}, as credit in your account.`,
      'Credit pays your next invoices.',
      '',
      `Reason: ${data.reason}`,
    ],
  }),
  { isBill: true },
);

const becameCredit = mail(
  creditGranted,
  ({ data }) => ({
    subject: `Your payment for invoice ${data.invoice_id} became credit`,
    lines: [
      `We received ${data.amount} ${data.currency} for invoice ${data.invoice_id}, which was cancelled before the`,
      'money came. It is now credit in your account; order again and pay with it.',
    ],
  }),
  { isBill: true, when: ({ invoice_id }) => invoice_id !== null },
);

/** What customers are told of their invoices. */
export const billingMails: MailDeclaration[] = [ordered, paid, expired, cancelled, refunded, becameCredit];
