import type { Happened } from '../platform/index.ts';
import type { Event } from './event.ts';
import { linesWithPlace, type MailLink } from './mailLink.ts';

/** What a mail says; greeting and signature are added. */
export interface MailText {
  subject: string;
  lines: string[];
  /** Stands after the first line, where only the recipient reads it. */
  link?: MailLink;
}

/** What mails are about that nobody has to have: people say which of these they want. */
export const notifications = ['payments', 'services'] as const;
export type Notification = (typeof notifications)[number];

/** Who reads it, as far as its text goes by them. */
export interface Reader {
  /** As of the IANA: `Europe/Vienna`. */
  timezone: string;
}

/** Which address of an account: its own or, of a change that the event's data names, the one before or after it. */
type Address = 'own' | 'old_email' | 'new_email';

/** A mail that tells of an event. */
export interface MailDeclaration {
  readonly event: string;
  /** What its reader may have switched off; null for what everybody is told. */
  readonly about: Notification | null;
  readonly address: Address;
  /** Whether it is about money and goes to the account's address for bills, if it has one. */
  readonly isBill: boolean;
  when(data: object): boolean;
  /** Where it goes when that is no matter of the account. */
  to(data: object): string | null;
  text(happened: Happened, reader: Reader): MailText;
}

/** Events that are told of by mail say whom they concern; null when nobody is known. */
interface Concerning {
  user_id: number | null;
}

interface Options<Data> {
  isBill?: boolean;
  /** Decided where it happens: no mail is written when it says no. */
  when?: (data: Data) => boolean;
  about?: Notification;
  /** With it, the event's data names the change of address: `email_change_id`. */
  address?: Address;
}

// As methods, which take the one type of data that entries of an event have.
interface Declared<Data extends object> {
  when(data: Data): boolean;
  to(data: Data): string | null;
  text(happened: Happened<Data>, reader: Reader): MailText;
}

/** Declares the mail that tells of an event, in the room whose event it is. */
export function mail<Data extends Concerning>(
  event: Event<Data>,
  text: (happened: Happened<Data>, reader: Reader) => MailText,
  { isBill = false, when = () => true, about, address = 'own' }: Options<Data> = {},
): MailDeclaration {
  const declared: Declared<Data> = { when, to: () => null, text };
  return { event: event.name, isBill, about: about ?? null, address, ...declared };
}

/** The same to an address that the event's data names. */
export function mailTo<Data extends object>(
  event: Event<Data>,
  to: (data: Data) => string,
  text: (happened: Happened<Data>) => MailText,
): MailDeclaration {
  const declared: Declared<Data> = { when: () => true, to, text };
  return { event: event.name, isBill: false, about: null, address: 'own', ...declared };
}

/** The whole mail: header and body. */
export function composeMail(
  { subject, lines, link }: MailText,
  firstName: string | null,
  publicUrl: string,
): { subject: string; body: string } {
  const greeting = firstName ? `Hello ${oneLine(firstName)},` : 'Hello,';
  return {
    subject: oneLine(subject),
    body: [greeting, '', ...linesWithPlace(lines, link), '', publicUrl, ''].join('\n'),
  };
}

/** A moment as its reader's clock shows it: `1 February 2026, 09:30 (Europe/Vienna)`. */
export function momentFor({ timezone }: Reader, at: string): string {
  const style = { dateStyle: 'long', timeStyle: 'short', hourCycle: 'h23', timeZone: timezone } as const;
  const text = new Intl.DateTimeFormat('en-GB', style).format(new Date(at)).replace(' at ', ', ');
  return `${text} (${timezone})`;
}

/** A name with a line break in it must not become a header of its own. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}]+/gu, ' ').trim();
}
