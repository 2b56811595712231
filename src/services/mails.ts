import { type MailDeclaration, mail } from '../events/index.ts';
import { calendarMails } from './calendar/mails.ts';
import {
  cancelRevoked,
  cancelScheduled,
  orderHeld,
  orderRefused,
  orderReleased,
  productChanged,
  renewalRefunded,
  serviceDoneByHand,
  serviceProvisioned,
  serviceRenewed,
  serviceSuspended,
  serviceTerminated,
  serviceUnsuspended,
  staffDeliveryWanted,
} from './events.ts';
import { isByHand } from './kinds/kind.ts';
import { kindOf } from './kinds/table.ts';
import { priceMoveMails } from './priceMoves/mails.ts';

const ready = mail(
  serviceProvisioned,
  ({ data: { product, hostname, primary_ip: address } }) => ({
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
  }),
  { about: 'services' },
);

const renewed = mail(
  serviceRenewed,
  ({ data: { product, hostname, duedate } }) => ({
    subject: `${hostname ?? product} is renewed until ${duedate}`,
    lines: [
      `${hostname === null ? product : `${product}, ${hostname},`} is paid until ${duedate}. Thank you.`,
    ],
  }),
  { about: 'services' },
);

const renewalBack = mail(renewalRefunded, ({ data: { product, hostname, duedate } }) => ({
  subject: `${hostname ?? product} is paid until ${duedate}`,
  lines: [
    `Money that was paid for ${hostname === null ? product : `${product}, ${hostname},`} has gone back.`,
    `It is paid until ${duedate} now. We tell you before anything happens to it.`,
  ],
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

/** What staff does by hand is not done yet when it is told; a mail of its own says when it is. */
const isStaffs = ({ module_id }: { module_id: number }) => isByHand(kindOf(module_id));

const unsuspended = mail(serviceUnsuspended, ({ data }) => ({
  subject: `${nameOf(data)} is no longer suspended`,
  lines: isStaffs(data)
    ? [
        `${nameOf(data)} is no longer suspended. Our staff is switching it on again, and we tell you once it is.`,
      ]
    : [`${nameOf(data)} can be used again, as it was before.`],
}));

const terminated = mail(serviceTerminated, ({ data }) => ({
  subject: `${nameOf(data)} has ended`,
  lines: [
    isStaffs(data)
      ? `${nameOf(data)} has ended. Our staff is taking it down, with all that is stored on it, and we tell you once it is gone.`
      : `${nameOf(data)} has ended. What was stored on it is deleted, and its addresses are no longer yours.`,
    'Invoices for it that were open are cancelled.',
    '',
    `Reason: ${data.reason}`,
  ],
}));

const held = mail(orderHeld, ({ subject: { id } }) => ({
  subject: `We look at your order ${id}`,
  lines: [
    `Your order ${id} is paid. One of us looks at it before it is delivered; you need not do anything.`,
    'If we cannot take it, all that you paid becomes credit in your account.',
  ],
}));

const released = mail(orderReleased, ({ subject: { id } }) => ({
  subject: `Your order ${id} goes on`,
  lines: [`We have looked at your order ${id}. It is being set up, and we tell you once it is ready.`],
}));

const refused = mail(orderRefused, ({ subject: { id }, data }) => ({
  subject: `We cannot take your order ${id}`,
  lines: [
    `We have looked at your order ${id} and cannot take it. All that you paid is credit in your account, and`,
    'you owe us nothing.',
    '',
    `Reason: ${data.reason}`,
  ],
}));

const beingSetUp = mail(
  staffDeliveryWanted,
  ({ data }) => ({
    subject: `We are setting up ${nameOf(data)}`,
    lines: [
      `${nameOf(data)} is paid, and our staff is setting it up by hand. We tell you once it is ready; you need not do`,
      'anything. The time that you paid for begins on that day.',
    ],
  }),
  { about: 'services' },
);

const doneWords: Readonly<Record<string, string>> = {
  change: 'is changed to what you chose',
  unsuspend: 'can be used again, as it was before',
  terminate: 'is taken down, with all that was stored on it',
};

/** A suspension and a renewal were told when they began to count. */
const doneByHand = mail(
  serviceDoneByHand,
  ({ data }) => ({
    subject: `${nameOf(data)} ${doneWords[data.task]}`,
    lines: [`Our staff has done what was left to do: ${nameOf(data)} ${doneWords[data.task]}.`],
  }),
  { when: ({ task }) => task in doneWords, about: 'services' },
);

const ends = mail(cancelScheduled, ({ data }) => ({
  subject: `${nameOf(data)} ends on ${data.effective_on}`,
  lines: [
    `You cancelled ${nameOf(data)}. It runs until ${data.effective_on}; then all that is stored on it is deleted.`,
    'Until then you can take the cancellation back.',
  ],
}));

const goesOn = mail(
  cancelRevoked,
  ({ data }) => ({
    subject: `${nameOf(data)} goes on`,
    lines: [`You took your cancellation of ${nameOf(data)} back. It goes on as before.`],
  }),
  { about: 'services' },
);

const changed = mail(productChanged, ({ data: { hostname, product_before: before, ...data } }) => ({
  subject: `${hostname ?? before} is ${data.product} now`,
  lines: [
    `${hostname ?? before} was ${before} and is ${data.product} now. It is paid until ${data.duedate}; then a period,`,
    `${data.cycle}, costs ${data.price} ${data.currency}, before tax.`,
    ...(isStaffs(data) ? ['Our staff is changing it by hand, and we tell you once that is done.'] : []),
  ],
}));

/** What customers are told of their orders and services. */
export const serviceMails: MailDeclaration[] = [
  ...[held, released, refused, beingSetUp, ready, doneByHand],
  ...[renewed, renewalBack, suspended, unsuspended, terminated, ends, goesOn, changed],
  ...calendarMails,
  ...priceMoveMails,
];
