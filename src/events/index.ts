/**
 * The journal: one append-only list of what happened, to what, by whom, in which organization. Each room declares
 * the events that it makes happen and writes them with `record`, in the transaction that makes them happen; each
 * room declares what it does when something happened elsewhere, with `on`, and how people are told, with `mail`.
 */
import './errors.ts';

export { mailConcerns } from './concerns.ts';
export {
  allEvents,
  type Event,
  event,
  type NoData,
  sentenceOf,
  type Told,
  type ToldEvent,
  toldEvents,
  toldOf,
  toldTo,
} from './event.ts';
export { followJournal, startTellingReaders } from './followJournal.ts';
export { forgetInJournal } from './forgetInJournal.ts';
export { forgetJournal, journalKeptSince } from './forgetJournal.ts';
export { type Entry, entryOf, hasHappened, record, recordEntry } from './journal.ts';
export { type AnswerAddress, conversationOf, readAnswerAddress, wasGivenTo } from './mail/answerAddress.ts';
export type { Block } from './mail/blocks.ts';
export { type DeliveryReport, takeDeliveryReport } from './mail/bounce.ts';
export { forgetMailsOf, forgetMailsTo } from './mail/forgetMails.ts';
export type { Brand } from './mail/html.ts';
export { openLayout } from './mail/layout.ts';
export { linkToken, type MailLink } from './mail/link.ts';
export {
  type MailDeclaration,
  type MailText,
  mail,
  mailTo,
  type Notification,
  notifications,
  ofOrganization,
} from './mail/mail.ts';
export { mailedElsewhere } from './mail/mailedElsewhere.ts';
export { mailSending } from './mail/send.ts';
export { readUnsubscribeToken, type Unsubscription } from './mail/unsubscribe.ts';
export {
  type Addressee,
  type AddresseesReader,
  type HoldersReader,
  mailDelivery,
  mailJobsToStaff,
  mailReactions,
} from './mail/write.ts';
export { eventMeasures } from './measures.ts';
export { describeMessages, type Message, messageOf } from './message.ts';
export { eventsPersonal } from './personal.ts';
export { gatherReactions, type OwnReaction, on, reactionJobs, starts } from './reactions.ts';
export { type JournalEntry, journalPosition, readJournal } from './readJournal.ts';
export { auditRoutes, mailStaffRoutes } from './staffRoutes.ts';
export type { Hears } from './stream/clients.ts';
export { eventRoutes, eventStaffRoutes } from './stream/routes.ts';
export type { Going, UnderWay } from './stream/underWay.ts';
export type { Measured, Seen, Watch } from './stream/watch.ts';
