/**
 * What needs a person: every room says what of its own does, staff reads all of it in one list, and is told of what
 * is new by mail. Whoever says to a customer that "our staff has been told" relies on this. Beside it stands what lacks
 * before anything can be sold, and how the product does.
 */
export { jobDismissalRoutes } from './dismissJob.ts';
export { jobDismissed } from './events.ts';
export { processLacks } from './lacks.ts';
export { staffMails } from './mails.ts';
export { attentionMeasures } from './measures.ts';
export { needRoutes } from './needs.ts';
export { jobRetryRoutes } from './retryJob.ts';
export { attentionStaffRoutes } from './staffRoutes.ts';
export { attentionPeriodicJob } from './tell.ts';
