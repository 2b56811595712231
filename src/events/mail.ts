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

/** A mail that tells of an event. */
export interface MailDeclaration {
  readonly event: string;
  /** Whether it is about money and goes to the account's address for bills, if it has one. */
  readonly isBill: boolean;
  when(data: object): boolean;
  /** Where it goes when that is no matter of the account. */
  to(data: object): string | null;
  text(happened: Happened): MailText;
}

/** Events that are told of by mail say whom they concern; null when nobody is known. */
interface Concerning {
  user_id: number | null;
}

interface Options<Data> {
  isBill?: boolean;
  /** Decided where it happens: no mail is written when it says no. */
  when?: (data: Data) => boolean;
}

// As methods, which take the one type of data that entries of an event have.
interface Declared<Data extends object> {
  when(data: Data): boolean;
  to(data: Data): string | null;
  text(happened: Happened<Data>): MailText;
}

/** Declares the mail that tells of an event, in the room whose event it is. */
export function mail<Data extends Concerning>(
  event: Event<Data>,
  text: (happened: Happened<Data>) => MailText,
  { isBill = false, when = () => true }: Options<Data> = {},
): MailDeclaration {
  const declared: Declared<Data> = { when, to: () => null, text };
  return { event: event.name, isBill, ...declared };
}

/** The same to an address that the event's data names. */
export function mailTo<Data extends object>(
  event: Event<Data>,
  to: (data: Data) => string,
  text: (happened: Happened<Data>) => MailText,
): MailDeclaration {
  const declared: Declared<Data> = { when: () => true, to, text };
  return { event: event.name, isBill: false, ...declared };
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

/** A name with a line break in it must not become a header of its own. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}]+/gu, ' ').trim();
}
