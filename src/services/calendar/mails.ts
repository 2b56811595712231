import { type MailDeclaration, mail } from '../../events/index.ts';
import { invoiceOverdue, invoiceReminded, serviceEnding } from '../events.ts';

interface Named {
  product: string;
  hostname: string | null;
}

const nameOf = ({ product, hostname }: Named) => hostname ?? product;

const reminder = mail(
  invoiceReminded,
  ({ subject, data }) => ({
    subject: `Invoice ${subject.id} is due on ${data.duedate}`,
    lines: [
      `Invoice ${subject.id} for ${nameOf(data)} is not paid yet: ${data.due} ${data.currency}, by ${data.duedate}.`,
      '',
      'If your payment is on its way, there is nothing for you to do.',
    ],
  }),
  { isBill: true },
);

const overdue = mail(
  invoiceOverdue,
  ({ subject, data }) => ({
    subject: `${data.last ? 'Last reminder: invoice' : 'Invoice'} ${subject.id} is overdue`,
    lines: [
      `Invoice ${subject.id} for ${nameOf(data)} was due on ${data.duedate}, and ${data.due} ${data.currency} are not paid.`,
      ...(data.suspends_on === null
        ? []
        : [
            `Unless it is paid, ${nameOf(data)} is suspended from ${data.suspends_on} on and cannot be used.`,
          ]),
      '',
      'If you need more time, write to us before then.',
    ],
  }),
  { isBill: true },
);

const ending = mail(
  serviceEnding,
  ({ data }) => ({
    subject: `${nameOf(data)} ends on ${data.ends_on}`,
    lines: [
      `${nameOf(data)} is not renewed by itself, so it ends on ${data.ends_on}. What is stored on it is deleted then.`,
      '',
      'To keep it, renew it or turn auto_renew on before that day.',
    ],
  }),
  { isBill: true },
);

/** What customers are told before something happens to their services. */
export const calendarMails: MailDeclaration[] = [reminder, overdue, ending];
