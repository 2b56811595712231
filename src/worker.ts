import { attentionPeriodicJob, staffMails } from './attention/index.ts';
import { billingMails, expireInvoices } from './billing/index.ts';
import { mailConcerns, mailDelivery, mailReactions, mailSending, reactionJobs } from './events/index.ts';
import { fleetConcerns, fleetJobs, fleetPeriodicJobs } from './fleet/index.ts';
import { purgeIdempotencyKeys, sealedAnswers } from './platform/http/index.ts';
import {
  type AnySaga,
  type ConcernSource,
  jobConcerns,
  type PeriodicJob,
  purgeDoneJobs,
  type Reaction,
  type SealedSource,
} from './platform/index.ts';
import { sealedPasswords, serviceConcerns, serviceMails, serviceReactions } from './services/index.ts';
import { sealedSecrets, vpsConcerns, vpsJobs, vpsPeriodicJobs, vpsReactions } from './vps/index.ts';

const second = 1_000;
const minute = 60 * second;

const mails = [...billingMails, ...serviceMails, ...staffMails];

/** Everything that follows from an event; the process that records one enqueues it. */
export const allReactions: Reaction[] = [...mailReactions(mails), ...serviceReactions, ...vpsReactions];

/** Everything that is done outside a request, once, because something happened. */
export const allJobs: AnySaga[] = [
  mailDelivery(mails),
  mailSending,
  ...reactionJobs(allReactions),
  ...fleetJobs,
  ...vpsJobs,
];

/** Everything that may need a person. */
export const allConcerns: ConcernSource[] = [
  ...jobConcerns,
  ...mailConcerns,
  ...fleetConcerns,
  ...serviceConcerns,
  ...vpsConcerns,
];

/** Everything that is done again and again. */
export const allPeriodicJobs: PeriodicJob[] = [
  { name: 'billing.expire', intervalMs: 5 * second, work: expireInvoices },
  ...fleetPeriodicJobs,
  { name: 'http.purgeIdempotencyKeys', intervalMs: 10 * minute, work: purgeIdempotencyKeys },
  { name: 'jobs.purgeDone', intervalMs: 10 * minute, work: purgeDoneJobs },
  ...vpsPeriodicJobs,
  attentionPeriodicJob(allConcerns),
];

/** Everything that waits sealed in the database: an unknown key is proved by it. */
export const allSealed: SealedSource[] = [sealedPasswords, sealedSecrets, sealedAnswers];
