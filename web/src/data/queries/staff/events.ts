import { staffList, staffThing } from './read.ts';

export const mails = staffList('/staff/mails', 'mails');
export const mail = staffThing('/staff/mails/{id}');
export const audit = staffList('/staff/audit', 'audit_entries');
