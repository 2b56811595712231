import { type MailDeclaration, mail } from '../events/index.ts';
import { calendarMails } from './calendar/mails.ts';
import {
  cancelRevoked,
  cancelScheduled,
  orderHeld,
  productChanged,
  serviceProvisioned,
  serviceRenewed,
  serviceSuspended,
  serviceTerminated,
  serviceUnsuspended,
} from './events.ts';

const ready = mail(serviceProvisioned, ({ data: { product, hostname, primary_ip: address } }) => ({
  subject: `${hostname ?? product} is ready`,
  lines:
    address === null
      ? [`What you ordered is ready: ${hostname === null ? product : `${product}, ${hostname}`}.`]
      : [
          `Your server ${hostname} is running.`,
          '',
          `  ssh root@${address}`,
          '',
          'Sign in with the password of your order, or with any SSH key of your account.',
        ],
}));

const renewed = mail(serviceRenewed, ({ data: { product, hostname, duedate } }) => ({
  subject: `${hostname ?? product} is renewed until ${duedate}`,
  lines: [`${hostname === null ? product : `${product}, ${hostname}`}, is paid until ${duedate}. Thank you.`],
}));

interface Named {
  product: string;
  hostname: string | null;
}

const nameOf = ({ product, hostname }: Named) => hostname ?? product;

const suspended = mail(serviceSuspended, ({ data }) => ({
  subject: `${nameOf(data)} is suspended`,
  lines: [
    `${nameOf(data)} is suspended: it is switched off and cannot be used. Nothing of it is deleted.`,
    '',
    `Reason: ${data.reason}`,
  ],
}));

const unsuspended = mail(serviceUnsuspended, ({ data }) => ({
  subject: `${nameOf(data)} is no longer suspended`,
  lines: [`${nameOf(data)} can be used again, as it was before.`],
}));

const terminated = mail(serviceTerminated, ({ data }) => ({
  subject: `${nameOf(data)} has ended`,
  lines: [
    `${nameOf(data)} has ended. What was stored on it is deleted, and its addresses are no longer yours.`,
    'Invoices for it that were open are cancelled.',
    '',
    `Reason: ${data.reason}`,
  ],
}));

const held = mail(orderHeld, ({ subject: { id } }) => ({
  subject: `We look at your order ${id}`,
  lines: [
    `Your order ${id} is paid. One of us looks at it before it is delivered; you need not do anything.`,
    'If we cannot take it, you get all of your money back.',
  ],
}));

const ends = mail(cancelScheduled, ({ data }) => ({
  subject: `${nameOf(data)} ends on ${data.effective_on}`,
  lines: [
    `You cancelled ${nameOf(data)}. It runs until ${data.effective_on}; then all that is stored on it is deleted.`,
    'Until then you can take the cancellation back.',
  ],
}));

const goesOn = mail(cancelRevoked, ({ data }) => ({
  subject: `${nameOf(data)} goes on`,
  lines: [`You took your cancellation of ${nameOf(data)} back. It goes on as before.`],
}));

const changed = mail(productChanged, ({ data: { hostname, product_before: before, ...data } }) => ({
  subject: `${hostname ?? before} is ${data.product} now`,
  lines: [
    `${hostname ?? before} was ${before} and is ${data.product} now. From the next period on it costs`,
    `${data.price} ${data.currency}, before tax.`,
  ],
}));

/** What customers are told of their orders and services. */
export const serviceMails: MailDeclaration[] = [
  ...[ready, held, renewed, suspended, unsuspended, terminated, ends, goesOn, changed],
  ...calendarMails,
];
