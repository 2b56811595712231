import {
  accountMails,
  addressRequests,
  forgetClosed,
  nextReset,
  purgeAddressRequests,
  purgeChallenges,
  purgeEmailChanges,
  purgeLinks,
  purgeSessions,
  resetFactors,
  restoreTelling,
  sealedFactors,
  warnOfEndingKeys,
} from './account/index.ts';
import { attentionMeasures, attentionPeriodicJob, staffMails } from './attention/index.ts';
import {
  askDueTaxIds,
  billingJobs,
  billingMails,
  billingPeriodicJobs,
  chargeConcerns,
  correctTaxes,
  expireInvoices,
  ledgerConcerns,
  ledgerMeasures,
  matchStatement,
  nextAnswered,
  nextExpiring,
  nextTaxId,
  readAddressees,
  readBrand,
  statementConcerns,
  taxConcerns,
} from './billing/index.ts';
import { ticketPeriodicJob } from './consoles/index.ts';
import {
  dedicatedConcerns,
  dedicatedJobs,
  dedicatedMails,
  dedicatedPeriodicJobs,
  dedicatedReactions,
  sealedCredentials,
  sealedMoves,
} from './dedicated/index.ts';
import {
  eventMeasures,
  mailConcerns,
  mailDelivery,
  mailJobsToStaff,
  mailReactions,
  mailSending,
  reactionJobs,
} from './events/index.ts';
import {
  fleetConcerns,
  fleetJobs,
  fleetJobsToHold,
  fleetMeasures,
  fleetPeriodicJobs,
  fleetWatches,
  imagePreparation,
  nodesCheck,
  readLow,
  sealedArrivals,
  sealedBmcs,
  sealedClusters,
  sealedPlans,
  sealedSwitches,
} from './fleet/index.ts';
import {
  isInvited,
  organizationMails,
  organizationReactions,
  purgeInvitations,
  readHolders,
} from './organizations/index.ts';
import { purgeIdempotencyKeys, sealedAnswers } from './platform/http/index.ts';
import {
  type AnySaga,
  type ConcernSource,
  clockConcerns,
  connectionConcerns,
  forgetSetAside,
  glanceAt,
  type HealthCheck,
  healing,
  jobConcerns,
  jobMeasures,
  type MeasureSource,
  type PeriodicJob,
  purgeDoneJobs,
  type Reaction,
  recoveryConcerns,
  type SealedSource,
  workersCheck,
} from './platform/index.ts';
import {
  applyDueChanges,
  attendCalendar,
  billTrafficPeriodicJob,
  carryOutPriceMoves,
  nextChange,
  nextOfPriceMoves,
  nextToAttend,
  notingRecurring,
  sealedPasswords,
  serviceConcerns,
  serviceMails,
  serviceReactions,
  settleTrafficPeriodicJob,
  tellOfTrafficPeriodicJob,
} from './services/index.ts';
import { isOpenToAll } from './settings/index.ts';
import { shieldConcerns, shieldJobs, shieldMails, shieldPeriodicJobs } from './shield/index.ts';
import {
  attachmentForgetting,
  forgettingAttachments,
  mailForgetting,
  mailReading,
  purgeMails,
  ticketConcerns,
  ticketMails,
} from './tickets/index.ts';
import {
  lateBackupMeasures,
  sealedSecrets,
  vpsConcerns,
  vpsJobs,
  vpsMails,
  vpsMeasures,
  vpsPeriodicJobs,
  vpsReactions,
} from './vps/index.ts';
import { purgeDeliveries, sealedWebhooks, webhookMails } from './webhooks/index.ts';

const second = 1_000;
const minute = 60 * second;

/** Every mail that the product writes. */
export const allMails = [
  ...accountMails,
  ...organizationMails,
  ...billingMails,
  ...serviceMails,
  ...vpsMails,
  ...dedicatedMails,
  ...shieldMails,
  ...ticketMails,
  ...staffMails,
  ...webhookMails,
];

const mailReaders = { readBrand, readAddressees, readHolders };
const mailJobs: AnySaga[] = [...mailDelivery(allMails, mailReaders), ...mailSending(readBrand)];

/** Everything that follows from an event; the process that records one enqueues it. */
export const allReactions: Reaction[] = [
  ...mailReactions(allMails),
  ...organizationReactions,
  ...serviceReactions,
  ...vpsReactions,
  ...dedicatedReactions,
];

/** Everything that is done outside a request, once, because something happened. */
export const allJobs: AnySaga[] = [
  ...mailJobs,
  ...reactionJobs(allReactions),
  restoreTelling,
  addressRequests(async (ctx, email) => (await isOpenToAll(ctx)) || isInvited(ctx, email)),
  matchStatement,
  ...mailReading,
  mailForgetting,
  ...fleetJobs,
  ...billingJobs,
  ...vpsJobs,
  ...dedicatedJobs,
  ...shieldJobs,
  attachmentForgetting,
];

/** What is done with what customers have: after a restore a person goes on with it, since nobody knows what became of it since the backup. */
export const jobsOfCustomers: AnySaga[] = [...vpsJobs, ...dedicatedJobs, ...fleetJobsToHold];

/** What a host does that holds no machines: images are made where they are needed. */
export const jobsWithoutMachines: AnySaga[] = allJobs.filter((job) => job !== imagePreparation);

/** What a process that does no jobs does while no worker lives: staff is to hear of it. */
export const standInJobs: AnySaga[] = mailJobs;

/** What is done while it is not known where the database is: nothing that a customer would notice. */
export const jobsWhileHeld: AnySaga[] = mailJobs.filter(({ name }) => mailJobsToStaff.includes(name));

/** What can be out of order while a process serves. */
export const allChecks: HealthCheck[] = [workersCheck, nodesCheck];

/** Everything that may need a person. */
export const allConcerns: ConcernSource[] = [
  ...recoveryConcerns,
  ...clockConcerns,
  ...connectionConcerns,
  ...jobConcerns,
  ...mailConcerns,
  ...taxConcerns,
  ...fleetConcerns,
  ...ledgerConcerns,
  ...statementConcerns,
  ...chargeConcerns,
  ...serviceConcerns,
  ...shieldConcerns,
  ...vpsConcerns,
  ...dedicatedConcerns,
  ...ticketConcerns,
];

/** What of it tells how the product itself does. */
const houseMeasures: MeasureSource[] = [
  jobMeasures(allJobs, allReactions),
  eventMeasures,
  lateBackupMeasures,
];
export const house = { measures: houseMeasures, readLow, lowFor: 'listNodes' };

/** Everything that is counted for whoever watches the product. */
export const allMeasures: MeasureSource[] = [
  ...houseMeasures,
  fleetMeasures,
  ledgerMeasures,
  vpsMeasures,
  attentionMeasures(allConcerns),
];

/** What is looked after also where no jobs are done, and while none may be: without it nobody would notice. */
export const allWatches: PeriodicJob[] = [...fleetWatches, attentionPeriodicJob(allConcerns)];

/** Everything that is done again and again. */
export const allPeriodicJobs: PeriodicJob[] = [
  { name: 'billing.expire', intervalMs: 5 * second, due: nextExpiring, work: expireInvoices },
  ...billingPeriodicJobs,
  {
    name: 'services.calendar',
    intervalMs: 10 * second,
    due: nextToAttend,
    netMs: 5 * minute,
    work: attendCalendar,
  },
  { name: 'services.priceMoves', intervalMs: 10 * second, due: nextOfPriceMoves, work: carryOutPriceMoves },
  { name: 'services.applyDueChanges', intervalMs: minute, due: nextChange, work: applyDueChanges },
  notingRecurring,
  settleTrafficPeriodicJob,
  billTrafficPeriodicJob,
  tellOfTrafficPeriodicJob,
  { name: 'billing.askTaxIds', intervalMs: minute, due: nextTaxId, work: askDueTaxIds },
  { name: 'billing.correctTaxes', intervalMs: minute, due: nextAnswered, work: correctTaxes },
  ...fleetPeriodicJobs,
  ...dedicatedPeriodicJobs,
  { name: 'account.purgeSessions', intervalMs: 10 * minute, work: purgeSessions },
  { name: 'account.forgetClosed', intervalMs: 10 * minute, work: forgetClosed },
  { name: 'account.purgeChallenges', intervalMs: 10 * minute, work: purgeChallenges },
  { name: 'account.resetFactors', intervalMs: minute, due: nextReset, work: resetFactors },
  { name: 'account.purgeAddressRequests', intervalMs: 10 * minute, work: purgeAddressRequests },
  { name: 'account.purgeLinks', intervalMs: 10 * minute, work: purgeLinks },
  { name: 'account.warnOfEndingKeys', intervalMs: 10 * minute, work: warnOfEndingKeys },
  { name: 'account.purgeEmailChanges', intervalMs: 10 * minute, work: purgeEmailChanges },
  { name: 'organizations.purgeInvitations', intervalMs: 10 * minute, work: purgeInvitations },
  { name: 'http.purgeIdempotencyKeys', intervalMs: 10 * minute, work: purgeIdempotencyKeys },
  healing(allJobs),
  { name: 'jobs.purgeDone', intervalMs: 10 * minute, work: purgeDoneJobs },
  { name: 'jobs.forgetSetAside', intervalMs: 10 * minute, anyTime: true, work: forgetSetAside },
  ticketPeriodicJob,
  ...vpsPeriodicJobs,
  // What is in force against packets does not wait for a clock.
  ...shieldPeriodicJobs.map((job): PeriodicJob => ({ ...job, anyTime: true })),
  forgettingAttachments,
  purgeDeliveries,
  purgeMails,
  ...allWatches,
];

/** When those of them that say so have something to do. */
export const periodicGlance = glanceAt('jobs.glance', allPeriodicJobs);

/** Everything that waits sealed in the database: an unknown key is proved by it. */
export const allSealed: SealedSource[] = [
  sealedPasswords,
  sealedSecrets,
  sealedAnswers,
  sealedFactors,
  sealedWebhooks,
  sealedClusters,
  sealedArrivals,
  sealedBmcs,
  sealedPlans,
  sealedSwitches,
  sealedCredentials,
  sealedMoves,
];
