/**
 * The ground floor: what every room stands on and none of it knows about hosting. Time, errors, logs,
 * contexts, money, the database, jobs and the conventions of HTTP, each in one place.
 */

export {
  type Concern,
  type ConcernParams,
  type ConcernSource,
  findConcerns,
  type HealthCheck,
  type Lack,
  type LackSource,
  type Low,
  mendingPages,
} from './attention.ts';
export { type Clock, systemClock, type TravellingClock, travellingClock } from './clock.ts';
export {
  type AccountContext,
  type Actor,
  actingAs,
  attempt,
  type Context,
  inStep,
  type OrganizationContext,
  type StaffContext,
  systemActor,
  type TxContext,
  transaction,
} from './context.ts';
export { wrongWithCountry } from './countries.ts';
export { isDuplicate } from './database/failures.ts';
export {
  connect,
  type Database,
  forMany,
  forSame,
  migrate,
  type Queryable,
  requireOwnSessions,
  rewritableTables,
  roleOf,
  type Statement,
  standbyRisk,
  statement,
} from './database/index.ts';
export { type Leading, openLeading } from './database/lead.ts';
export { connectionConcerns, pledgeConnections, readConnections, tooMany } from './databaseConnections.ts';
export { addDays, dayOf, daysBetween, msPerDay } from './days.ts';
export type { DriverName, Drivers } from './drivers.ts';
export { AppError, type ErrorDetail, errors, fail, refuse } from './errors.ts';
export { wrongWithDomain } from './hostname.ts';
export { newId } from './ids.ts';
export {
  forgetSecretKey,
  isBackedUp,
  openSeal,
  type SealedSource,
  type SealedValue,
  wasStarted,
} from './installation.ts';
export { clockConcerns, watchClock } from './installationClock.ts';
export { findRecovery, recoveryConcerns, watchCluster } from './installationCluster.ts';
export * from './jobs/index.ts';
export { causesOf, createLog, type Logger, type ProcessLog } from './log.ts';
export type { MeasureDeclaration, MeasureSource, Sample } from './measures.ts';
export {
  allocate,
  currencyDigits,
  formatMoney,
  parseMoney,
  requireExact,
  shareOf,
  shareWithin,
} from './money.ts';
export { type Parts, partOf, partsBetween, spentParts } from './parts.ts';
export {
  type ClosingAccount,
  keptByLaw,
  type PersonalRoom,
  type PersonalTable,
  personalTable,
} from './personal.ts';
export type { Happened, Reaction, Reactions } from './reactions.ts';
export { rehearse } from './rehearse.ts';
export { requireCountry, requireOwn, requireRow } from './require.ts';
export {
  findHeldRestore,
  findLastRestore,
  forgetUnsettled,
  releaseRestore,
  settleRestore,
} from './restores.ts';
export { createSeal, readSecretKey, type Seal } from './seal.ts';
export * from './texts/index.ts';
