import { type Block, type MailDeclaration, mail } from '../events/index.ts';
import { dayFor, moneyFor, type Reader } from '../platform/index.ts';
import {
  creditGranted,
  creditReturnDone,
  invoiceCancelled,
  invoiceCreated,
  invoiceExpired,
  invoicePaid,
  invoicePaidAgain,
  invoicePartPaid,
  invoicePartReturned,
  invoiceRefunded,
  paymentConfirmationWanted,
  paymentDeclined,
  paymentMethodRemoved,
  paymentMethodSaved,
} from './events.ts';
import type { InvoiceKind, PaymentMethod } from './invoices/kind.ts';
import { taxMails } from './tax/mails.ts';
import { say } from './texts/index.ts';

interface Created {
  total: string;
  currency: string;
  duedate: string;
  /** What there is of credit that pays a renewal first. */
  credit?: string;
  items: { description: string; amount: string }[];
}

const isFree = ({ total }: Created) => Number(total) === 0;

/** What is on an invoice and, when there is something to pay, how much until when. */
function bill(reader: Reader, data: Created): Block {
  const { items, total, currency, duedate } = data;
  const lines = items.map(
    ({ description, amount }) => [description, moneyFor(reader, amount, currency)] as const,
  );
  const sum = [
    [say(reader, 'shared.total'), moneyFor(reader, total, currency)],
    [say(reader, 'shared.due'), dayFor(reader, duedate)],
  ] as const;
  return { table: isFree(data) ? lines : [...lines, ...sum] };
}

function order(reader: Reader, id: number, data: Created) {
  return {
    subject: say(reader, 'order.subject', { id }),
    blocks: [
      say(reader, 'order.what'),
      bill(reader, data),
      say(reader, isFree(data) ? 'order.free' : 'order.next'),
    ],
  };
}

function renewal(reader: Reader, id: number, data: Created) {
  return {
    subject: say(reader, 'renewal.subject', { id }),
    blocks: [
      say(reader, 'renewal.what'),
      bill(reader, data),
      say(reader, isFree(data) ? 'shared.nothing' : 'renewal.next'),
      ...(data.credit === undefined || isFree(data)
        ? []
        : [
            say(reader, 'renewal.credit', {
              credit: moneyFor(reader, data.credit, data.currency),
              duedate: dayFor(reader, data.duedate),
            }),
          ]),
    ],
  };
}

function credit(reader: Reader, id: number, data: Created) {
  const total = moneyFor(reader, data.total, data.currency);
  return {
    subject: say(reader, 'credit.subject', { id }),
    blocks: [
      say(reader, 'credit.what', { total }),
      bill(reader, { ...data, items: [] }),
      say(reader, 'credit.next'),
    ],
  };
}

/** What nobody ordered: a late fee, and what staff invoices. */
function demand(reader: Reader, id: number, data: Created) {
  const what = [say(reader, 'demand.what'), bill(reader, data)];
  return {
    subject: say(reader, 'demand.subject', { id }),
    blocks: isFree(data) ? [...what, say(reader, 'shared.nothing')] : what,
  };
}

/** A change of what somebody has; nothing of it is cancelled when nobody pays. */
function upgrade(reader: Reader, id: number, data: Created) {
  return {
    subject: say(reader, 'upgrade.subject', { id }),
    blocks: [
      say(reader, 'upgrade.what'),
      bill(reader, data),
      say(reader, isFree(data) ? 'upgrade.free' : 'upgrade.next'),
    ],
  };
}

const mailOf: Partial<
  Record<InvoiceKind, (...given: Parameters<typeof order>) => { subject: string; blocks: Block[] }>
> = {
  ...{ renewal, upgrade, top_up: credit },
  ...{ late_fee: demand, manual: demand },
};

/** To the invoice that a mail is about, where it can be paid too. */
const toInvoice =
  (label: 'payNow' | 'seeInvoice') =>
  ({ subject: { id } }: { subject: { id: number } }, reader: Reader) => ({
    button: say(reader, `shared.${label}`),
    page: `/invoices/${id}`,
  });

const created = mail(
  invoiceCreated,
  ({ subject: { id }, data }, reader) => (mailOf[data.kind] ?? order)(reader, id, data),
  {
    isBill: true,
    leadsTo: (happened, reader) =>
      toInvoice(isFree(happened.data) ? 'seeInvoice' : 'payNow')(happened, reader),
  },
);

const paid = mail(
  invoicePaid,
  ({ subject: { id }, data }, reader) => ({
    subject: say(reader, 'paid.subject', { id }),
    blocks: [say(reader, 'paid.what', { id, total: moneyFor(reader, data.total, data.currency) })],
  }),
  { isBill: true, about: 'payments', leadsTo: toInvoice('seeInvoice') },
);

const partPaid = mail(
  invoicePartPaid,
  ({ subject: { id }, data }, reader) => ({
    subject: say(reader, 'partPaid.subject', { id }),
    blocks: [
      say(reader, 'partPaid.what', { id, amount: moneyFor(reader, data.amount, data.currency) }),
      say(reader, data.kind === 'order' ? 'partPaid.dueOfOrder' : 'partPaid.due', {
        due: moneyFor(reader, data.due, data.currency),
        duedate: dayFor(reader, data.duedate),
      }),
      say(reader, 'partPaid.next'),
    ],
  }),
  { isBill: true, leadsTo: toInvoice('payNow') },
);

/** What an invoice that ends leaves of the money that was paid towards it. */
function whatIsLeft(reader: Reader, { credited, currency }: { credited?: string; currency: string }) {
  if (credited === undefined) return [];
  return [say(reader, 'shared.partIsCredit', { credited: moneyFor(reader, credited, currency) })];
}

const expired = mail(
  invoiceExpired,
  ({ subject: { id }, data }, reader) => ({
    subject: say(reader, 'ended.subject', { id }),
    blocks: [
      say(reader, data.kind === 'renewal' ? 'ended.renewalExpired' : 'ended.expired', {
        ...{ id, total: moneyFor(reader, data.total, data.currency) },
      }),
      ...whatIsLeft(reader, data),
      say(reader, 'ended.orderAgain'),
    ],
  }),
  {
    isBill: true,
    leadsTo: (_, reader) => ({ button: say(reader, 'shared.orderAgain'), page: '/order' }),
  },
);

const cancelled = mail(
  invoiceCancelled,
  ({ subject: { id }, data }, reader) => {
    const total = moneyFor(reader, data.total, data.currency);
    const { reason } = data;
    return {
      subject: say(reader, 'ended.subject', { id }),
      blocks: [
        ...(reason === undefined
          ? [say(reader, 'ended.asAsked', { id, total })]
          : [say(reader, 'ended.because', { id, total, reason }), say(reader, 'shared.youOweNothing')]),
        ...whatIsLeft(reader, data),
        say(reader, 'shared.onItsWay'),
      ],
    };
  },
  { isBill: true },
);

interface Refunded {
  amount: string;
  currency: string;
  method: PaymentMethod | 'original' | 'dispute' | 'taken_back';
}

function wentBack(reader: Reader, id: number, { amount: gone, currency, method }: Refunded): string[] {
  const amount = moneyFor(reader, gone, currency);
  if (method === 'credit')
    return [say(reader, 'refund.asCredit', { id, amount }), say(reader, 'shared.payNextWithIt')];
  if (method === 'taken_back') return [say(reader, 'refund.takenBack', { id, amount })];
  if (method === 'dispute') return [say(reader, 'refund.dispute', { id, amount })];
  return [say(reader, 'refund.original', { id, amount })];
}

const refunded = mail(
  invoiceRefunded,
  ({ subject: { id }, data }, reader) => ({
    subject: say(reader, 'refund.subject', { id }),
    blocks: [...wentBack(reader, id, data), say(reader, 'shared.reason', { reason: data.reason })],
  }),
  { isBill: true, leadsTo: toInvoice('seeInvoice') },
);

const paidAgain = mail(
  invoicePaidAgain,
  ({ subject: { id }, data }, reader) => ({
    subject: say(reader, 'paidAgain.subject', { id }),
    blocks: [say(reader, 'paidAgain.why', { id, amount: moneyFor(reader, data.amount, data.currency) })],
  }),
  { isBill: true, leadsTo: toInvoice('seeInvoice') },
);

const creditPaidOut = mail(
  creditReturnDone,
  ({ data }, reader) => {
    const amount = moneyFor(reader, data.amount, data.currency);
    const day = dayFor(reader, data.paid_on);
    return {
      subject: say(reader, 'paidOut.subject', { amount }),
      blocks: [say(reader, 'paidOut.why', { amount, day })],
    };
  },
  { isBill: true },
);

const partReturned = mail(
  invoicePartReturned,
  ({ subject: { id }, data }, reader) => ({
    subject: say(reader, 'refund.subject', { id }),
    blocks: [
      say(reader, 'refund.part', { id, amount: moneyFor(reader, data.amount, data.currency) }),
      say(reader, 'shared.reason', { reason: data.reason }),
    ],
  }),
  { isBill: true, leadsTo: toInvoice('seeInvoice') },
);

/** To the cards and accounts that renewals are charged to. */
const toMethods = (_: object, reader: Reader) => ({
  button: say(reader, 'shared.seeMethods'),
  page: '/billing/payment-methods',
});

const becameCredit = mail(
  creditGranted,
  ({ data: { invoice_id: id, reference = '', invoice_was, ...data } }, reader) => {
    const amount = moneyFor(reader, data.amount, data.currency);
    if (id === null)
      return {
        subject: say(reader, 'becameCredit.subjectOfTransfer', { amount }),
        blocks: [say(reader, 'becameCredit.overpaid', { amount, reference })],
      };
    if (invoice_was === 'refunded')
      return {
        subject: say(reader, 'becameCredit.subjectOfRefund', { id }),
        blocks: [say(reader, 'becameCredit.wasRefunded', { id, amount })],
      };
    if (invoice_was === 'disputed')
      return {
        subject: say(reader, 'becameCredit.subject', { id }),
        blocks: [say(reader, 'becameCredit.wasDisputed', { id, amount })],
      };
    const key = invoice_was === 'paid' ? 'becameCredit.wasPaid' : 'becameCredit.wasCancelled';
    return {
      subject: say(reader, 'becameCredit.subject', { id }),
      blocks: [say(reader, key, { id, amount })],
    };
  },
  { isBill: true, when: ({ invoice_id, reference }) => invoice_id !== null || reference !== undefined },
);

const declined = mail(
  paymentDeclined,
  ({ subject: { id }, data: { reason, next_try_on: next, pay_url: url, ...data } }, reader) => ({
    subject: say(reader, 'declined.subject', { id }),
    blocks: [
      say(reader, 'declined.what', { id, amount: moneyFor(reader, data.amount, data.currency), reason }),
      say(reader, 'declined.open'),
      next === null
        ? say(reader, 'declined.noTry')
        : say(reader, 'declined.tryAgain', { day: dayFor(reader, next) }),
      { button: say(reader, 'shared.payNow'), url },
    ],
  }),
  { isBill: true },
);

const confirmationWanted = mail(
  paymentConfirmationWanted,
  ({ subject: { id }, data: { pay_url: url, ...data } }, reader) => ({
    subject: say(reader, 'confirm.subject', { id }),
    blocks: [
      say(reader, 'confirm.what', { id, amount: moneyFor(reader, data.amount, data.currency) }),
      say(reader, 'confirm.next'),
      { button: say(reader, 'shared.payNow'), url },
    ],
  }),
  { isBill: true },
);

const methodSaved = mail(
  paymentMethodSaved,
  ({ data: { method, is_default } }, reader) => ({
    subject: say(reader, 'methodSaved.subject', { method }),
    blocks: [
      say(reader, 'methodSaved.what', { method }),
      ...(is_default ? [say(reader, 'methodSaved.isDefault')] : []),
      say(reader, 'methodSaved.ifNot'),
    ],
  }),
  { isBill: true, leadsTo: toMethods },
);

const methodRemoved = mail(
  paymentMethodRemoved,
  ({ data: { method, is_default } }, reader) => ({
    subject: say(reader, 'methodRemoved.subject', { method }),
    blocks: [
      say(reader, 'methodRemoved.what', { method }),
      ...(is_default ? [say(reader, 'methodRemoved.wasDefault')] : []),
    ],
  }),
  { isBill: true, leadsTo: toMethods },
);

/** What customers are told of their invoices and how they pay them. */
export const billingMails: MailDeclaration[] = [
  ...[
    created,
    paid,
    partPaid,
    expired,
    cancelled,
    refunded,
    paidAgain,
    partReturned,
    becameCredit,
    creditPaidOut,
  ],
  ...[declined, confirmationWanted, methodSaved, methodRemoved],
  ...taxMails,
];
