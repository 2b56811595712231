/**
 * The journal: one append-only list of what happened, to what, by whom, in which organization. Rooms write to
 * it with `record`, in the transaction that makes it happen. Mails, an organization's activity and whatever
 * else tells of events are its readers.
 */
export type { Action } from './actions.ts';
export { type Entry, record } from './journal.ts';
export { type MailRecord, mailDelivery } from './mails.ts';
export { mailStaffRoutes } from './staff.ts';
