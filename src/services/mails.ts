import { type Block, type MailDeclaration, mail, ofOrganization } from '../events/index.ts';
import { dayFor, moneyFor, type Reader } from '../platform/index.ts';
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
  serviceMovedAway,
  serviceMovedIn,
  serviceProvisioned,
  serviceRenewed,
  serviceSuspended,
  serviceTerminated,
  serviceUnsuspended,
  staffDeliveryWanted,
  trafficUsed,
} from './events.ts';
import { isByHand } from './kinds/kind.ts';
import { kindOf } from './kinds/table.ts';
import { priceMoveMails } from './priceMoves/mails.ts';
import { say } from './texts/index.ts';
import { nameOf, periodFor, toService, wholeNameOf } from './texts/named.ts';

const ready = mail(
  serviceProvisioned,
  ({ data }, reader) => {
    const name = nameOf(data);
    const blocks: Block[] =
      data.primary_ip === null
        ? [say(reader, 'ready.other', { what: wholeNameOf(data) })]
        : [
            say(reader, 'ready.server', { name }),
            say(reader, 'ready.signIn'),
            { code: `ssh root@${data.primary_ip}` },
          ];
    return { subject: say(reader, 'ready.subject', { name }), blocks };
  },
  { about: 'services', leadsTo: toService },
);

const renewed = mail(
  serviceRenewed,
  ({ data }, reader) => {
    const duedate = dayFor(reader, data.duedate);
    return {
      subject: say(reader, 'renewed.subject', { name: nameOf(data), duedate }),
      blocks: [say(reader, 'renewed.what', { what: wholeNameOf(data), duedate })],
    };
  },
  { about: 'services' },
);

const traffic = mail(
  trafficUsed,
  ({ data }, reader) => {
    const { month, percent, billing, used, included } = data;
    const unit = billing === 'total' ? 'TB' : 'Mbit/s';
    const of = { name: nameOf(data), month, percent: String(percent), used: `${used} ${unit}` };
    return {
      subject: say(reader, 'traffic.subject', of),
      blocks: [
        say(reader, `traffic.${billing}`, { ...of, included: `${included} ${unit}` }),
        say(reader, percent < 100 ? 'traffic.soon' : 'traffic.beyond'),
      ],
    };
  },
  { about: 'services', leadsTo: toService },
);

const renewalBack = mail(
  renewalRefunded,
  ({ data }, reader) => {
    const duedate = dayFor(reader, data.duedate);
    return {
      subject: say(reader, 'renewalBack.subject', { name: nameOf(data), duedate }),
      blocks: [
        say(reader, 'renewalBack.what', { what: wholeNameOf(data) }),
        say(reader, 'renewalBack.next', { duedate }),
      ],
    };
  },
  { leadsTo: toService },
);

const because = (reader: Reader, { reason }: { reason: string }) => say(reader, 'shared.reason', { reason });

const suspended = mail(
  serviceSuspended,
  ({ data }, reader) => ({
    subject: say(reader, 'suspended.subject', { name: nameOf(data) }),
    blocks: [say(reader, 'suspended.what', { name: nameOf(data) }), because(reader, data)],
  }),
  { leadsTo: toService },
);

/** What staff does by hand is not done yet when it is told; a mail of its own says when it is. */
const isStaffs = ({ module_id }: { module_id: number }) => isByHand(kindOf(module_id));
/** Whether staff has to take back what it was; a server out of the rack comes back without anybody. */
const isTakenBack = ({ module_id, on_server: onServer }: { module_id: number; on_server?: boolean }) =>
  isByHand(kindOf(module_id, onServer));

const unsuspended = mail(
  serviceUnsuspended,
  ({ data }, reader) => {
    const name = nameOf(data);
    return {
      subject: say(reader, 'unsuspended.subject', { name }),
      blocks: [say(reader, isStaffs(data) ? 'unsuspended.byHand' : 'unsuspended.what', { name })],
    };
  },
  { leadsTo: toService },
);

const terminated = mail(serviceTerminated, ({ data }, reader) => {
  const name = nameOf(data);
  return {
    subject: say(reader, 'terminated.subject', { name }),
    blocks: [
      say(reader, isTakenBack(data) ? 'terminated.byHand' : 'terminated.what', { name }),
      say(reader, 'terminated.invoices'),
      because(reader, data),
    ],
  };
});

const held = mail(orderHeld, ({ subject: { id } }, reader) => ({
  subject: say(reader, 'held.subject', { id }),
  blocks: [say(reader, 'held.what', { id }), say(reader, 'held.next')],
}));

const released = mail(orderReleased, ({ subject: { id } }, reader) => ({
  subject: say(reader, 'released.subject', { id }),
  blocks: [say(reader, 'released.what', { id })],
}));

const refused = mail(orderRefused, ({ subject: { id }, data }, reader) => ({
  subject: say(reader, 'refused.subject', { id }),
  blocks: [say(reader, 'refused.what', { id }), because(reader, data)],
}));

const beingSetUp = mail(
  staffDeliveryWanted,
  ({ data }, reader) => ({
    subject: say(reader, 'beingSetUp.subject', { name: nameOf(data) }),
    blocks: [say(reader, 'beingSetUp.what', { name: nameOf(data) })],
  }),
  { about: 'services' },
);

/** A suspension and a renewal were told when they began to count. */
const toldWhenDone = ['change', 'unsuspend', 'terminate'] as const;
const toldOf = (task: string) => toldWhenDone.find((each) => each === task);

const doneByHand = mail(
  serviceDoneByHand,
  ({ data }, reader) => {
    const name = nameOf(data);
    const task = toldOf(data.task) ?? 'change';
    return {
      subject: say(reader, `${task}Done.subject`, { name }),
      blocks: [say(reader, `${task}Done.what`, { name })],
    };
  },
  { when: ({ task }) => toldOf(task) !== undefined, about: 'services' },
);

const ends = mail(
  cancelScheduled,
  ({ data }, reader) => {
    const name = nameOf(data);
    const day = dayFor(reader, data.effective_on);
    return {
      subject: say(reader, 'ends.subject', { name, day }),
      blocks: [say(reader, 'ends.what', { name, day }), say(reader, 'ends.next')],
    };
  },
  { leadsTo: toService },
);

const goesOn = mail(
  cancelRevoked,
  ({ data }, reader) => ({
    subject: say(reader, 'goesOn.subject', { name: nameOf(data) }),
    blocks: [say(reader, 'goesOn.what', { name: nameOf(data) })],
  }),
  { about: 'services' },
);

const changed = mail(
  productChanged,
  ({ data }, reader) => {
    const { product, product_before: before, duedate } = data;
    const name = data.hostname ?? before;
    const price = [
      say(reader, 'changed.price', { period: periodFor(reader, data.cycle) }),
      moneyFor(reader, data.price, data.currency),
    ] as const;
    const paid =
      duedate === null ? [] : [[say(reader, 'changed.paidUntil'), dayFor(reader, duedate)] as const];
    return {
      subject: say(reader, 'changed.subject', { name, product }),
      blocks: [
        say(reader, 'changed.what', { name, before, product }),
        { table: [...paid, price] },
        ...(isStaffs(data) ? [say(reader, 'changed.byHand')] : []),
      ],
    };
  },
  { leadsTo: toService },
);

const movedAway = mail(serviceMovedAway, ({ data }, reader) => {
  const name = data.hostname ?? data.product;
  return {
    subject: say(reader, 'movedAway.subject', { name }),
    blocks: [say(reader, 'movedAway.what', { name }), say(reader, 'movedAway.ifNot')],
  };
});

const pricedIn = (reader: Reader, coming: { price: string; currency: string; from: string }) => ({
  price: moneyFor(reader, coming.price, coming.currency),
  day: dayFor(reader, coming.from),
});

const movedIn = mail(
  serviceMovedIn,
  ({ data }, reader) => {
    const name = data.hostname ?? data.product;
    return {
      subject: say(reader, 'movedIn.subject', { name }),
      blocks: [
        say(reader, 'movedIn.what', { name }),
        ...(data.coming_price ? [say(reader, 'movedIn.price', pricedIn(reader, data.coming_price))] : []),
        say(reader, 'movedIn.next'),
      ],
    };
  },
  { leadsTo: toService },
);

/** What customers are told of their orders and services. */
export const serviceMails: MailDeclaration[] = ofOrganization([
  ...[held, released, refused, beingSetUp, ready, doneByHand],
  ...[renewed, renewalBack, traffic, suspended, unsuspended, terminated, ends, goesOn, changed],
  ...[movedAway, movedIn],
  ...calendarMails,
  ...priceMoveMails,
]);
