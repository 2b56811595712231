/**
 * Tickets: what customers and the provider's people write to each other, whichever way it comes. Who answers is a
 * department with hours and targets (`settings.ts`); by these each ticket says what is due first (`clocks.ts`). What may be
 * done in which state is one table (`states.ts`). Notes are the provider's own and reach no customer.
 */

import './errors.ts';
import './limits.ts';
import './permissions.ts';

export { attachmentForgetting, forgettingAttachments } from './attachments/forget.ts';
export { mailReading } from './byMail/job.ts';
export { startReceiving } from './byMail/receive.ts';
export { unclaimedMailRoutes } from './byMail/routes.ts';
export { mailForgetting, purgeMails } from './byMail/unclaimed.ts';
export { ticketConcerns } from './concerns.ts';
export { ticketFinds, ticketStaffFinds } from './finds.ts';
export { ticketMails } from './mails.ts';
export { ticketNeeds } from './needs.ts';
export { ticketsPersonal } from './personal.ts';
export { feedbackRoutes, ticketRoutes } from './routes.ts';
export { support } from './settings.ts';
export { cannedReplyRoutes, ticketStaffRoutes } from './staff/routes.ts';
