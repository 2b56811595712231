import { type MailDeclaration, mail } from '../../events/index.ts';
import { dayFor, moneyFor, type Reader } from '../../platform/index.ts';
import { invoiceOverdue, invoiceReminded, serviceEnding } from '../events.ts';
import { say } from '../texts/index.ts';
import { nameOf, toService } from '../texts/named.ts';

const toInvoice = ({ subject: { id } }: { subject: { id: number } }, reader: Reader) => ({
  button: say(reader, 'shared.payNow'),
  page: `/invoices/${id}`,
});

const reminder = mail(
  invoiceReminded,
  ({ subject: { id }, data }, reader) => {
    const duedate = dayFor(reader, data.duedate);
    const due = moneyFor(reader, data.due, data.currency);
    return {
      subject: say(reader, 'reminded.subject', { id, duedate }),
      blocks: [
        say(reader, 'reminded.what', { id, name: nameOf(data), due, duedate }),
        say(reader, 'reminded.next'),
      ],
    };
  },
  { isBill: true, leadsTo: toInvoice },
);

const overdue = mail(
  invoiceOverdue,
  ({ subject: { id }, data }, reader) => {
    const name = nameOf(data);
    const duedate = dayFor(reader, data.duedate);
    const due = moneyFor(reader, data.due, data.currency);
    const suspends =
      data.suspends_on === null
        ? []
        : [say(reader, 'overdue.suspends', { name, day: dayFor(reader, data.suspends_on) })];
    return {
      subject: say(reader, data.last ? 'overdue.lastSubject' : 'overdue.subject', { id }),
      blocks: [
        say(reader, 'overdue.what', { id, name, duedate, due }),
        ...suspends,
        say(reader, data.suspends_on === null ? 'overdue.nextOpen' : 'overdue.next'),
      ],
    };
  },
  { isBill: true, leadsTo: toInvoice },
);

const ending = mail(
  serviceEnding,
  ({ data }, reader) => {
    const name = nameOf(data);
    const day = dayFor(reader, data.ends_on);
    return {
      subject: say(reader, 'ending.subject', { name, day }),
      blocks: [say(reader, 'ending.what', { name, day }), say(reader, 'ending.next')],
    };
  },
  { leadsTo: toService },
);

/** What customers are told before something happens to their services. */
export const calendarMails: MailDeclaration[] = [reminder, overdue, ending];
