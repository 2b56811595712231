/**
 * What has to be done outside the database. A verb enqueues a job in its own transaction; a worker runs it
 * as a saga: steps in order, each repeatable, each with an undo, every finished step written down. After a
 * crash a job goes on where it was; after a failure for good it is taken back to a clean slate.
 */
export { startAnnouncing } from './announce.ts';
export { jobConcerns } from './concerns.ts';
export { type EnqueueOptions, enqueue } from './enqueue.ts';
export { sendJobsAlong } from './follow.ts';
export { healing } from './heal.ts';
export { jobMeasures } from './measures.ts';
export type { NamedJob } from './named.ts';
export {
  glanceAt,
  leadPeriodicJobs,
  type PeriodicJob,
  runPeriodicJob,
  startPeriodicJobs,
} from './periodic.ts';
export { purgeDoneJobs } from './purge.ts';
export type { OwnersReader } from './queues.ts';
export {
  countUnfinished,
  dismissJob,
  isJobOpenAbout,
  isJobUnfinishedAbout,
  retryFailedJob,
  retryFailedJobAbout,
  settleEndedJobAbout,
  settleFailedJobAbout,
} from './retry.ts';
export {
  type AnySaga,
  databaseJob,
  type Failure,
  job,
  type Queue,
  type Run,
  type Saga,
  type SagaFor,
  type Step,
  saga,
  type TransactionalStep,
  type TxRun,
} from './saga.ts';
export { doEach, forgetSetAside, notSetAside } from './setAside.ts';
export { startStandIn } from './standIn.ts';
export { startWorker, type Worker, type WorkerOptions } from './worker.ts';
export { watchWorker } from './workerMetrics.ts';
export {
  aheadMs,
  keepAlive,
  type LivingWorker,
  lastServing,
  livenessClass,
  lookForWorkers,
  silentAfterS,
  workersCheck,
} from './workers.ts';
