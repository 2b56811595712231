import { staffList, staffThing } from './read.ts';

export const ticketQueue = staffList('/staff/tickets', 'tickets');
export const staffDepartments = staffThing('/staff/tickets/departments');
export const staffTicket = staffThing('/staff/tickets/{tid}');
export const cannedReplies = staffList('/staff/canned-replies', 'canned_replies');
export const unclaimedMails = staffList('/staff/unclaimed-mails', 'mails');
export const unclaimedMail = staffThing('/staff/unclaimed-mails/{id}');
