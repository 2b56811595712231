import { MailError, type OutgoingMail } from './contract.ts';

/** One plain address: a mail library reads anything else as a list, and mails everybody on it. */
const oneAddress = /^[^\s@<>(),;:"]+@[^\s@<>(),;:"]+$/;
/** Longest path that SMTP carries (RFC 5321 4.5.3.1.3), its brackets aside. */
const addressAtMost = 254;

/** Refuses what would reach somebody else, or become a header of its own. The last line: what is written is checked before. */
export function checkMail(mail: OutgoingMail): void {
  if (!oneAddress.test(mail.to) || mail.to.length > addressAtMost) refuse('the recipient is not one address');
  for (const address of [mail.replyTo, mail.returnPath]) {
    if (address === undefined) continue;
    if (!oneAddress.test(address) || address.length > addressAtMost)
      refuse('where answers go is not one address');
  }
  for (const id of [mail.inReplyTo, ...(mail.references ?? [])]) {
    if (id !== undefined && !/^<[^\s<>]{1,250}>$/.test(id)) refuse('what it answers is no Message-ID');
  }
  for (const header of ['messageId', 'from', 'to', 'subject'] as const) {
    if (hasControlCharacters(mail[header])) refuse(`${header} is not one line of text`);
  }
  for (const [name, value] of Object.entries(mail.headers ?? {})) {
    if (!/^[A-Za-z][\w-]*$/.test(name)) refuse('a header field has no name');
    if (hasControlCharacters(value)) refuse(`${name} is not one line of text`);
  }
}

function hasControlCharacters(text: string): boolean {
  return [...text].some((character) => character < ' ' || character === '\x7f');
}

function refuse(message: string): never {
  throw new MailError('mail_invalid', message, { permanent: true });
}
