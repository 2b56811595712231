import type { Action } from './actions.ts';

export interface JournalEntry {
  id: number;
  organization_id: number | null;
  action: Action;
  subject_id: number;
  data: Record<string, unknown>;
  created_at: Date;
  email: string | null;
  billing_email: string | null;
  first_name: string | null;
}

export interface Mail {
  recipient: string;
  subject: string;
  body: string;
}

type Template = (entry: JournalEntry, publicUrl: string) => { subject: string; lines: string[] };

interface InvoiceData {
  kind?: string;
  total?: string;
  currency?: string;
  duedate?: string;
  items?: { description: string; amount: string }[];
}

interface ServiceData {
  hostname?: string;
  primary_ip?: string;
}

const templates: Partial<Record<Action, Template>> = {
  'invoice.created': (entry) => {
    const invoice = entry.data as InvoiceData;
    const items = (invoice.items ?? []).map(
      (item) => `  ${item.description}: ${item.amount} ${invoice.currency}`,
    );
    return {
      subject: `Your order: invoice ${entry.subject_id}`,
      lines: [
        'Thank you for your order. We have reserved it for you:',
        '',
        ...items,
        '',
        `To pay: ${invoice.total} ${invoice.currency}, by ${invoice.duedate}.`,
        'Once it is paid, your order is delivered at once. Orders that are not paid by then are cancelled.',
      ],
    };
  },
  'invoice.paid': (entry) => {
    const invoice = entry.data as InvoiceData;
    return {
      subject: `Payment received for invoice ${entry.subject_id}`,
      lines: [`We received ${invoice.total} ${invoice.currency} for invoice ${entry.subject_id}. Thank you.`],
    };
  },
  'service.provisioned': (entry) => {
    const service = entry.data as ServiceData;
    return {
      subject: `${service.hostname} is ready`,
      lines: [
        `Your server ${service.hostname} is running.`,
        '',
        `  ssh root@${service.primary_ip}`,
        '',
        'Sign in with the password of your order, or with any SSH key of your account.',
      ],
    };
  },
};

/** The mail that tells of an entry; null when nobody is to be told. */
export function compose(entry: JournalEntry, publicUrl: string): Mail | null {
  const recipient = entry.action.startsWith('invoice.') ? (entry.billing_email ?? entry.email) : entry.email;
  const template = templates[entry.action];
  if (!template || recipient === null) return null;
  const { subject, lines } = template(entry, publicUrl);
  const greeting = entry.first_name ? `Hello ${oneLine(entry.first_name)},` : 'Hello,';
  return {
    recipient,
    subject: oneLine(subject),
    body: [greeting, '', ...lines, '', publicUrl, ''].join('\n'),
  };
}

/** A name with a line break in it must not become a header of its own. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}]+/gu, ' ').trim();
}
