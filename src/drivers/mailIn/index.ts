/**
 * Mails come in here. One contract (`contract.ts`), two engines that keep it and the suite that both of them pass
 * (`conformance.ts`): `mailListener`, to which others bring mails, and `mailbox`, which fetches them over IMAP.
 */
export * from './contract.ts';
export { type ListenerOptions, mailListener } from './listener.ts';
export { type MailboxOptions, mailbox } from './mailbox.ts';
export { noMailIn } from './none.ts';
